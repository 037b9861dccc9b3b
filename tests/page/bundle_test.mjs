// bundle_test.mjs: bundle.awk joins modules into one script, or says which import or export it does not understand.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from './logs.mjs';

/** files: {path: text}, among them main.js. */
function joined(files) {
  const folder = mkdtempSync(join(tmpdir(), 'ferry-bundle-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { status, stdout, stderr } = spawnSync('awk', ['-v', `roots=${folder}/none ${folder}`, '-f', join(root, 'viewer/server/bundle.awk'), 'main.js'], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return { status, text: stdout, said: stderr.trim() };
}

test('modules find each other in folders, each is run once', () => {
  const { status, text } = joined({
    'main.js': "import { twice as double } from './a/twice.js';\nimport * as all from './b/count.js';\nglobalThis.found = [double(all.next()), all.next(), typeof Count, '</script>'];\n",
    'a/twice.js': "import { next } from '../b/count.js';\nnext();\nexport const twice = (n) => 2 * n;\n",
    'b/count.js': 'let n = 0;\nexport function next() {\n  return ++n;\n}\nexport class Count {}\n',
  });
  assert.equal(status, 0);
  assert.equal(text.includes('</script'), false, 'a script element would end there');
  new Function(text)();
  assert.deepEqual(globalThis.found, [4, 3, 'undefined', '</script>']);
});

test('an unknown form is refused with its file', () => {
  const one = 'export const one = 1;\n';
  for (const [files, said] of [
    [{ 'main.js': "import { two } from './one.js';\n", 'one.js': one }, 'www/main.js: one.js exports no two'],
    [{ 'main.js': "import { one } from './on.js';\n", 'one.js': one }, 'www/on.js: there is no such file'],
    [{ 'main.js': "import one from './one.js';\n", 'one.js': one }, "www/main.js: an import in another form: import one from './one.js';"],
    [{ 'main.js': "import {\n  one,\n} from './one.js';\n", 'one.js': one }, 'www/main.js: an import in another form: import {'],
    [{ 'main.js': 'export default 1;\n' }, 'www/main.js: an export in another form: export default 1;'],
    [{ 'main.js': "import { a } from './a.js';\n", 'a.js': "import { b } from './b.js';\nexport const a = 1;\n", 'b.js': "import { a } from './a.js';\nexport const b = 1;\n" }, 'www/a.js: it imports itself by way of others'],
  ]) {
    const { status, said: words } = joined(files);
    assert.deepEqual([status, words], [1, said]);
  }
});
