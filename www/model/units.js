// units.js: formats numbers. Pure; used by every module that shows a number.

/** 262144 -> "256 KiB". Binary prefixes. */
export function bytes(n) {
  if (!Number.isFinite(n)) return '?';
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (n >= 1024 && i < names.length - 1) {
    n /= 1024;
    i++;
  }
  return `${round(n)} ${names[i]}`;
}

/** 41230 ns -> "41.2 µs". */
export function time(ns) {
  if (!Number.isFinite(ns)) return '?';
  if (ns > 0 && ns < 0.5) return 'under 1 ns';
  if (ns < 1000) return `${round(ns)} ns`;
  if (ns < 1e6) return `${round(ns / 1e3)} µs`;
  if (ns < 1e9) return `${round(ns / 1e6)} ms`;
  return `${round(ns / 1e9)} s`;
}

/** How long work took that has ended in ns: between its marks may be its launch, if its stream was idle (`launch` and
 *  `marks` of its complete; schema.h). */
export function took(ns, complete) {
  if (!(complete?.launch >= 0)) return time(ns);
  const least = complete.marks >= 0 ? ns - complete.launch - complete.marks : 0;
  return least > 0 ? `between ${time(least)} and ${time(ns)}` : `at most ${time(ns)}`;
}

/** "takes 7.0 us", as the library writes it, -> "takes 7.0 µs". */
export const micro = (words) => words.replace(/(\d) us\b/g, '$1 µs');

/** [256, 256] -> "256×256"; a 0-dim tensor is a "scalar". */
export function shape(dims) {
  return dims.length ? dims.join('×') : 'scalar';
}

/** [4, 3] -> "(4, 3)", as PyTorch writes a shape. */
export function tuple(dims) {
  return `(${dims.join(', ')}${dims.length === 1 ? ',' : ''})`;
}

const grouped = new Intl.NumberFormat('en'); // n.toLocaleString('en') makes one each time

/** 1048576 -> "1,048,576". */
export const number = (n) => grouped.format(n);

export function plural(n, one, many = `${one}s`) {
  return `${number(n)} ${n === 1 ? one : many}`;
}

/** 2 -> "2nd". */
export function ordinal(n) {
  const ending = n % 100 > 10 && n % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th');
  return `${n}${ending}`;
}

/** A tensor's value, shortened; "nan" and "inf" stay as they are. */
export function value(x, dtype) {
  if (typeof x !== 'number') return String(x);
  if (dtype === 'bool') return x ? 'true' : 'false';
  if (Number.isInteger(x)) return String(x);
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-3 ? x.toExponential(2) : String(+x.toPrecision(4));
}

/** "lessons/01-where-am-i/demo.c" -> "demo.c". */
export function baseName(path) {
  return String(path).split('/').pop();
}

function round(x) {
  return x >= 100 || Number.isInteger(x) ? String(Math.round(x)) : String(+x.toPrecision(3));
}
