// lane_labels.js: words in the lanes: what a slice is, and, before it, behind what it was queued. Of several lanes in one row
// each is too thin for words: there they are as high as the row, where no other lane has a slice.

import { labels, queuedBehind } from '../model/lane_words.js';
import * as units from '../model/units.js';
import { text } from './canvas_util.js';

const LEAST = 16; // px: less has no words

/**
 * The words of a row, chosen: [{words, took, x, y, halo}]. notes: {one, x, end, y, h, halo, queue}, of slices as they are drawn, in
 * order of lanes and time; queue: the stretch before a slice in which it was queued; width(words) -> px; room: {x, end} px.
 */
export function chosen(scene, row, notes, width, room) {
  const folded = row.lanes.length > 1;
  const taken = []; // [x, end] of words
  const found = [];
  for (const note of folded ? notes.toSorted((a, b) => Number(!!a.queue) - Number(!!b.queue) || b.end - b.x - a.end + a.x) : notes) {
    const left = Math.max(note.x, room.x) + 4;
    const space = Math.min(note.end, room.end) - left - 3;
    if (space < LEAST || (!folded && note.h < 11)) continue;
    const said = wordsIn(scene, note, space, width);
    if (!said) continue;
    const end = left + width(said.words);
    const others = folded ? [...taken, ...notes.filter((other) => !other.queue && other.lane !== note.lane).map((other) => [other.x, other.end])] : [];
    if (others.some(([a, b]) => a < end && b > left)) continue;
    taken.push([left, end]);
    found.push({ ...said, x: left, max: space, y: folded ? row.y + row.h / 2 : note.y + note.h / 2, halo: note.halo || folded });
  }
  return found;
}

// The longest words that fit, and how long it took, if that fits too.
function wordsIn({ run, lanes }, { one, queue }, space, width) {
  const all = queue ? [queuedBehind(one.slice, one.lane, run, lanes)] : labels(one.slice, one.lane, run, lanes);
  const words = all.find((some) => some && width(some) <= space) ?? (queue || space < 28 ? '' : all.at(-1));
  if (!words) return null;
  const bound = one.slice?.work?.complete?.launch >= 0 ? '≤ ' : '';
  const took = one.open || queue ? '' : bound + units.time(one.until - one.from);
  return { words, took: took && width(words) + 8 + width(took) <= space ? took : '', soft: !!queue };
}

/** Draws them. */
export function drawLabels(c, scene, row, notes) {
  const { theme: th, plan: { track } } = scene;
  const font = `12px ${th.sans}`;
  c.font = font;
  const width = (words) => c.measureText(words).width;
  for (const { words, took, x, y, max, halo, soft } of chosen(scene, row, notes, width, { x: track.x, end: track.x + track.w })) {
    c.font = font;
    c.lineWidth = 3;
    c.lineJoin = 'round';
    c.strokeStyle = soft ? th.well : th.panel;
    c.textBaseline = 'middle';
    c.textAlign = 'left';
    const w = width(words);
    if ((halo || soft) && w <= max) c.strokeText(words, x, y + 0.5);
    text(c, words, x, y + 0.5, { font, color: soft ? th.soft : th.ink, max });
    if (took) text(c, took, x + w + 7, y + 0.5, { font, color: th.soft });
  }
}
