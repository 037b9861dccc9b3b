// saving.js: what leaves the page and what comes in: the log of the run and a picture of the step are saved as files, and a
// log that is dropped on the page, or chosen, is opened.

import { readLog } from './log_file.js';
import { canvasOf, svgOf } from './picture.js';

const $ = (id) => document.getElementById(id);

/**
 * on: {run() -> the run on show, shot() -> what picture.js draws, log(run) -> its text from the server or null, opened(name,
 * reader), failed(words)}. Returns {open(): the dialog}.
 */
export function saving(on) {
  const nameOf = (run) => (run.label || 'run').split('/').pop().replace(/\.jsonl$|\.c$/, '').replace(/[^\w.-]+/g, '-') || 'run';

  function download(blob, name) {
    const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  async function attempt(action) {
    try {
      await action();
      $('saving').close();
    } catch (error) {
      $('saving').close();
      on.failed(error.message);
    }
  }

  async function saveLog() {
    const run = on.run();
    const text = await on.log(run) ?? `${run.events.map((e) => JSON.stringify(e)).join('\n')}\n`;
    download(new Blob([text], { type: 'application/x-ndjson' }), `${nameOf(run)}.jsonl`);
  }

  function savePicture(kind) {
    const { run, step, shot } = on.shot();
    const name = `${nameOf(run)}-step${step}.${kind}`;
    if (kind === 'svg') return download(new Blob([svgOf(shot)], { type: 'image/svg+xml' }), name);
    return new Promise((done, failed) => {
      canvasOf(shot).toBlob((blob) => {
        if (!blob) return failed(new Error('The browser made no picture of it. Make the window smaller and try again.'));
        download(blob, name);
        return done();
      });
    });
  }

  async function take(files) {
    for (const file of files) {
      try {
        on.opened(file.name, await readLog(file));
      } catch (error) {
        on.failed(error.message);
      }
    }
  }

  function open() {
    for (const what of ['log', 'png', 'svg']) $(`save-${what}`).disabled = !on.run()?.steps.length;
    $('saving').showModal();
  }

  $('save-run').addEventListener('click', open);
  $('save-log').addEventListener('click', () => attempt(saveLog));
  for (const kind of ['png', 'svg']) $(`save-${kind}`).addEventListener('click', () => attempt(() => savePicture(kind)));
  $('open-log').addEventListener('click', () => $('log-file').click());
  $('log-file').addEventListener('change', () => {
    $('saving').close();
    take([...$('log-file').files]).finally(() => { $('log-file').value = ''; });
  });

  // A file that is dropped; text that is dragged into the editor is the editor's.
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
  document.addEventListener('dragover', (event) => holdsFiles(event) && event.preventDefault());
  document.addEventListener('drop', (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    take([...event.dataTransfer.files]);
  });

  return { open };
}
