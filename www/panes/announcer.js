// announcer.js: what a screen reader is told of the run without asking. Paused, or step by step: the sentence, as it is
// shown; steps that follow each other faster than one can listen are told as the last of them. While the run plays: a
// summary every few seconds. When it has played to its end: that, and what it has cost.

const BETWEEN = 5000; // ms between two summaries
const REST = 350; // ms: a sentence is told when none has followed it for so long

/** node: the live region. time: {now() -> ms, later(act, ms) -> a number, never(number)}; a browser's own unless told. */
export function announcer(node, time = { now: () => performance.now(), later: setTimeout.bind(window), never: clearTimeout.bind(window) }) {
  let wanted = null; // not told yet
  let timer = 0;
  let told = -Infinity; // when; and when the sentence was last another
  let changed = -Infinity;
  let played = null; // since when

  function tell(words) {
    told = time.now();
    if (node.textContent !== words) node.textContent = words;
  }

  function soon(words) {
    if (words === wanted) return;
    wanted = words;
    time.never(timer);
    const alone = time.now() - changed >= REST;
    changed = time.now();
    if (alone) tell(words);
    else timer = time.later(() => tell(words), REST);
  }

  /** At each frame. sentence: of the step or moment; summary(): what it has cost so far, in short. */
  function show({ playing, atEnd }, sentence, summary) {
    if (playing) return playedOn(summary);
    const ended = played !== null && atEnd;
    played = null;
    if (!ended) return soon(sentence);
    wanted = sentence;
    return tell(`${sentence} End of the run: ${summary()}`);
  }

  function playedOn(summary) {
    time.never(timer);
    wanted = null;
    played ??= time.now();
    if (time.now() - Math.max(told, played) >= BETWEEN) tell(summary());
  }

  return { show };
}
