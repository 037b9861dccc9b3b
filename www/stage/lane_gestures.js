// lane_gestures.js: what mouse, touch, wheel and keys do to the part of the axis that lanes show: one pointer pans, or sets the
// time where it began on the axis; two fingers zoom about what lies under them; a press that does not move chooses.

import { panned, pinched, zoomed } from '../model/axis.js';
import { AXIS, scaleOf } from './lanes.js';

const STILL = 3; // px that a press may move

/**
 * on: {scene() -> of the last frame, or null; look(part): shows this part of the axis, null: all of it; seek(x); press(at);
 * point(at); leave()}; at: {x, y} on the canvas; without seek, the axis is dragged like the lanes. busy(): is a pointer down?
 */
export function gestures(root, canvas, on) {
  const down = new Map(); // pointer -> {x} where it is now
  let drag = null; // of one pointer: {x, from: the view then, moved, scrubs}
  let pinch = null; // of two: [unit, unit] under them

  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const zoom = canvas.currentCSSZoom ?? 1;
    return { x: (event.clientX - box.x) / zoom, y: (event.clientY - box.y) / zoom };
  };
  const part = ({ plan: { track } }, x) => (x - track.x) / track.w;
  const unitAt = (scene, x) => scene.view[0] + part(scene, x) * (scene.view[1] - scene.view[0]);

  root.addEventListener('pointerdown', (event) => {
    const scene = on.scene();
    const at = place(event);
    if (!scene || event.button || at.x < scene.plan.track.x || down.size > 1) return;
    root.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at);
    begin(scene, at);
  });

  function begin(scene, at) {
    const fingers = [...down.values()];
    pinch = fingers.length > 1 ? fingers.map(({ x }) => unitAt(scene, x)) : null;
    drag = { x: at.x, from: scene.view, moved: fingers.length > 1, scrubs: fingers.length < 2 && at.y < AXIS && Boolean(on.seek) };
    if (drag.scrubs) on.seek(at.x);
  }

  root.addEventListener('pointermove', (event) => {
    const scene = on.scene();
    const at = place(event);
    if (!scene) return;
    if (!drag) on.point(at);
    else if (down.has(event.pointerId)) {
      down.set(event.pointerId, at);
      move(scene, at);
    }
  });

  function move(scene, { x }) {
    const { course } = scene;
    if (pinch) return on.look(pinched(pinch, [...down.values()].map((finger) => part(scene, finger.x)), course.units));
    if (drag.scrubs) return on.seek(x);
    drag.moved ||= Math.abs(x - drag.x) > STILL;
    if (drag.moved) on.look(panned(drag.from, (drag.x - x) / scaleOf(scene).size, course.units));
    return undefined;
  }

  // Of two fingers, the one that stays goes on panning.
  function end(event, isPress) {
    if (!down.delete(event.pointerId)) return;
    const was = drag;
    const [left] = down.values();
    drag = pinch = null;
    if (left) {
      begin(on.scene(), { ...left, y: Infinity });
      drag.moved = true;
    } else if (isPress && !was.moved && !was.scrubs) on.press(place(event));
  }

  root.addEventListener('pointerup', (event) => end(event, true));
  root.addEventListener('pointercancel', (event) => end(event, false));
  root.addEventListener('pointerleave', () => !drag && on.leave());
  root.addEventListener('dblclick', () => on.look(null));

  root.addEventListener('wheel', (event) => {
    const scene = on.scene();
    const { x } = place(event);
    if (!scene || x < scene.plan.track.x) return;
    event.preventDefault();
    const { view, course } = scene;
    const along = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (along) on.look(panned(view, (event.deltaX || event.deltaY) / scaleOf(scene).size, course.units));
    else on.look(zoomed(view, 1.0018 ** -event.deltaY, unitAt(scene, x), course.units));
  }, { passive: false });

  return { busy: () => drag !== null };
}

/** The keys of a view of lanes, which keyOf names; each letter's work is also done by a key that is none. */
export function viewKeys({ zoom, pan, all }) {
  const [nearer, further, left, right] = [() => zoom(1.5), () => zoom(1 / 1.5), () => pan(-0.2), () => pan(0.2)];
  return {
    PageUp: nearer, PageDown: further, 'Shift PageUp': left, 'Shift PageDown': right,
    w: nearer, s: further, '+': nearer, '-': further, a: left, d: right, 0: all,
  };
}

/** A key as it is named there; '' with Ctrl and the like. Where + is typed with Shift, it is still +. */
export function keyOf({ key, shiftKey, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey) return '';
  const name = key.length === 1 ? key.toLowerCase() : key;
  return shiftKey && key !== '+' ? `Shift ${name}` : name;
}
