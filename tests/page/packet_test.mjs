// packet_test.mjs: the packet of a copy is what has not arrived, at the scale of the boxes, in every log and at every size.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addresses } from '../../www/model/addresses.js';
import { instant } from '../../www/model/instant.js';
import { run } from '../../www/model/run.js';
import { layout as place } from '../../www/stage/layout.js';
import { lengthOf, packet, route } from '../../www/stage/route.js';
import { logs, random } from './logs.mjs';

const SIZES = [[1000, 400], [640, 380], [1900, 700], [366, 480], [320, 420]];

function layout(state, w, h, events) {
  const known = addresses();
  events.forEach(known.add);
  return place(state, known, w, h);
}

test('a packet is what has not arrived', () => {
  const leg = { points: [[0, 0], [0, 50], [400, 50]], band: [50 / 450, 1] }; // the lane: 400 px
  const drawn = (hop, scale) => {
    const { from, to, isCut } = packet(leg, hop, scale);
    return [from * lengthOf(leg.points), to * lengthOf(leg.points), isCut];
  };
  for (const [done, length] of [[0, 300], [1000, 200], [2999, 0.1], [3000, 0]]) {
    const [from, to, isCut] = drawn({ bytes: 3000, done, reach: 1 }, 0.1);
    assert.ok(Math.abs(to - from - length) < 1e-6 && Math.abs(to - 450) < 1e-6 && !isCut, `${from}..${to} at ${done}`);
    assert.ok(Math.abs((to - from) / 0.1 + done - 3000) < 1e-6, 'with what has arrived it is the source');
  }
  assert.deepEqual(drawn({ bytes: 9000, done: 0, reach: 1 }, 0.1).map(Math.round), [50, 450, 1]); // longer than the lane
  assert.deepEqual(drawn({ bytes: 1000, done: 0, reach: 0.5 }, 0.1).map(Math.round), [150, 250, 0]); // on its way to the door
});

// At any moment of any log and at any size: what a packet shows and what its hop has done are its bytes, or it is cut.
test('packets as drawn are what has not arrived', () => {
  const next = random(11);
  let [whole, cut] = [0, 0];
  for (const [name, events] of logs()) {
    const one = run({ run: 1 });
    one.take(0, events);
    const copies = events.filter((e) => e.kind === 'copy' && e.src?.storage && e.dst?.storage);
    for (const copy of copies.slice(0, 12)) {
      const { start, end } = events.find((e) => e.kind === 'complete' && e.id === copy.id);
      const plans = SIZES.map(([w, h]) => layout(one.at(copy.seq), w, h, events));
      for (let i = 0; i < 8; i++) {
        const now = instant(one, start + (end - start) * next()).copies.find((c) => c.id === copy.id);
        if (!now || now.phase !== 'running') continue;
        assert.ok(Math.abs(now.waiting + now.buffered + now.arrived - now.bytes) < 0.5, `${name}: every byte is somewhere`);
        for (const plan of plans) {
          const legs = route(plan, { ...now, src: copy.src.storage, dst: copy.dst.storage });
          const { scale } = plan.boxes.find((b) => b.storage === copy.src.storage).pieces[0].row;
          for (const hop of now.moving.filter((one) => one.reach >= 1)) {
            const leg = legs[hop.hop];
            const drawn = packet(leg, hop, scale);
            const px = (drawn.to - drawn.from) * lengthOf(leg.points);
            const lane = (leg.band[1] - leg.band[0]) * lengthOf(leg.points);
            const all = Math.max(3, hop.bytes * scale) * (1 - hop.done / hop.bytes);
            if (drawn.isCut) assert.ok(all > lane && Math.abs(px - lane) < 0.01, `${name}: ${px} of ${lane} px, for ${all}`);
            else assert.ok(Math.abs(px - all) < 0.01, `${name}: ${px} px for ${all}`);
            if (drawn.isCut) cut++;
            else whole++;
          }
        }
      }
    }
  }
  assert.ok(whole > 100 && cut > 20, `${whole} whole, ${cut} cut`);
});
