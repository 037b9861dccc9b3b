// presenter.js: for a projector: the picture, its sentence and the controls alone, and larger. style.css does it.

/** changed(): the picture needs a new layout. Returns {toggle, leave() -> was it on?}. */
export function presenter(changed) {
  const $ = (id) => document.getElementById(id);
  const { dataset } = document.body;
  function set(on) {
    if (on) dataset.presenter = 'on';
    else delete dataset.presenter;
    changed();
  }
  $('present').addEventListener('click', () => {
    $('keys').close();
    set(true);
    $('leave').focus();
  });
  $('leave').addEventListener('click', () => set(false));
  return {
    toggle: () => set(!dataset.presenter),
    leave() {
      const was = !!dataset.presenter;
      if (was) set(false);
      return was;
    },
  };
}
