// groups.js: many small boxes beside each other, drawn as one: a row of hundreds of tensors says how many they are and what they
// are called; what is in use stands out of it, with its name. Each box keeps its place. Pure.

const SLIM = 9; // px: a narrower box belongs to a group
const FEWEST = 6; // boxes of a group at least
const APART = 3; // px between two of a group at most
const ROOTS = 4; // names that are told

/**
 * The groups among boxes, and `rest`: storages without boxes, {x, y, w, h, row, index, name, storage}; each of `boxes` that is in one gets it
 * as `group`. A group: {x, y, w, h, row, count, roots: names without subscripts, the most frequent first, members: [{x, w, index, name, storage}]}.
 */
export function groupsOf(boxes, rest) {
  const slim = boxes.filter((box) => box.pieces.length === 1 && box.w < SLIM && !box.used && !box.freed && !box.unreachable)
    .map((box) => ({ x: box.x, y: box.y, w: box.w, h: box.h, row: box.pieces[0].row, index: box.index, name: box.name, storage: box.storage, box }));
  const grouped = new Set(slim.map(({ box }) => box));
  const wide = boxes.filter((box) => !grouped.has(box)).flatMap((box) => box.pieces);
  const all = [...slim, ...rest].sort((a, b) => a.y - b.y || a.x - b.x);
  const groups = [];
  for (const one of all) {
    const last = groups.at(-1);
    const end = last ? last.x + last.w : 0;
    const between = (p) => p.y === one.y && p.x >= end - 1 && p.x < one.x;
    if (last && last.y === one.y && one.x - end <= APART && !wide.some(between)) add(last, one);
    else groups.push({ x: one.x, y: one.y, w: one.w, h: one.h, row: one.row, count: 1, members: [one] });
  }
  return groups.filter(({ count, members }) => count >= FEWEST || members.some((one) => !one.box)).map(finished);
}

function add(group, one) {
  group.w = Math.max(group.w, one.x + one.w - group.x);
  group.count++;
  group.members.push(one);
}

const rootOf = (name) => name.replace(/\[.*| #\d+$/, '');

function counted(pairs) {
  const sums = new Map();
  for (const [key, n] of pairs) sums.set(key, (sums.get(key) ?? 0) + n);
  return sums;
}

function finished(group) {
  const names = counted(group.members.map(({ name }) => [name, 1]));
  const roots = counted([...names].map(([name, n]) => [rootOf(name), n]));
  const made = { ...group, roots: [...roots].sort((a, b) => b[1] - a[1]).map(([root]) => root) };
  for (const { box } of group.members) if (box) box.group = made;
  return made;
}

/** "160 tensors: weight, bias, grad"; longest first. */
export function groupWords({ count, roots }) {
  const named = roots.filter((root) => root && !/^t\d+$/.test(root)); // the others have no name
  const shown = named.slice(0, ROOTS).join(', ') + (named.length > ROOTS || named.length < roots.length ? ' …' : '');
  const short = `${count} tensors`;
  return named.length ? [`${short}: ${shown}`, `${short}: ${named[0]} …`, short, `${count}`] : [short, `${count}`];
}
