// next_test.mjs: which action comes next, without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextAction, STEPS } from '../../www/lessons/next.js';

const at = (state) => {
  const { step, act } = nextAction({ guessing: false, watched: false, playing: false, editing: false, dirty: false, verdict: '', line: 0, last: false, ...state });
  return `${STEPS[step]}: ${act}`;
};

test('predict, watch, edit, check, next: one after the other', () => {
  assert.equal(at({ guessing: true }), 'Predict: predict');
  assert.equal(at({ playing: true }), 'Watch: end');
  assert.equal(at({}), 'Watch: watch');
  assert.equal(at({ watched: true }), 'Edit: edit');
  assert.equal(at({ watched: true, playing: true }), 'Edit: edit');
  assert.equal(at({ watched: true, editing: true }), 'Edit: check');
  assert.equal(at({ watched: true, verdict: 'busy' }), 'Edit: wait');
  assert.equal(at({ watched: true, editing: true, verdict: 'fail', line: 13 }), 'Edit: line');
  assert.equal(at({ watched: true, editing: true, verdict: 'fail', dirty: true }), 'Edit: check');
  assert.equal(at({ watched: true, verdict: 'pass' }), 'Next: next');
  assert.equal(at({ watched: true, verdict: 'pass', last: true }), 'Next: over');
});

test('who skips the question and passes is led on', () => {
  assert.equal(at({ guessing: true, verdict: 'pass' }), 'Next: next');
  assert.equal(at({ guessing: true, editing: true, dirty: true }), 'Edit: check');
});

test('a failed line is named', () => {
  assert.equal(nextAction({ verdict: 'fail', line: 13 }).words, 'Edit line 13');
  assert.equal(nextAction({ verdict: 'fail', line: 0 }).words, 'Edit');
});
