// stage.js: the canvas and its overlay: an invisible button for every tensor, so that pointer,
// keyboard and screen reader find it where it is drawn. It resizes, calls draw.js and shows tooltips.

import { draw } from './draw.js';
import { placeOf } from './errors.js';
import { layout } from './layout.js';
import { lens } from './lens.js';
import { theme } from './colours.js';
import { sharpness } from './canvas_util.js';
import { figures } from './capacity.js';
import { groupLens } from './group_lens.js';
import { purposeSpots } from './purpose_spots.js';
import { namedAt } from './tag_places.js';
import { describe } from './tags.js';
import { saying, saysOf } from '../model/mistakes.js';
import { kinOf, purposeLines } from '../model/purpose.js';
import { handleOf } from '../model/state.js';
import { about, memoryName } from '../model/words.js';

const $ = (id) => document.getElementById(id);
const LATER = 50; // ms until the buttons follow the picture,
const AT_ONCE = 32; // so many of them,
const NEXT = 16; // and ms later the next ones

/** changed(): draw again; picked({storage, tensor}): a box or a name was clicked. */
export function stage(changed, picked) {
  const canvas = $('canvas');
  const c = canvas.getContext('2d');
  const spots = new Map(); // storage -> {button, is: what it says and where it is}
  const headings = new Map(); // device -> what its heading says
  let size = { w: 0, h: 0, scale: 1 };
  let colors = theme(getComputedStyle(document.body));
  let plan = null; // the layout on show
  let known = null; // the state on show
  let placing = 0; // a timer
  let resized = true; // since it was measured: in a frame, asking would lay out the page
  new ResizeObserver(() => { resized = true; }).observe($('stage'));
  let wrong = null; // what the error of this step concerns
  let sign = null; // tells it, where it is drawn
  let focus = 0;
  let isKin = null; // storages that belong to the one in focus
  let scene = null; // of the last picture
  const sums = purposeSpots(() => changed());
  const within = groupLens({ focus: () => changed(), picked });

  /** Computes the layout: once per step, not per frame. actions: of the step; lost: what no variable reaches (reach.js). */
  function arrange(state, addresses, actions, lost) {
    const cards = state.devices.length - 1;
    document.body.toggleAttribute('data-cards', cards > 2); // phone.css makes room for them
    document.body.style.setProperty('--cards', cards);
    plan = layout(state, addresses, size.w, size.h, actions, lost);
    known = state;
    wrong = actions.find((a) => a.mistake && !a.earlier)?.mistake ?? null;
    placing ||= setTimeout(place, LATER);
  }

  function tooltipLines(state, box) {
    const storage = state.storages.get(box.storage);
    const lines = about(storage, handleOf(state, storage), box.name, box.older);
    const said = wrong ? saysOf(wrong, box.storage) : '';
    if (said) lines.unshift(said);
    lines.splice(said ? 2 : 1, 0, ...purposeLines(state, storage));
    const first = state.lineages.get(storage.lineage)?.name;
    if (first && first !== box.name) lines.splice(said ? 2 : 1, 0, `a copy of ${first}`);
    const tensors = box.tags.flatMap((tag) => tag.tensors);
    for (const { name, lost } of tensors) if (lost) lines.push(`the variable ${name} ${lost.declared ? 'is a new one since it was declared' : 'was assigned'} again${lost.line ? ` at line ${lost.line}` : ''}: it is no longer the name of this tensor`);
    for (const { name, also } of tensors) for (const one of also ?? []) lines.push(`${tensors.length > 1 ? `${name} is ` : ''}also ${one.name} in ${one.fn}`);
    if (box.unreachable) lines.push('no variable reaches these bytes');
    return tensors.length > 1 ? [...lines, `${tensors.length} tensors see these bytes:`, ...tensors.map((one) => describe(one, box.bytes))] : lines;
  }

  // One button for each box and for each group, in the order of the boxes; the DOM is written only on change, and of hundreds
  // only a few at a time: they take longer than the picture, which must not wait for them while a run is played.
  function place() {
    placing = 0;
    const alone = plan.boxes.filter((b) => !b.group);
    const wanted = new Set(alone.map((b) => b.storage));
    let left = AT_ONCE;
    for (const [storage, spot] of spots) {
      if (wanted.has(storage) || !left) continue;
      spot.button.remove();
      spots.delete(storage);
      left--;
    }
    for (const box of alone) {
      if (!left) break;
      const spot = spots.get(box.storage) ?? { button: add(box.storage), is: '' };
      spots.set(box.storage, spot);
      const label = tooltipLines(known, box).join('. ');
      const is = [label, box.x, box.y, box.w, box.h].join();
      if (is === spot.is) continue;
      spot.is = is;
      spot.button.setAttribute('aria-label', label);
      Object.assign(spot.button.style, { left: `${box.x}px`, top: `${box.y}px`, width: `${box.w}px`, height: `${box.h}px` });
      left--;
    }
    within.place(plan.groups, known);
    sums.place(plan.memories);
    if (!left) placing = setTimeout(place, NEXT);
    if (focus && !wanted.has(focus)) leave();
    else if (focus) hover(focus);
    tellWrong();
  }

  function add(storage) {
    const spot = document.createElement('button');
    spot.type = 'button';
    spot.dataset.storage = storage;
    spot.addEventListener('pointerenter', () => hover(storage));
    spot.addEventListener('focus', () => hover(storage));
    spot.addEventListener('pointerleave', () => document.activeElement !== spot && leave());
    spot.addEventListener('blur', leave);
    spot.addEventListener('click', () => picked({ storage, tensor: 0 }));
    $('spots').append(spot);
    return spot;
  }

  const named = ({ offsetX, offsetY }) => plan && namedAt(plan.boxes, offsetX, offsetY);
  canvas.addEventListener('click', (event) => named(event) && picked(named(event)));
  canvas.addEventListener('pointermove', (event) => { canvas.style.cursor = named(event) ? 'pointer' : ''; });

  function hover(storage) {
    const box = plan?.boxes.find((b) => b.storage === storage);
    if (!box) return;
    const moved = focus !== storage;
    focus = storage;
    isKin = kinOf(known, storage);
    const tip = $('tip');
    tip.replaceChildren(...tooltipLines(known, box).map((line) => Object.assign(document.createElement('p'), { textContent: line })));
    tip.hidden = false;
    const [left, top] = tipPlace(box, tip.offsetWidth, tip.offsetHeight);
    Object.assign(tip.style, { left: `${left}px`, top: `${top}px` });
    if (moved) changed();
  }

  // Under its box or above it; beside its memory where it would cover the lens.
  function tipPlace(box, w, h) {
    const at = lens(plan, box);
    const { rect } = plan.memories.find((m) => m.device === box.device);
    const x = Math.max(0, Math.min(size.w - w, box.x));
    const under = box.y + box.h + 8;
    const places = [[x, under + h > size.h ? box.y - h - 8 : under], [rect.x + rect.w + 8, box.y], [rect.x - w - 8, box.y]];
    const kin = plan.boxes.filter((one) => isKin?.has(one.storage));
    const covers = ([left, top]) => kin.some((one) => one.x < left + w && left < one.x + one.w && one.y < top + h && top < one.y + one.h);
    const isFree = ([left, top]) => left >= 0 && left + w <= size.w && !(at && left < at.x + at.w && at.x < left + w && top < at.y + at.h && at.y < top + h);
    const [left, top] = places.find((one) => isFree(one) && !covers(one)) ?? places.find(isFree) ?? places[0];
    return [left, Math.max(0, top)];
  }

  function leave() {
    focus = 0;
    $('tip').hidden = true;
    changed();
  }

  /** Draws the arranged boxes. `moment`: what draw.js needs besides layout and theme. */
  function paint(moment) {
    if (!plan || !size.w) return;
    for (const memory of plan.memories) tell(memory, moment.now.memories.find((m) => m.device === memory.device));
    c.setTransform(size.scale, 0, 0, size.scale, 0, 0);
    const chosen = focus || within.storage;
    scene = { ...moment, layout: plan, theme: colors, scale: size.scale, focus: chosen, kin: focus ? isKin : within.storage ? kinOf(known, within.storage) : null, purpose: sums.storages };
    draw(c, scene);
  }

  /** What is on show, for another canvas: {w, h, draw(c), theme}; null before there is any. */
  const part = () => scene && { w: size.w, h: size.h, theme: colors, draw: (other) => draw(other, { ...scene, focus: 0, kin: null, purpose: null }) };

  // The heading's figures, for a pointer and for a screen reader.
  function tell({ device, head, lost }, is) {
    const node = headings.get(device) ?? document.createElement('div');
    const words = is ? `${memoryName(device)}: ${figures(is, lost)[0]}` : '';
    if (!headings.has(device)) {
      headings.set(device, node);
      node.setAttribute('role', 'img');
      node.style.position = 'absolute';
      $('spots').append(node);
    }
    node.hidden = !words; // the run has no such device
    if (node.title === words) return;
    node.title = words;
    node.setAttribute('aria-label', words);
    Object.assign(node.style, { left: `${head.x}px`, top: `${head.y}px`, width: `${head.w}px`, height: `${head.h - 4}px` });
  }

  // An error, for a pointer and for a screen reader.
  function tellWrong() {
    if (!wrong) {
      sign?.remove();
      sign = null;
      return;
    }
    if (!sign) {
      sign = Object.assign(document.createElement('div'), { id: 'wrong' });
      sign.setAttribute('role', 'img');
      sign.style.position = 'absolute';
      $('spots').append(sign);
    }
    sign.title = saying(wrong);
    sign.setAttribute('aria-label', sign.title);
    const { x, y, w, h } = placeOf(plan, wrong);
    Object.assign(sign.style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px` });
  }

  function measure() {
    const scale = sharpness($('stage'));
    if (!resized && scale === size.scale) return false;
    resized = false;
    const { clientWidth: width, clientHeight: height } = $('stage');
    if (!width || (width === size.w && height === size.h && scale === size.scale)) return false;
    size = { w: Math.floor(width), h: Math.floor(height), scale };
    canvas.width = Math.round(size.w * scale);
    canvas.height = Math.round(size.h * scale);
    Object.assign(canvas.style, { width: `${size.w}px`, height: `${size.h}px` }); // whole pixels: crisp text
    return true;
  }

  /** The theme may have changed. */
  function repaint() {
    colors = theme(getComputedStyle(document.body));
  }

  /** Boxes in page coordinates, for tests. */
  function boxes() {
    const at = canvas.getBoundingClientRect();
    return (plan?.boxes ?? []).map((b) => ({ ...b, pageX: b.x + at.x, pageY: b.y + at.y }));
  }

  return {
    arrange, paint, part, measure, repaint, boxes, memories: () => plan?.memories ?? [], focused: () => focus || within.storage,
    get settled() {
      return !placing;
    },
  };
}
