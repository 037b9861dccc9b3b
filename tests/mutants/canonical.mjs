// What a run did, without what may differ and mean the same: line numbers, names, ids, addresses, single times, and the
// order of what does not depend on one another. Two runs of one text here did the same work, in the same places, for the
// same answers, in the same time and memory. Usage: node canonical.mjs LOG
//
// A storage is known by its history: what was written there, from which histories. So an operation is its name, its
// place and the histories that it reads.
import fs from 'node:fs';
import { createHash } from 'node:crypto';

const LEFT_OUT = new Set(['session', 'source', 'values', 'tensor', 'name', 'drop', 'complete', 'segment', 'segment_free', 'end', 'given']);
const MEANINGLESS = new Set(['seq', 't', 'th', 'file', 'line', 'fn', 'addr', 'id', 'held', 'cause', 'a', 'b', 'tenant', 'live', 'grid',
    'block', 'kernel', 'flops', 'when', 'version', 'asked', 'deferred', 'caused_by', 'call', 'message', 'hint', 'fix', 'now', 'node',
    'saves', 'next', 'saved', 'tensor', 'event', 'operands']);
const short = value => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);

export function canonical(log) {
    const events = log.trim().split('\n').map(line => JSON.parse(line));
    const history = new Map(), place = new Map(), work = {}, out = [], live = {}, peak = {}, bytes = new Map(), held = {}, most = {};
    const of = side => history.get(side.storage) ?? 'nothing';
    const add = (sums, tops, device, n) => { sums[device] = (sums[device] ?? 0) + n; tops[device] = Math.max(tops[device] ?? 0, sums[device]); };
    let end = 0;
    const sorted = sums => Object.fromEntries(Object.entries(sums).sort());
    for (const e of events) {
        const use = e.kind === 'op' ? { from: (e.in ?? []).map(of), to: e.out } : e.kind === 'copy' ? { from: [of(e.src)], to: [e.dst] } : null;
        if (e.kind === 'segment') add(held, most, e.device, e.bytes);
        if (e.kind === 'segment_free') add(held, most, e.device, -e.bytes);
        if (e.kind === 'alloc') {
            bytes.set(e.storage, [e.device, e.bytes]);
            place.set(e.storage, `${e.device} ${e.mem}`);
            add(live, peak, e.device, e.bytes);
            continue;
        }
        if (e.kind === 'free') {
            const [device, n] = bytes.get(e.storage) ?? ['?', 0];
            add(live, peak, device, -n);
            continue;
        }
        if (e.kind === 'given') history.set(e.storage, short(['given', e.name]));
        if (e.kind === 'complete') end = Math.max(end, e.end);
        if (e.kind === 'values') out.push('values ' + short([e.data, e.count, e.min, e.max, e.mean]));
        if (LEFT_OUT.has(e.kind)) continue;

        const says = {};
        for (const [key, value] of Object.entries(e))
            if (!MEANINGLESS.has(key) && !['in', 'out', 'src', 'dst', 'storage', 'parameter', 'leaf'].includes(key)) says[key] = value;
        if (e.storage) says.of = [place.get(e.storage), of(e)];
        if (use) {
            says.from = use.from;
            says.to = use.to.map(side => place.get(side.storage));
            for (const [i, side] of use.to.entries())
                history.set(side.storage, short([says, i, e.inplace || use.from.includes(of(side)) ? of(side) : '']));
            for (const device of new Set([e.device, e.src?.device, e.dst?.device])) // a wait is for what its card has queued
                if (device && device !== 'cpu') (work[device] ??= []).push(short([says]));
        } else if (e.kind === 'host_write') history.set(e.storage, short([says]));
        if (/^(sync|event_wait|event_record)$/.test(e.kind)) says.after = short([...work[e.device] ?? []].sort());
        if (e.kind === 'answer') says.left = sorted(live);
        out.push(JSON.stringify(says));
    }
    return [...out.sort(), `at once ${JSON.stringify(sorted(peak))}`, `reserved ${JSON.stringify(sorted(most))}`, `time ${end.toPrecision(3)}`].join('\n') + '\n';
}

if (import.meta.url === `file://${fs.realpathSync(process.argv[1])}`) process.stdout.write(canonical(fs.readFileSync(process.argv[2], 'utf8')));
