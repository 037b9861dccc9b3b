// elements.js: which elements of its storage a tensor sees, in its own order, from its shape, strides and offset. Pure.

const sizes = new Map(Object.entries({ float64: 8, int64: 8, float32: 4, int32: 4, float16: 2, bfloat16: 2, uint8: 1, bool: 1 }));
export const itemSize = (dtype) => sizes.get(dtype) ?? 4;

/** Of a dtype that Ferry does not have a log tells the size. */
export function learnSize(dtype, bytes) {
  if (dtype && bytes > 0 && !sizes.has(dtype)) sizes.set(dtype, bytes);
}

/** The strides that shape has where its elements follow one another. */
export function denseStrides(shape) {
  const strides = [];
  let step = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides.unshift(step);
    step *= shape[i];
  }
  return strides;
}

export const countOf = ({ shape }) => shape.reduce((all, size) => all * size, 1);

/** visit(number in its storage, i) for the elements first to first + count - 1 of a tensor, row-major. */
export function eachElement({ shape, strides, offset }, first, count, visit) {
  const steps = strides?.length === shape.length ? strides : denseStrides(shape);
  const end = Math.min(countOf({ shape }), first + count);
  for (let i = Math.max(0, first); i < end; i++) {
    let at = offset;
    for (let d = shape.length - 1, rest = i; d >= 0; d--) {
      at += (rest % shape[d]) * steps[d];
      rest = Math.floor(rest / shape[d]);
    }
    visit(at, i);
  }
}
