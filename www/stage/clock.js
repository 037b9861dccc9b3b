// clock.js: the only clock of the page. It moves a position over the steps of a run: which step, and
// how far its motion has come (0..1). It knows neither events nor drawing.

const MOTION = 0.7; // share of a step's time in which things move; the rest lets it sink in

/**
 * host: {count() -> steps there are, duration(i) -> ms, changed(position)}. `changed` is called at most
 * once a frame, and only when something did change.
 */
export function clock(host) {
  const at = { step: 0, progress: 1, playing: false, follow: false, speed: 1 };
  let frame = 0;
  let last = 0;
  let still = false; // reduced motion: steps jump, and their trails tell the way

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
    /** Show a step; with `move` its motion plays once, without it lies there finished. */
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
    /** A live run goes on: stay in play at its end and wait for more. */
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
    /** New steps came, or the picture must be drawn again. */
    poke: run,
    /** From the first step, in play. */
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
