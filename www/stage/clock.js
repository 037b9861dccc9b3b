// clock.js: the only clock of the page. It advances a position through a run in one of two ways: by step, where each
// part of a step takes the time that a viewer needs to see it, or by clock, where the run's own time passes evenly, so that twice
// as long on the card is twice as long on the page; only the breaks of the time axis pass as fast as they are drawn. It
// knows neither events nor drawing.

const MOTION = 0.7; // fraction of a part's time that is animated; the rest is a pause
const WHOLE_RUN = 16000; // ms that a run takes by clock, at speed 1
const LOOK = 1000; // ms between two pictures of a run by clock, under reduced motion
const FAR = 1000; // parts: where a live run is so far ahead, it is shown as it is now,
const QUICK = 500; // with a picture in so many ms
const MANY = 500; // events between two pictures: then these are fewer, that there is time to read,
const REST = 100; // ms apart

/**
 * host: {count() -> number of parts, duration(i) -> ms, span(i) -> [from, to] in ns, timeIn(i, m) -> the run's time in part i,
 * partAt(t) -> i, arrived() -> events since the last picture, after(t, part) -> the time when so much more of the run's time axis has passed, changed(position)}.
 * `changed` is called at most once per frame, and only after a change. A position: {part, m, t, by, playing, whole, ...}: m is the
 * fraction of the part that has passed, t the run's time; whole: a step was asked for, and all of it has passed.
 */
export function clock(host) {
  const at = { part: 0, progress: 1, t: 0, by: 'step', playing: false, follow: false, speed: 1, skips: false }; // skips: parts that a live run has no time for
  let until = -1; // the last part of the step that was asked for; -1: none was
  let live = false; // it may skip parts,
  let along = false; // and does, while nobody went elsewhere
  let frame = 0;
  let last = 0;
  let still = false; // reduced motion: parts are shown finished, without animation; by clock there is a picture now and then
  let unseen = 0; // ms since the last of them

  const end = () => (host.count() ? host.span(host.count() - 1)[1] : 0);
  const atEnd = () => at.part >= host.count() - 1 && (at.by === 'step' || at.t >= end());

  function position() {
    at.part = Math.min(at.part, Math.max(0, host.count() - 1)); // another run may have fewer
    const [from, to] = host.count() ? host.span(at.part) : [0, 0];
    const m = at.by === 'step' ? Math.min(1, at.progress / MOTION) : to > from ? Math.min(1, (at.t - from) / (to - from)) : 1;
    return { ...at, m, t: at.by === 'step' && host.count() ? host.timeIn(at.part, m) : at.t, atEnd: atEnd(), whole: at.part === until && m >= 1 };
  }

  const report = () => host.changed(position());

  function tick(now) {
    frame = 0;
    if (now - last < REST && host.arrived() > MANY) return wake();
    const passed = Math.max(0, Math.min(100, now - last));
    last = now;
    if (at.by === 'step') tickStep(passed);
    else tickClock(passed);
    report();
    return moving() && wake();
  }

  function tickStep(passed) {
    const full = Math.min(at.skips ? QUICK : Infinity, host.duration(at.part)) / at.speed;
    at.progress = Math.min(1, at.progress + passed / Math.max(1, full));
    if (still && at.progress < MOTION) at.progress = MOTION;
    if (at.progress < 1 || !goesOn()) return;
    if (at.part < host.count() - 1) {
      at.skips = runsAway();
      start(at.skips ? host.count() - 1 : at.part + 1);
    } else if (!at.follow) at.playing = false;
  }

  const goesOn = () => at.playing || at.part < until;
  const runsAway = () => live && along && at.follow && host.count() - 1 - at.part > FAR;

  function tickClock(passed) {
    if (!at.playing) return;
    unseen += passed;
    if (still && unseen < LOOK) return;
    at.skips = runsAway();
    at.t = at.skips ? end() : Math.min(end(), host.after(at.t, (unseen / WHOLE_RUN) * at.speed));
    unseen = 0;
    at.part = Math.max(0, host.partAt(at.t));
    if (at.t >= end() && !at.follow) at.playing = false;
  }

  const moving = () => (at.by === 'step' ? at.progress < 1 || (goesOn() && at.part < host.count() - 1) : at.playing && at.t < end());

  function start(part) {
    at.part = part;
    at.progress = still ? MOTION : 0;
  }

  function wake() {
    if (!frame) frame = requestAnimationFrame(tick);
  }

  // Not while a frame is due: what pokes in each of them would stop the time.
  function run() {
    if (!frame) last = performance.now();
    wake();
  }

  function show(part, move, last) {
    at.part = Math.max(0, Math.min(host.count() - 1, part));
    at.progress = move && !still ? 0 : 1;
    at.t = host.count() ? host.span(at.part)[1] : 0;
    at.playing = along = at.skips = false;
    until = last;
    report();
    run();
  }

  return {
    /** Shows a part; with `move` its animation plays once, without it the part is shown finished. */
    go: (part, move = false) => show(part, move, -1),
    /** Likewise a step, from..to of its parts. */
    goThrough: ([from, to], move = false) => show(move && !still && at.by === 'step' ? from : to, move, to),
    /** By clock: shows time t. */
    seek(t) {
      until = -1;
      at.t = Math.max(0, Math.min(end(), t));
      at.part = Math.max(0, host.partAt(at.t));
      at.playing = along = at.skips = false;
      report();
      run();
    },
    play() {
      at.playing = true;
      until = -1;
      along ||= atEnd();
      if (atEnd() && at.progress >= 1 && !at.follow) {
        start(0);
        at.t = 0;
      }
      run();
      report();
    },
    pause() {
      at.playing = false;
      until = -1;
      at.progress = 1;
      run();
      report();
    },
    /** 'step' or 'clock'; the moment stays the same. */
    by(way) {
      if (way === at.by) return;
      at.t = position().t;
      at.by = way;
      at.progress = 1;
      run();
      report();
    },
    /** Keep playing at the run's end and wait for more parts; isLive: it runs now, and may be too fast to be shown step by step. */
    follow(on, isLive = false) {
      at.follow = on;
      live = isLive;
      if (!on && at.skips) {
        start(host.count() - 1);
        at.t = end();
      }
      at.skips &&= on;
      run();
    },
    speed(factor) {
      at.speed = factor;
      report();
    },
    reduced(on) {
      still = on;
      run();
    },
    /** New parts arrived, or the picture must be redrawn. */
    poke: run,
    /** Plays from the first part. */
    restart() {
      Object.assign(at, { part: 0, progress: 0, t: 0, playing: true, skips: false });
      until = -1;
      along = true;
      run();
    },
    get position() {
      return position();
    },
    get settled() {
      return !frame && !moving();
    },
  };
}
