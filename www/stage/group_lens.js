// group_lens.js: the lens over a group of small boxes (groups.js): a list of its tensors, each with its name, shape, bytes and line.
// A group is one button; pointing at it or the focus opens the list, a click, a tap or Enter goes into it, where each tensor is a
// button that opens the inspector and shows its place in the picture.

import * as units from '../model/units.js';
import { memoryName } from '../model/words.js';
import { handleOf } from '../model/state.js';
import { tensorStyle } from './colours.js';
import { groupWords } from './groups.js';

const $ = (id) => document.getElementById(id);
const LISTED = 1000; // tensors in a list at most
const LINGER = 200; // ms that it stays when the pointer leaves

/** on: {focus(storage): it is pointed at, 0: none is; picked({storage, tensor})}. */
export function groupLens(on) {
  const root = $('lens');
  const spots = []; // a button for each group
  let groups = [];
  let known = null; // the state on show
  let open = -1; // the group that is listed
  let storage = 0; // of the tensor that is pointed at
  let leaving = 0; // a timer

  const deviceOf = ({ members }) => known.storages.get(members[0].storage)?.device ?? 'cpu';
  const bytesOf = ({ members }) => members.reduce((sum, one) => sum + (known.storages.get(one.storage)?.asked ?? 0), 0);
  const titleOf = (group) => `${groupWords(group)[0]}, ${units.bytes(bytesOf(group))} in ${memoryName(deviceOf(group))}`;

  /** The groups of a new layout. */
  function place(now, state) {
    [groups, known] = [now, state];
    while (spots.length < groups.length) add(spots.length);
    for (const spot of spots.splice(groups.length)) spot.remove();
    for (const [i, group] of groups.entries()) {
      const label = `${titleOf(group)}. Enter lists them.`;
      if (spots[i].getAttribute('aria-label') !== label) spots[i].setAttribute('aria-label', label);
      Object.assign(spots[i].style, { left: `${group.x}px`, top: `${group.y}px`, width: `${group.w}px`, height: `${group.h}px` });
    }
    if (open >= groups.length) close();
    else if (open >= 0) list(open);
  }

  function add(i) {
    const spot = Object.assign(document.createElement('button'), { type: 'button', className: 'group' });
    spot.setAttribute('aria-expanded', 'false');
    spot.setAttribute('aria-controls', 'lens');
    spot.addEventListener('pointermove', (event) => event.pointerType !== 'touch' && show(i, event.offsetX));
    spot.addEventListener('focus', () => open !== i && show(i));
    spot.addEventListener('keydown', (event) => event.key === 'Escape' && close());
    spot.addEventListener('pointerleave', linger);
    spot.addEventListener('blur', linger);
    spot.addEventListener('click', (event) => {
      show(i, event.detail ? event.offsetX : undefined);
      (item(storage) ?? root.querySelector('button')).focus();
    });
    $('spots').append(spot);
    spots.push(spot);
  }

  const item = (id) => root.querySelector(`[data-storage="${id}"]`);

  // Opens the list, at the tensor that lies x px from the group's edge.
  function show(i, x) {
    clearTimeout(leaving);
    if (open !== i) list(i);
    if (x === undefined) return;
    const { members, x: left } = groups[i];
    const one = members.findLast((member) => member.x <= left + x) ?? members[0];
    point(one.storage);
    item(one.storage)?.scrollIntoView({ block: 'nearest' });
  }

  function point(id) {
    if (storage === id) return;
    item(storage)?.classList.remove('at');
    item(id)?.classList.add('at');
    storage = id;
    on.focus(id);
  }

  function list(i) {
    const had = document.activeElement?.closest('#lens') ? document.activeElement.dataset.storage : '';
    const scrolled = root.querySelector('ul')?.scrollTop ?? 0;
    if (open >= 0) spots[open]?.setAttribute('aria-expanded', 'false');
    open = i;
    const group = groups[i];
    const facts = group.members.slice(0, LISTED).map(factsOf);
    const same = facts.every((one) => one === facts[0]); // told once
    const rows = facts.map((one, k) => row(group.members[k], same ? '' : one));
    const title = Object.assign(document.createElement('p'), { textContent: `${titleOf(group)}${same ? `, each ${facts[0]}` : ''}${group.members.length > LISTED ? `; the first ${LISTED} by address` : ''}` });
    root.classList.toggle('same', same);
    const all = document.createElement('ul');
    all.append(...rows);
    root.replaceChildren(title, all);
    root.hidden = false;
    root.setAttribute('aria-label', title.textContent);
    spots[i].setAttribute('aria-expanded', 'true');
    const { clientWidth: w, clientHeight: h } = $('stage');
    const under = group.y + group.h + 6;
    root.style.maxHeight = `${Math.max(120, Math.min(280, Math.max(h - under, group.y) - 10))}px`;
    const top = under + root.offsetHeight <= h ? under : Math.max(0, group.y - 6 - root.offsetHeight);
    Object.assign(root.style, { left: `${Math.max(0, Math.min(w - root.offsetWidth, group.x))}px`, top: `${top}px` });
    all.scrollTop = scrolled;
    if (had) (item(had) ?? root.querySelector('button')).focus();
  }

  function factsOf({ storage: id }) {
    const made = known.storages.get(id);
    const handle = made && handleOf(known, made);
    const line = made?.created?.line ? `, line ${made.created.line}` : '';
    return `${handle ? `${units.shape(handle.shape)} ${handle.dtype}, ` : ''}${units.bytes(made?.asked ?? 0)}${line}`;
  }

  function row({ storage: id, name, index }, facts) {
    const button = Object.assign(document.createElement('button'), { type: 'button' });
    button.dataset.storage = id;
    const dot = document.createElement('i');
    dot.style.background = tensorStyle(index).hue;
    button.append(dot, Object.assign(document.createElement('b'), { textContent: name || `storage ${id}` }), ` ${facts}`);
    button.addEventListener('pointerenter', () => point(id));
    button.addEventListener('focus', () => point(id));
    button.addEventListener('click', () => on.picked({ storage: id, tensor: 0 }));
    const li = document.createElement('li');
    li.append(button);
    return li;
  }

  // Unless the pointer or the focus goes between the group and its list.
  function linger() {
    clearTimeout(leaving);
    leaving = setTimeout(() => {
      const inside = document.activeElement?.closest('#lens') || spots.includes(document.activeElement) || root.matches(':hover') || spots[open]?.matches(':hover');
      if (!inside) close();
    }, LINGER);
  }

  function close() {
    spots[open]?.setAttribute('aria-expanded', 'false');
    open = -1;
    root.hidden = true;
    point(0);
  }

  root.addEventListener('pointerleave', linger);
  root.addEventListener('focusout', linger);
  root.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const all = [...root.querySelectorAll('button')];
    if (step) all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))].focus();
    else if (event.key === 'Escape') {
      const spot = spots[open];
      close();
      spot?.focus();
      close(); // by keyboard one has left it: the focus alone does not open it again
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener('pointerdown', (event) => open >= 0 && !event.target.closest('#lens') && !spots.includes(event.target) && close());

  return {
    place,
    /** The storage that is pointed at in it; 0: none is. */
    get storage() {
      return storage;
    },
  };
}
