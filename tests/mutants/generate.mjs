// The variants of a solution, in a fixed order: the operators take turns, so that they are of every kind; what is
// between the marks comes first, then the rest of main, which a learner could change as well. What follows the last
// answer is left alone: nothing is judged there.
import { statementsOf } from './statements.mjs';
import { isHome, onTrial, operators } from './operators.mjs';

export function programOf(text) {
    const p = { text, ...statementsOf(text), tensors: new Set(), origin: new Map(), home: new Set(), locked: new Set() };
    const last = Math.max(0, ...p.all.filter(s => s.simple && /fy_answer/.test(text.slice(s.start, s.end))).map(s => s.end));
    for (const s of p.all) {
        s.judged = !last || s.end <= last;
        if (!/^fy_tensor\b/.test(p.code.slice(s.start))) continue;
        s.declares.forEach(name => p.tensors.add(name));
        if (/pin_memory/.test(text.slice(s.start, s.end)) || s.declares.length && [...s.names].some(name => p.locked.has(name))) s.declares.forEach(name => p.locked.add(name));
        if (isHome(p, s)) s.declares.forEach(name => p.home.add(name));
        const m = p.code.slice(s.start, s.end).match(/^fy_tensor \*(\w+) = fy_\w+\((?:fy_\w+\()*([a-z]\w*)\b(?!\()/);
        if (m) p.origin.set(m[1], m[2]);
    }
    return p;
}

/** The edited text; null where edits overlap. */
export function edited(text, edits) {
    let at = 0, out = '';
    for (const e of [...edits].sort((a, b) => a.at - b.at || a.end - b.end)) {
        if (e.at < at) return null;
        out += text.slice(at, e.at) + e.text;
        at = e.end;
    }
    return out + text.slice(at);
}

/** At most so many {name: "OPERATOR/NUMBER", text}; the number counts what the operator found in this program. */
export function variantsOf(text, most) {
    const p = programOf(text), seen = new Set([text]), counts = {}, list = [];
    const trial = /fy_mark\("(true|false)"\)/.test(text), parts = [s => s.yours, s => !s.yours && !s.given && s.judged];
    for (const part of parts) {
        const turns = Object.entries(operators).filter(([name]) => !trial || onTrial.has(name))
            .map(([name, each]) => ({ name, left: p.all.filter(part).flatMap(s => [...each(p, s)]) }));
        while (turns.some(t => t.left.length))
            for (const t of turns) {
                if (!t.left.length) continue;
                const name = `${t.name}/${counts[t.name] = (counts[t.name] ?? 0) + 1}`, changed = edited(text, t.left.shift());
                if (changed === null || seen.has(changed) || list.length >= most) continue;
                seen.add(changed);
                list.push({ name, text: changed });
            }
    }
    return list;
}

/** "- old line" and "+ new line" of what differs. */
export function difference(from, to) {
    const a = from.split('\n'), b = to.split('\n');
    let head = 0, tail = 0;
    while (head < a.length && a[head] === b[head]) head++;
    while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
    const lines = (mark, list) => list.slice(head, list.length - tail).map(line => `${mark} ${line.trim()}`);
    return [...lines('-', a), ...lines('+', b)];
}
