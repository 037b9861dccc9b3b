// clock.js: the only clock of the page. It advances a position over the steps of a run: which step, and
// the progress of its animation (0..1). It knows neither events nor drawing.

const MOTION = 0.7; // fraction of a step's time that is animated; the rest is a pause

/**
 * host: {count() -> number of steps, duration(i) -> ms, changed(position)}. `changed` is called at most
 * once per frame, and only after a change.
 */
export function clock(host) {
  const at = { step: 0, progress: 1, playing: false, follow: false, speed: 1 };
  let frame = 0;
  let last = 0;
  let still = false; // reduced motion: steps are shown finished, without animation

  const motion = () => Math.min(1, at.progress / MOTION);
  const report = () => host.changed({ ...at, m: motion(), atEnd: at.step >= host.count() - 1 });

  function tick(now) {
    frame = 0;
    const passed = Math.min(100, now - last);
    last = now;
    const full = host.duration(at.step) / at.speed;
    at.progress = Math.min(1, at.progress + passed / Math.max(1, full));
    if (still && at.progress < MOTION) at.progress = MOTION;
    if (at.progress >= 1 && at.playing) next();
    report();
    if (moving()) wake();
  }

  const moving = () => at.progress < 1 || (at.playing && at.step < host.count() - 1);

  function next() {
    if (at.step < host.count() - 1) start(at.step + 1);
    else if (!at.follow) at.playing = false;
  }

  function start(step) {
    at.step = step;
    at.progress = still ? MOTION : 0;
  }

  function wake() {
    if (!frame) frame = requestAnimationFrame(tick);
  }

  function run() {
    last = performance.now();
    wake();
  }

  return {
    /** Shows a step; with `move` its animation plays once, without it the step is shown finished. */
    go(step, move = false) {
      at.step = Math.max(0, Math.min(host.count() - 1, step));
      at.progress = move && !still ? 0 : 1;
      at.playing = false;
      report();
      run();
    },
    play() {
      at.playing = true;
      if (at.step >= host.count() - 1 && at.progress >= 1 && !at.follow) start(0);
      run();
      report();
    },
    pause() {
      at.playing = false;
      at.progress = 1;
      run();
      report();
    },
    /** For a live run: keep playing at its end and wait for more steps. */
    follow(on) {
      at.follow = on;
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
      Object.assign(at, { step: 0, progress: 0, playing: true });
      run();
    },
    get position() {
      return { ...at, m: motion() };
    },
    get settled() {
      return !frame && !moving();
    },
  };
}
