// probe.js: window.ferry, by which the tests see what the page shows, and go through a run.

import { actions } from './model/step_actions.js';
import { sentence } from './model/words.js';
import { canvasOf, svgOf } from './runs/picture.js';

/** shown() -> the run, or null; isDrawn(): is the picture of it; shot(): what a saved picture is made of. */
export function probe({ shown: run, isDrawn, time, views, shot }) {
  window.ferry = {
    get idle() {
      return !!run()?.parts.length && isDrawn() && time.settled && views.stage.settled && views.lanes.settled;
    },
    get seq() {
      return run()?.parts[time.position.part]?.to ?? -1;
    },
    get position() {
      return { ...time.position, step: run()?.parts[time.position.part]?.step ?? 0 };
    },
    get events() {
      return run()?.events ?? [];
    },
    state: () => run()?.at(window.ferry.seq) ?? null,
    boxes: () => views.stage.boxes(),
    slices: () => views.lanes.seen(),
    view: () => views.lanes.view,
    double: () => views.cost.seen(),
    works: () => actions(run(), run().parts[time.position.part], time.position.t, window.ferry.state()).filter((a) => a.phase),
    go: (seq) => run() && time.go(run().partOf(seq)),
    picture: (kind) => (kind === 'svg' ? svgOf(shot()) : canvasOf(shot()).toDataURL()),
    seek(t) {
      time.by('clock');
      time.seek(t);
    },
    sentence: (seq) => sentence(run().events[seq], run().names),
  };
}
