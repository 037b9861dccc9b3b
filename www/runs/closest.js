// closest.js: which of the known words is meant by one that is not known. Pure.

/** The number of letters to change, add or leave out. */
export function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let k = 1; k <= b.length; k++) next.push(Math.min(next[k - 1] + 1, row[k] + 1, row[k - 1] + (a[i - 1] === b[k - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

/** The nearest of `words`; '' where none is near. */
export function closest(word, words) {
  const near = words.map((one) => ({ one, far: one.includes(word) ? 1 : distance(word, one) })).sort((a, b) => a.far - b.far)[0];
  return near && near.far <= Math.max(2, word.length / 2) ? near.one : '';
}
