// log_file.js: the text of a saved log, line by line, to events; and what is wrong with it, in plain words. Pure.
//
// The same rules as viewer/trace/feed.c, short of the schema: JSON objects, of which the first is a session event of a
// version that this page knows, and whose seqs count from 0. A last line that a kill cut off is left out, and told.

const SCHEMA = 2;
const BINARY = 'FERRYLOG'; // how the log of a running or killed program begins (lib/trace/log_format.h)

/** A reader of the file `name`: take(text) adds a part of it, end() what is left; `events`, and `note`: what was left out. */
export function logReader(name) {
  const events = [];
  let rest = '';
  let number = 0;
  const self = { events, note: '', take, end };

  const bad = (what, fix) => new Error(`${name}, line ${number}: ${what}. ${fix}`);

  function take(text) {
    if (!number && !rest) check(text);
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) add(line);
  }

  function check(text) {
    if (text.startsWith(BINARY)) {
      throw new Error(`${name} is the binary log of a running or killed program. Convert it: ferry log ${name} > run.jsonl`);
    }
  }

  function end() {
    if (!number && !rest) throw new Error(`${name} is empty. Record a run with FERRY_TRACE=run.jsonl.`);
    const last = rest;
    rest = '';
    if (!last) return;
    const before = events.length;
    try {
      add(last);
    } catch (error) {
      if (!before) throw error;
      self.note = `${name}: line ${number}, the last one, is incomplete and was left out.`;
    }
  }

  function add(line) {
    number++;
    const e = parsed(line);
    if (!e || typeof e !== 'object' || Array.isArray(e)) throw bad(number === 1 ? 'this is not a Ferry log' : 'this is not an event', 'Open a file that FERRY_TRACE wrote.');
    if (number === 1) checkFirst(e);
    if (e.seq !== events.length) throw bad(`seq is ${JSON.stringify(e.seq) ?? 'missing'} and should be ${events.length}`, 'Lines are missing, repeated or out of order: open the complete file.');
    if (typeof e.kind !== 'string') throw bad('the event has no kind', 'The file was edited or damaged: record the run again.');
    events.push(e);
  }

  function parsed(line) {
    try {
      return JSON.parse(line);
    } catch {
      throw bad('this is not JSON', number === 1 ? 'Open a file that FERRY_TRACE wrote.' : 'The file was edited or damaged: record the run again.');
    }
  }

  function checkFirst(e) {
    if (e.kind !== 'session') throw bad('the first event of a log must be a session event', 'Open the complete file that FERRY_TRACE wrote.');
    if (e.schema !== SCHEMA) throw bad(`the schema is version ${e.schema ?? 'unknown'}, this page reads version ${SCHEMA}`, 'Open it with the ferry that wrote it, or a newer one.');
  }

  return self;
}

/** Reads a File, piece by piece. Throws an Error whose message can be shown. */
export async function readLog(file) {
  const reader = logReader(file.name);
  const words = new TextDecoder('utf-8', { fatal: true });
  const parts = file.stream().getReader();
  const decode = (bytes, options) => {
    try {
      return words.decode(bytes, options);
    } catch {
      throw new Error(`${file.name} is not UTF-8 text. Open a file that FERRY_TRACE wrote.`);
    }
  };
  try {
    for (;;) {
      const { value, done } = await parts.read();
      if (done) break;
      if (!reader.events.length && String.fromCharCode(...value.subarray(0, 8)) === BINARY) reader.take(BINARY);
      reader.take(decode(value, { stream: true }));
    }
  } catch (error) {
    parts.cancel().catch(() => {});
    throw error instanceof Error && error.message.includes(file.name) ? error : new Error(`${file.name} cannot be read: ${error.message}. Open it again.`);
  }
  reader.take(decode(new Uint8Array()));
  reader.end();
  return reader;
}
