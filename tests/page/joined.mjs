// joined.mjs: the page's modules as one script. A page with a hundred modules takes the browser a second to fetch under
// the tests' eyes; as one script, half of that. Those of the real server are fetched one by one.
import { posix } from 'node:path';

const IMPORT = /^import (?:\{([^}]*)\}|\* as (\w+)) from '(\.[^']+)';$/gm;
const LIBRARY = /^import '(\.[^']+)';$/gm;
const EXPORT = /^export ((?:async )?function\*?|const|class) (\w+)/gm;

/** The text of a module script that is what `entry` and all that it imports are. read: a path as in folder www -> its text. */
export function joined(read, entry) {
  const done = new Map(); // path -> the names that it exports
  const libraries = [];
  const parts = [];

  function add(path) {
    if (done.has(path)) return;
    done.set(path, null); // a module that comes back to itself has no names yet, and is refused
    const text = read(path);
    const at = (to) => posix.join(posix.dirname(path), to);
    for (const [, , , to] of text.matchAll(IMPORT)) add(at(to));
    for (const [, to] of text.matchAll(LIBRARY)) libraries.push(`import './${at(to)}';\n`);
    const names = [...text.matchAll(EXPORT)].map(([, , name]) => name);
    const body = text.replace(LIBRARY, '').replace(EXPORT, '$1 $2').replace(IMPORT, (_, some, all, to) => {
      const from = `modules[${JSON.stringify(at(to))}]`;
      if (all) return `const ${all} = ${from};`;
      const wanted = some.split(',').map((one) => one.trim()).filter(Boolean);
      for (const one of wanted) if (!done.get(at(to))?.includes(one.split(' ')[0])) throw new Error(`${path}: ${at(to)} exports no ${one}`);
      return `const { ${wanted.map((one) => one.replace(' as ', ': ')).join(', ')} } = ${from};`;
    });
    if (/^(?:import|export)\b/m.test(body)) throw new Error(`${path} has an import or export in another form`);
    parts.push(`modules[${JSON.stringify(path)}] = (() => {\n${body}\nreturn { ${names.join(', ')} };\n})();\n`);
    done.set(path, names);
  }

  add(entry);
  return [...libraries, 'const modules = {};\n', ...parts].join('');
}
