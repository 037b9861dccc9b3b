// visit.js: goes where a link points: to a run, and to a step or a time of it, as soon as they have arrived. What is not
// there is said, with what is. Pure but for its host.

import { closest } from './closest.js';

/** host: {runs: Map, shown(), select(run), go(step), seek(t), say(words)}. */
export function visits(host) {
  let asked = { wrong: [] };

  const known = () => [...host.runs.keys()].filter((number) => number > 0);

  function missingRun(number) {
    const all = known();
    host.say(`The link asks for run ${number}, which is not here. ${all.length ? `Run${all.length > 1 ? 's' : ''} ${all.join(', ')} ${all.length > 1 ? 'are' : 'is'} available (the last 16 are kept).` : 'No run is here yet.'}`);
  }

  /** Which of the server's runs to show; 0: none of them. current: the newest. */
  function pick(current) {
    for (const wrong of asked.wrong) host.say(`The link has ${wrong}, but the number must be 1 or more.`);
    asked.wrong = [];
    if (asked.run && host.runs.has(asked.run)) return asked.run;
    if (asked.run) {
      missingRun(asked.run);
      asked = { lesson: asked.lesson, wrong: [] };
    }
    if (asked.lesson) return known().filter((number) => host.runs.get(number).lesson === asked.lesson).at(-1) ?? 0;
    const kept = host.shown()?.number;
    return kept && host.runs.has(kept) ? kept : current;
  }

  /** The lesson to open, of `ids`; null: the link names none of them. */
  function lesson(ids) {
    const wanted = asked.lesson;
    delete asked.lesson;
    if (!wanted || ids.includes(wanted)) return wanted ?? null;
    const near = closest(wanted, ids);
    host.say(`The link asks for the lesson ${wanted}, which is not here.${near ? ` Did you mean ${near}?` : ''}`);
    return null;
  }

  /** Events have arrived, or the last of them. */
  function arrived() {
    const run = host.shown();
    if (!run || (asked.run && asked.run !== run.number)) return;
    if (asked.t !== undefined && (run.ended || run.total >= asked.t)) {
      host.seek(asked.t);
      asked = { wrong: [] };
    } else if (asked.step && (asked.step < run.steps.length || (run.ended && asked.step === run.steps.length))) {
      host.go(asked.step - 1);
      asked = { wrong: [] };
    } else if (asked.step && run.ended) {
      host.say(`There is no step ${asked.step}: this run has ${run.steps.length}.`);
      asked = { wrong: [] };
    }
  }

  const ask = (link) => { asked = { ...link }; };

  return {
    pick, lesson, arrived, ask,
    /** A new link. */
    go(link, current) {
      ask(link);
      const number = pick(current);
      if (number && number !== host.shown()?.number) host.select(host.runs.get(number));
      arrived();
    },
    /** The reader chose something else meanwhile. */
    forget() {
      asked = { wrong: [] };
    },
  };
}
