// net.js: all network access. The token is removed from the address bar first; requests carry it in a
// header, the WebSocket in its query. A lost connection is retried and resumes after the last event
// received; if the server rejects the token, retrying stops.

/** The token of this tab: from the URL, where it is removed, else from sessionStorage. */
export function takeToken(place = location, memory = sessionStorage, past = history) {
  const found = /[#&]token=([0-9A-Za-z_-]+)/.exec(place.hash);
  if (found) {
    memory.setItem('ferry-token', found[1]);
    const rest = place.hash.slice(1).split('&').filter((part) => part && !part.startsWith('token=')).join('&'); // a deep link
    past.replaceState(null, '', place.pathname + place.search + (rest && `#${rest}`));
  }
  return memory.getItem('ferry-token') ?? '';
}

const MOST_TEXT = 64 << 20; // characters of a log that is read as events

/** A name for this tab, kept through a reload: the server says which tab asked for a run. A duplicated tab gets its own. */
export function tabName(memory = sessionStorage) {
  const reloaded = performance.getEntriesByType('navigation')[0]?.type === 'reload';
  const name = (reloaded && memory.getItem('ferry-tab')) || Math.random().toString(36).slice(2, 12);
  memory.setItem('ferry-tab', name);
  return name;
}

/** Requests with JSON bodies and answers. Throws an Error whose message can be shown. */
export function api(token, tab) {
  async function ask(path, body) {
    const answer = await answerTo(path, body);
    return answer.json().catch(() => ({}));
  }

  /** An answer as it is, of so many characters at most. */
  async function text(path, most = Infinity) {
    const reader = (await answerTo(path)).body.pipeThrough(new TextDecoderStream()).getReader();
    let all = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      all += part.value;
      if (all.length <= most) continue;
      reader.cancel();
      throw new Error(`The run’s log is longer than ${most >> 20} MiB, too long for the page; ferry compare takes it.`);
    }
    return all;
  }

  /** An answer of JSON lines; an invalid one becomes null. */
  const lines = async (path) => (await text(path, MOST_TEXT)).split('\n').filter(Boolean).map(parse);

  async function answerTo(path, body) {
    const headers = { 'X-Ferry-Token': token };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const options = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    let answer;
    try {
      answer = await fetch(path, options);
    } catch {
      throw new Error('The server does not answer. Is it still running in the terminal?');
    }
    if (answer.ok) return answer;
    const reply = await answer.json().catch(() => ({}));
    throw new Error(reply.error ?? reply.message ?? `The server answered ${answer.status} to ${path}.`);
  }
  return { get: (path) => ask(path), post: (path, body = {}) => ask(path, { tab, ...body }), text, lines };
}

/**
 * Follows the server's runs. on: {hello, run, events, ended, status, link}; hello returns the run to follow; `link` gets "open",
 * "lost" (retrying), "refused" (never connected, retrying) and "replaced" (final: another server runs at
 * this address and rejects the token). resume(run) returns the number of events already received.
 */
export function connect(token, on, resume) {
  let socket = null;
  let wait = 250;
  let connected = false; // at least once

  function open() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    socket = new WebSocket(`${scheme}://${location.host}/ws?token=${encodeURIComponent(token)}`);
    socket.onopen = () => {
      connected = true;
      wait = 250;
      on.link('open');
    };
    socket.onmessage = (message) => receive(String(message.data));
    socket.onclose = () => {
      on.link(connected ? 'lost' : 'refused');
      setTimeout(retry, wait);
      wait = Math.min(4000, wait * 2);
    };
  }

  async function retry() {
    if (await tokenRejected(token)) on.link('replaced');
    else open();
  }

  function receive(data) {
    const end = data.indexOf('\n');
    const head = parse(end < 0 ? data : data.slice(0, end));
    if (head?.type === 'events') return on.events(head, lines(data, end));
    if (head?.type === 'hello') {
      const run = on.hello(head);
      if (run) watch(run);
    } else if (head?.type === 'run') on.run(head);
    else if (head?.type === 'ended') on.ended(head);
    else if (head?.type === 'status') on.status(head);
    return undefined;
  }

  function send(message) {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  function watch(run) {
    send({ watch: run, from: resume(run) });
  }

  open();
  return { watch };
}

// Does a server answer that rejects this token?
async function tokenRejected(token) {
  try {
    const answer = await fetch('/api/lessons', { headers: { 'X-Ferry-Token': token } });
    return answer.status === 403;
  } catch {
    return false;
  }
}

function lines(data, end) {
  return end < 0 ? [] : data.slice(end + 1).split('\n').filter(Boolean).map(parse);
}

// An invalid line becomes null, so that the numbering stays right.
function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
