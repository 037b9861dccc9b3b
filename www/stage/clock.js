// clock.js: the only clock of the page. It advances a position through a run in one of two ways: by step, where each
// step takes the time that a viewer needs to see it, or by clock, where the run's own time passes evenly, so that twice
// as long on the card is twice as long on the page; only the breaks of the time axis pass as fast as they are drawn. It
// knows neither events nor drawing.

const MOTION = 0.7; // fraction of a step's time that is animated; the rest is a pause
const WHOLE_RUN = 16000; // ms that a run takes by clock, at speed 1
const LOOK = 1000; // ms between two pictures of a run by clock, under reduced motion
const FAR = 1000; // steps: where a live run is so far ahead, it is shown as it is now,
const QUICK = 500; // with a picture in so many ms
const MANY = 500; // events between two pictures: then these are fewer, that there is time to read,
const REST = 100; // ms apart

/**
 * host: {count() -> number of steps, duration(i) -> ms, span(i) -> [from, to] in ns, timeIn(i, m) -> the run's time in step i,
 * stepAt(t) -> i, arrived() -> events since the last picture, after(t, part) -> the time when so much more of the run's time axis has passed, changed(position)}.
 * `changed` is called at most once per frame, and only after a change. A position: {step, m, t, by, playing, ...}: m is the
 * fraction of the step that has passed, t the run's time.
 */
export function clock(host) {
  const at = { step: 0, progress: 1, t: 0, by: 'step', playing: false, follow: false, speed: 1, skips: false }; // skips: steps that a live run has no time for
  let live = false; // it may skip steps,
  let along = false; // and does, while nobody went elsewhere
  let frame = 0;
  let last = 0;
  let still = false; // reduced motion: steps are shown finished, without animation; by clock there is a picture now and then
  let unseen = 0; // ms since the last of them

  const end = () => (host.count() ? host.span(host.count() - 1)[1] : 0);
  const atEnd = () => at.step >= host.count() - 1 && (at.by === 'step' || at.t >= end());

  function position() {
    at.step = Math.min(at.step, Math.max(0, host.count() - 1)); // steps of a run that still arrives may be joined
    const [from, to] = host.count() ? host.span(at.step) : [0, 0];
    const m = at.by === 'step' ? Math.min(1, at.progress / MOTION) : to > from ? Math.min(1, (at.t - from) / (to - from)) : 1;
    return { ...at, m, t: at.by === 'step' && host.count() ? host.timeIn(at.step, m) : at.t, atEnd: atEnd() };
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
    const full = Math.min(at.skips ? QUICK : Infinity, host.duration(at.step)) / at.speed;
    at.progress = Math.min(1, at.progress + passed / Math.max(1, full));
    if (still && at.progress < MOTION) at.progress = MOTION;
    if (at.progress < 1 || !at.playing) return;
    if (at.step < host.count() - 1) {
      at.skips = runsAway();
      start(at.skips ? host.count() - 1 : at.step + 1);
    } else if (!at.follow) at.playing = false;
  }

  const runsAway = () => live && along && at.follow && host.count() - 1 - at.step > FAR;

  function tickClock(passed) {
    if (!at.playing) return;
    unseen += passed;
    if (still && unseen < LOOK) return;
    at.skips = runsAway();
    at.t = at.skips ? end() : Math.min(end(), host.after(at.t, (unseen / WHOLE_RUN) * at.speed));
    unseen = 0;
    at.step = Math.max(0, host.stepAt(at.t));
    if (at.t >= end() && !at.follow) at.playing = false;
  }

  const moving = () => (at.by === 'step' ? at.progress < 1 || (at.playing && at.step < host.count() - 1) : at.playing && at.t < end());

  function start(step) {
    at.step = step;
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

  return {
    /** Shows a step; with `move` its animation plays once, without it the step is shown finished. */
    go(step, move = false) {
      at.step = Math.max(0, Math.min(host.count() - 1, step));
      at.progress = move && !still ? 0 : 1;
      at.t = host.count() ? host.span(at.step)[1] : 0;
      at.playing = along = at.skips = false;
      report();
      run();
    },
    /** By clock: shows time t. */
    seek(t) {
      at.t = Math.max(0, Math.min(end(), t));
      at.step = Math.max(0, host.stepAt(at.t));
      at.playing = along = at.skips = false;
      report();
      run();
    },
    play() {
      at.playing = true;
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
    /** Keep playing at the run's end and wait for more steps; isLive: it runs now, and may be too fast to be shown step by step. */
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
    /** New steps arrived, or the picture must be redrawn. */
    poke: run,
    /** Plays from the first step. */
    restart() {
      Object.assign(at, { step: 0, progress: 0, t: 0, playing: true, skips: false });
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
