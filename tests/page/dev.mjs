// dev.mjs: a small server that speaks Ferry's protocol, for working on the page and for tests of what
// the real server cannot be made to do on demand: dying, lagging, sending nonsense. It trusts anyone
// on loopback who has the token.
//
//     node dev.mjs [--mode lessons|view] [--port N] LOG.jsonl ...      the first log is sent at once

import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { placed } from './logs.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const CSP = "default-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** {url, port, send(message), add(run), lines(run, lines), end(run), close()}. */
export async function serve({ mode = 'view', port = 0, why, runs = [], www = join(root, 'www'), token = 'dev0token', findings = { clock: 'model', findings: [] }, joins = true } = {}) {
  const kept = [];
  const sockets = new Set();
  const saved = new Map();
  const asked = [];

  const built = join(root, process.env.B ?? 'build', 'www'); // made by make
  const fileOf = (path) => [join(www, path), join(built, path)].find(existsSync);

  // The page's modules as one script, as make joins them: a page opens in two thirds of the time.
  let joined;
  const script = () => (joined ??= execFileSync('awk', ['-v', `roots=${www} ${built}`, '-f', join(root, 'viewer/server/bundle.awk'), 'main.js'], { maxBuffer: 16 << 20 }));

  const http = createServer((request, response) => {
    const url = new URL(request.url, 'http://x');
    if (url.pathname.startsWith('/api/')) return api(request, response, url.pathname);
    const path = url.pathname === '/' ? 'index.html' : url.pathname.replaceAll('..', '');
    const file = fileOf(path);
    if (!file) return response.writeHead(404).end();
    response.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'text/plain', 'Content-Security-Policy': CSP, 'Cache-Control': 'no-store' });
    return response.end(joins && path === '/main.js' ? script() : readFileSync(file));
  });

  function api(request, response, path) {
    asked.push({ method: request.method, path, token: request.headers['x-ferry-token'] });
    let body = '';
    request.on('data', (chunk) => { body += chunk; });
    request.on('end', () => {
      const answer = request.headers['x-ferry-token'] === token ? route(request.method, path, body) : [403, { error: 'wrong token' }];
      response.writeHead(answer[0], { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answer[1]));
    });
  }

  function route(method, path, body) {
    if (/^\/api\/runs\/\d+\/findings$/.test(path)) return [200, findings];
    const [, id, what, n] = /^\/api\/lessons\/?([^/]*)\/?([^/]*)\/?(\d*)$/.exec(path) ?? [];
    if (id === undefined) return [404, { error: `no such path: ${path}` }];
    if (id === '') return [200, lessonsOnDisk().map(({ id: name, part, title, summary, minutes }) => ({ id: name, part, title, summary, minutes, done: false, attempts: 0 }))];
    const lesson = lessonsOnDisk().find((l) => l.id === id);
    if (!lesson) return [404, { error: `there is no lesson ${id}` }];
    if (method === 'GET' && what === 'hints') return [200, { html: `<p>${lesson.hints[n - 1].replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`)}</p>` }];
    if (method === 'GET') return [200, detail(lesson)];
    if (what === 'save') saved.set(id, JSON.parse(body).source);
    if (what === 'reset') saved.delete(id);
    if (what === 'run') setTimeout(() => kept.length < runs.length && add(runs[kept.length]), 30);
    return [200, what === 'reset' ? { source: detail(lesson).source } : { ok: true }];
  }

  function detail(lesson) {
    const read = (name) => readFileSync(join(root, 'lessons', lesson.id, name), 'utf8');
    return {
      id: lesson.id, title: lesson.title, html: textOf(lesson.id), demo: read('demo.c'), source: saved.get(lesson.id) ?? read('starter.c'),
      path: `my/${lesson.id}.c`, hints: lesson.hints.length, done: false, budget: lesson.budget,
      goal: lesson.goal, minutes: lesson.minutes, docs: lesson.docs, part: lesson.part,
      predict: (lesson.predict ?? []).map(({ ask, choices = [] }) => ({ ask, choices })), answers: answers(lesson),
    };
  }

  // Of a lesson's questions, those that count events; as the real server does after a run of the example.
  function answers(lesson) {
    const run = runs.find(({ what, lesson: id }) => what === 'demo' && id === lesson.id);
    const events = placed((run?.lines ?? []).map((line) => JSON.parse(line)));
    return run ? (lesson.predict ?? []).map(({ fact }) => {
      const [what, kind, ...conditions] = fact.split(' ');
      const holds = (e) => conditions.every((one) => {
        const [path, value] = one.split('=');
        return String(path.split('.').reduce((at, name) => at?.[name], e)) === value;
      });
      return what === 'count' ? events.filter((e) => e.kind === kind && holds(e)).length : null;
    }) : [];
  }

  const ws = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    if (new URL(request.url, 'http://x').searchParams.get('token') !== token) return socket.destroy();
    return ws.handleUpgrade(request, socket, head, (client) => welcome(client));
  });

  function welcome(client) {
    sockets.add(client);
    client.cursor = 0;
    client.on('close', () => sockets.delete(client));
    client.on('message', (data) => hear(client, JSON.parse(data)));
    const known = kept.map(({ run, lesson, what, label, ended, over = ended }) => ({ run, lesson, what, label, over }));
    client.send(JSON.stringify({ type: 'hello', mode, why, runs: known, current: known.at(-1)?.run ?? 0 }));
  }

  function hear(client, message) {
    if (message.watch) {
      client.run = message.watch;
      client.cursor = message.from;
      pump(client);
    }
  }

  function pump(client) {
    const run = kept.find((r) => r.run === client.run);
    if (!run) return;
    if (client.cursor < run.lines.length) {
      const part = run.lines.slice(client.cursor);
      client.send(`${JSON.stringify({ type: 'events', run: run.run, from: client.cursor, count: part.length })}\n${part.join('\n')}`);
      client.cursor = run.lines.length;
    }
    if (run.ended) client.send(JSON.stringify({ type: 'ended', run: run.run, count: run.lines.length }));
  }

  const all = (message) => sockets.forEach((client) => client.send(typeof message === 'string' ? message : JSON.stringify(message)));

  function add({ lines = [], ended = true, over = ended, lesson = '', what = 'view', label = '' }) {
    const run = { run: kept.length + 1, lines: lines.slice(), ended, over, lesson, what, label };
    kept.push(run);
    all({ type: 'run', run: run.run, lesson, what, label });
    for (const client of sockets) {
      client.run = run.run;
      client.cursor = 0;
      pump(client);
    }
    return run;
  }

  function more(run, lines) {
    run.lines.push(...lines);
    for (const client of sockets) if (client.run === run.run) pump(client);
  }

  function end(run) {
    run.ended = true;
    for (const client of sockets) if (client.run === run.run) pump(client);
  }

  function close() {
    for (const client of sockets) client.terminate();
    return new Promise((done) => {
      http.close(done);
      http.closeAllConnections?.();
    });
  }

  if (mode === 'view') runs.forEach(add);
  await new Promise((done) => http.listen(port, '127.0.0.1', done));
  const at = http.address().port;
  http.unref(); // a test that failed before it closed this must not keep its file from ending
  return { ref: () => http.ref(), url: `http://127.0.0.1:${at}/#token=${token}${mode === 'lessons' && runs[0]?.lesson ? `&lesson=${runs[0].lesson}` : ''}`, port: at, all, add, more, end, close, asked, saved, sockets };
}

// A lesson's text, about as cmark renders it for the real server.
function textOf(id) {
  const blocks = readFileSync(join(root, 'lessons', id, 'README.md'), 'utf8').split(/(^```[\s\S]*?^```$)|\n\n+/m).filter(Boolean);
  const inline = (words) => words.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`).replace(/`([^`]+)`/g, '<code>$1</code>').replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
  return blocks.map((block) => {
    const [, marks, title] = /^(#+) (.*)/.exec(block.trim()) ?? [];
    if (marks) return `<h${marks.length + 1}>${inline(title)}</h${marks.length + 1}>`;
    if (block.startsWith('```')) return `<pre><code class="language-${/^```([\w-]*)/.exec(block)[1]}">${inline(block.replace(/^```.*\n|\n```$/g, ''))}</code></pre>`;
    if (block.trim().startsWith('- ')) return `<ul>${block.trim().split(/^- /m).filter(Boolean).map((item) => `<li>${inline(item)}</li>`).join('')}</ul>`;
    return `<p>${inline(block)}</p>`;
  }).join('\n');
}

export function logLines(path) {
  return readFileSync(path, 'utf8').split('\n').filter(Boolean);
}

function lessonsOnDisk() {
  const folder = join(root, 'lessons');
  const { parts } = JSON.parse(readFileSync(join(folder, 'arc.json'), 'utf8'));
  return parts.flatMap(({ title, lessons }) => lessons.map((name) => ({ ...JSON.parse(readFileSync(join(folder, name, 'lesson.json'), 'utf8')), part: title })));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  const option = (name, or) => (given.includes(name) ? given.splice(given.indexOf(name), 2)[1] : or);
  const mode = option('--mode', 'view');
  const port = Number(option('--port', '8790'));
  const runs = given.map((path) => ({ lines: logLines(path), what: mode === 'view' ? 'view' : 'demo', label: mode === 'view' ? path.split('/').pop() : '' }));
  const server = await serve({ mode, port, runs, joins: false });
  server.ref();
  console.log(server.url);
}
