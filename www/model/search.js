// search.js: binary search. Pure.

/** The first i of 0..n - 1 for which test(i) holds; n if none. It must hold for all that follow one for which it does. */
export function firstIndex(n, test) {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** At most `most` of a list, from all of its parts. */
export function thinned(list, most) {
  return list.length <= most ? list : Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)]);
}
