// fields.js: reads the fields of an event, which may be missing or of another type. Pure.

export const int = (v, or = 0) => (Number.isFinite(v) ? v : or);
export const text = (v, or = '') => (typeof v === 'string' ? v : or);
export const list = (v) => (Array.isArray(v) ? v : []);
export const object = (v) => (v && typeof v === 'object' && !Array.isArray(v) ? v : {});
