// sight_test.mjs: what the page tells by colour is told to every eye, as sight.mjs simulates it, light and dark; and
// text has contrast. No browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { NOW, PATTERNS, tensorStyle } from '../../www/stage/colours.js';
import { root } from './logs.mjs';
import { EYES, apart, contrast, distance, linear } from './sight.mjs';

const ALL = PATTERNS.length ** 2; // styles before they repeat
const CLEAR = 10; // CIEDE2000; side by side 2 can be seen

const tokens = (css) => Object.fromEntries([...css.matchAll(/--([\w-]+): (#\w{6});/g)].map(([, name, hex]) => [name, hex]));
const [LIGHT, DARK] = readFileSync(`${root}www/style.css`, 'utf8').split('@media (prefers-color-scheme: dark)').map((css) => tokens(css.slice(0, css.indexOf('\n}\n'))));
const THEMES = { light: LIGHT, dark: { ...LIGHT, ...DARK } };

/** For each eye and theme: at(eye, colours, name). */
function everywhere(at) {
  for (const eye of Object.keys(EYES)) for (const [name, colors] of Object.entries(THEMES)) at(eye, colors, `${name}, ${eye}`);
}

const over = (hue, ground, alpha) => `#${[1, 3, 5].map((i) => Math.round(parseInt(hue.slice(i, i + 2), 16) * alpha + parseInt(ground.slice(i, i + 2), 16) * (1 - alpha)).toString(16).padStart(2, '0')).join('')}`;

test('distance and simulation are those that were published', () => {
  const pairs = [[[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425], [[50, 2.5, 0], [73, 25, -18], 27.1492], [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
    [[50, -1.3802, -84.2814], [50, 0, -82.7485], 1], [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082]]; // Sharma, Wu, Dalal 2005, table 1
  for (const [a, b, expected] of pairs) assert.ok(Math.abs(distance(a, b) - expected) < 1e-4, `${distance(a, b)} for ${expected}`);
  for (const [eye, matrix] of Object.entries(EYES)) for (const row of matrix) assert.ok(Math.abs(row[0] + row[1] + row[2] - 1) < 2e-6, `${eye} sees grey as grey`);
  assert.deepEqual(linear('#ff0000'), [1, 0, 0]);
  assert.ok(Math.abs(contrast('#767676', '#ffffff') - 4.54) < 0.01);
});

test('two tensors differ in pattern, or colour for every eye', () => {
  for (let i = 0; i < ALL; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = [tensorStyle(i), tensorStyle(j)];
      if (a.pattern !== b.pattern) continue;
      for (const eye of Object.keys(EYES)) assert.ok(apart(eye, a.hue, b.hue) >= CLEAR, `${i} and ${j}, both ${a.pattern}: ${apart(eye, a.hue, b.hue).toFixed(1)} for ${eye}`);
    }
  }
});

// In a narrow box and in a short slice there is no room for a pattern.
test('the hues of seven tensors differ for every eye', () => {
  const hues = PATTERNS.map((_, i) => tensorStyle(i).hue);
  assert.equal(new Set(hues).size, PATTERNS.length);
  for (const eye of Object.keys(EYES)) {
    hues.forEach((a, i) => hues.slice(0, i).forEach((b) => assert.ok(apart(eye, a, b) >= CLEAR, `${a} and ${b}: ${apart(eye, a, b).toFixed(1)} for ${eye}`)));
  }
});

test('a box stands out of its ground for every eye', () => {
  everywhere((eye, colors, where) => {
    for (let i = 0; i < PATTERNS.length; i++) {
      const { hue } = tensorStyle(i);
      for (const ground of ['panel', 'paper']) assert.ok(contrast(hue, colors[ground], eye) >= 1.9 && apart(eye, hue, colors[ground]) > 20, `${hue} on ${ground}, ${where}: ${contrast(hue, colors[ground], eye).toFixed(2)}`);
    }
  });
});

test('what is written now stands out for every eye', () => {
  everywhere((eye, colors, where) => {
    assert.ok(apart(eye, NOW, colors.ink) > 30, `of brackets and rows, ${where}`);
    for (let i = 0; i < PATTERNS.length; i++) {
      const fill = over(tensorStyle(i).hue, colors.panel, 0.3);
      assert.ok(apart(eye, NOW, fill) > CLEAR, `${apart(eye, NOW, fill).toFixed(1)} in ${tensorStyle(i).hue}, ${where}`);
    }
  });
});

test('an error differs from what is written now', () => {
  everywhere((eye, colors, where) => assert.ok(apart(eye, colors.bad, NOW) > CLEAR, `${where}: ${apart(eye, colors.bad, NOW).toFixed(1)}`));
});

test('waiting, errors and what holds differ for every eye', () => {
  const pairs = [['wait', 'bad'], ['bad', 'good'], ['bad', 'ink'], ['wait', 'ink']];
  everywhere((eye, colors, where) => {
    for (const [a, b] of pairs) assert.ok(apart(eye, colors[a], colors[b]) > CLEAR, `${a} and ${b}, ${where}: ${apart(eye, colors[a], colors[b]).toFixed(1)}`);
  });
});

const TEXT = {
  ink: ['paper', 'panel', 'well', 'lit', 'bad-tint', 'good-tint', 'wait-tint'], soft: ['paper', 'panel', 'well', 'lit'], faint: ['paper', 'panel', 'well'],
  accent: ['paper', 'panel', 'well'], bad: ['paper', 'panel', 'bad-tint'], good: ['paper', 'panel', 'good-tint'], wait: ['paper', 'panel', 'lit', 'wait-tint'],
  cpu: ['paper', 'panel'], gpu: ['paper', 'panel'], 'on-accent': ['accent'], comment: ['panel', 'lit', 'bad-tint'], string: ['panel', 'lit', 'bad-tint'], word: ['panel', 'lit', 'bad-tint'], call: ['panel', 'lit', 'bad-tint'],
};

test('text has a contrast of 4.5, light and dark', () => {
  for (const [name, colors] of Object.entries(THEMES)) {
    for (const [text, grounds] of Object.entries(TEXT)) {
      for (const ground of grounds) assert.ok(contrast(colors[text], colors[ground]) >= 4.5, `${name}: ${text} on ${ground}: ${contrast(colors[text], colors[ground]).toFixed(2)}`);
    }
  }
});
