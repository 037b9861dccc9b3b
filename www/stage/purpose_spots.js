// purpose_spots.js: the summaries under the maps (spans.js) as buttons: pointing at one, the focus or a tap lights all of its boxes.

import * as units from '../model/units.js';
import { memoryName } from '../model/words.js';

const $ = (id) => document.getElementById(id);

/** changed(): draw again. */
export function purposeSpots(changed) {
  const spots = new Map(); // device and purpose -> {button, is: what it says and where}
  let items = new Map(); // the same -> the item of the summary
  let chosen = '';

  /** The summaries of a new layout. */
  function place(memories) {
    items = new Map(memories.flatMap(({ device, summary }) => summary.map((item) => [`${device} ${item.kind}`, { ...item, device }])));
    for (const [key, { button }] of spots) {
      if (items.has(key)) continue;
      button.remove();
      spots.delete(key);
    }
    for (const [key, item] of items) {
      const spot = spots.get(key) ?? add(key);
      const label = `${item.titles[0]}: ${units.bytes(item.bytes)} in ${memoryName(item.device)}, ${units.plural(item.storages.length, 'storage')}`;
      const is = [label, item.x, item.y, item.w].join();
      if (is === spot.is) continue;
      spot.is = is;
      spot.button.title = label;
      spot.button.setAttribute('aria-label', label);
      Object.assign(spot.button.style, { left: `${item.x - 3}px`, top: `${item.y - 8}px`, width: `${item.w + 4}px`, height: '16px' });
    }
  }

  function add(key) {
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'purpose' });
    const spot = { button, is: '' };
    const light = (which) => () => {
      if (chosen === which) return;
      chosen = which;
      changed();
    };
    for (const type of ['pointerenter', 'focus', 'click']) button.addEventListener(type, light(key));
    for (const type of ['pointerleave', 'blur']) button.addEventListener(type, light(''));
    $('spots').append(button);
    spots.set(key, spot);
    return spot;
  }

  return {
    place,
    /** The storages of the one that is chosen; null: none is. */
    get storages() {
      return chosen && items.has(chosen) ? new Set(items.get(chosen).storages) : null;
    },
  };
}
