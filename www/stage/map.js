// map.js: memory as a map. A memory is read like a hex dump: rows of a power of two bytes, addresses from left to right and
// then down. All memories and the bus have one scale, so that the same bytes have the same area everywhere. A row begins
// at the first storage that the row before it has no room for; what lies between two rows is not drawn. Rows of nothing
// but tiny storages are shown under a lens, by a power of two that is written beside them: one for all, so that what is
// copied from one such row to another keeps its size. Pure.

const LEAST_ROW = 64; // bytes
const TAG = 20; // px under a row, for its brackets and a line of names
const TAGS = 3; // lines of names at most
const GAP = 62; // px under a row at most
const HIGHEST = 46; // px of a row
export const LINE = 15; // px from one line of names to the next
const WORD = 15; // px of a row with words in its boxes
const TINY = 24; // px: what is narrower asks for a lens

/** The bytes of a row and the rows of each device, for a run's addresses: at most `most` rows where that is possible. */
export function rows(addresses, devices, most) {
  let bytes = LEAST_ROW;
  while (bytes < addresses.longest) bytes *= 2;
  for (;; bytes *= 2) {
    const of = new Map(devices.map((device) => [device, rowsOf(addresses.intervalsOf(device), bytes)]));
    if ([...of.values()].every((list) => list.length <= most) || bytes >= 2 ** 50) return { bytes, of };
  }
}

function rowsOf(intervals, bytes) {
  const list = [];
  const wrap = (from, to) => {
    for (let base = from; base < to; base += bytes) list.push({ base, end: Math.min(to, base + bytes) });
  };
  for (const [start, length] of intervals) {
    const last = list.at(-1);
    const end = start + length;
    if (!last || start >= last.base + bytes) wrap(start, end);
    else if (end <= last.base + bytes) last.end = Math.max(last.end, end);
    else if (start >= last.end) wrap(start, end);
    else {
      last.end = last.base + bytes;
      wrap(last.end, end);
    }
  }
  return list;
}

/** px: the height of all rows, so that the fullest of the memories [{rows, room}] has room for its own. */
export function rowHeight(memories, above = 0) {
  const pitch = pitchOf(memories);
  return pitch < TAG + 10 ? Math.max(2, pitch - 3) : Math.min(HIGHEST, pitch - TAG - above);
}

const pitchOf = (memories) => Math.min(...memories.map(({ rows: list, room }) => room / Math.max(1, list.length)));

/** Is there room for so many px over each row, and for a word in its boxes? */
export const hasRoomAbove = (memories, above) => pitchOf(memories) >= above + TAG + WORD;

const isTiny = (row, scale) => (row.end - row.base) * scale < TINY;

/** The factor of the lens: the longest of the tiny rows [{base, end}] fills a quarter of the width; 1: there are none, or no room. */
export function lensOf(list, bytes, width) {
  if (width <= 0) return 1;
  const longest = Math.max(0, ...list.filter((row) => isTiny(row, width / bytes)).map((row) => row.end - row.base));
  let lens = 1;
  while (longest > 0 && longest * (width / bytes) * lens * 2 <= width / 4) lens *= 2;
  return lens;
}

/**
 * Where the rows of one memory lie in `well` {x, y, w, h}, with `above` px free over each: [{base, end, limit, x, y, w, h, scale, lens, tags, levels, gap}]:
 * the bytes base..limit belong to the row; scale: px a byte, of a tiny row times its lens, `factor`; tags, levels: how many
 * lines of names, and of brackets above them, have room in the gap under it.
 */
export function placeRows(list, bytes, well, height, factor, above = 0) {
  const scale = well.w / bytes;
  const pitch = Math.min(well.h / Math.max(1, list.length), height + GAP + above);
  const gap = pitch - height - above;
  const tags = Math.max(0, Math.min(TAGS, Math.floor((gap - 4) / LINE)));
  const levels = tags ? Math.max(1, Math.min(3, Math.floor((gap - 2 - tags * LINE) / 4))) : 0;
  return list.map(({ base, end }, i) => {
    const next = list[i + 1]?.base ?? Infinity;
    const lens = isTiny({ base, end }, scale) ? factor : 1;
    return {
      base, end, limit: Math.min(next, base + bytes), x: well.x, y: well.y + above + i * pitch, w: Math.max(1, (end - base) * scale * lens), h: height,
      scale: scale * lens, lens, right: well.x + well.w, tags, levels, gap,
    };
  });
}

/** The rectangles of the bytes start..start + bytes: [{x, y, w, h, first, bytes, row}], one in each row that they touch. */
export function pieces(placed, start, bytes) {
  const found = [];
  for (const row of placed) {
    const from = Math.max(start, row.base);
    const to = Math.min(start + bytes, row.limit);
    if (to > from) found.push({ x: row.x + (from - row.base) * row.scale, y: row.y, w: (to - from) * row.scale, h: row.h, first: from - start, bytes: to - from, row });
  }
  return found;
}
