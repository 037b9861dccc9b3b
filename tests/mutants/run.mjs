// Grades variants of the lessons' solutions, and tells which pass although they do something else. Usage:
//
//     node tests/mutants/run.mjs BUILD MOST [ID ...]       at most MOST variants a lesson; LIST=FILE: all, with their ends
//
// A lesson's variants are handed in by as many students of a class (`ferry grade-class`). Of each that passes, the
// canonical log (canonical.mjs) is compared with that of the solution: if it is the same, the variant is equivalent, and
// does not count. tests/mutants/survivors.txt lists the others that may pass: "ID/OPERATOR/NUMBER: why". Prints a table,
// and what is wrong; exit status 1: an unlisted survivor, a listed one that is none, a check that crashed, too many.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { canonical } from './canonical.mjs';
import { difference, variantsOf } from './generate.mjs';

const [build, most, ...only] = process.argv.slice(2), ferry = path.resolve(build, 'ferry'), SHARE = 0.02;
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'ferry-mutants-'));
process.on('exit', () => fs.rmSync(work, { recursive: true }));
const solution = id => fs.readFileSync(`lessons/${id}/solution.c`, 'utf8');

function handIn(ids) { // as WORK/class/NN/ID.c
    const list = [];
    for (const id of ids)
        for (const [i, v] of variantsOf(solution(id), most).entries()) {
            const student = String(i + 1).padStart(2, '0'), folder = `${work}/class/${student}`;
            fs.mkdirSync(folder, { recursive: true });
            fs.writeFileSync(`${folder}/${id}.c`, v.text);
            list.push({ ...v, id, key: `${id}/${v.name}`, row: `${student},${id},`, file: `${folder}/${id}.c` });
        }
    return list;
}

/** Sets `end` of each: "refused" by the compiler, "passed", "killed" by a check, or "crashed" it. */
function grade(list) {
    execFileSync(ferry, ['grade-class', `${work}/class`, '--csv', `${work}/rows.csv`, '--seconds', '5'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const rows = new Map(list.map(v => [v.row, []]));
    for (const line of fs.readFileSync(`${work}/rows.csv`, 'utf8').split('\n')) rows.get(line.match(/^\d+,[^,]+,/)?.[0])?.push(line.replace(/^\d+,[^,]+,/, ''));
    for (const v of list) {
        const own = rows.get(v.row), judged = own.some(line => !/^(ran|total|submitted|other-inputs),/.test(line));
        v.end = own.some(line => line.endsWith(',passed')) ? 'passed' : judged ? 'killed' : own.some(line => /the check itself|by hand/.test(line)) ? 'crashed' : 'refused';
    }
}

/** The canonical log of a run of this text as the lesson's file. */
async function logOf(id, text) {
    const folder = fs.mkdtempSync(`${work}/my-`), log = `${folder}/log.jsonl`;
    fs.writeFileSync(`${folder}/${id}.c`, text);
    await promisify(execFile)(ferry, ['run', id, '--seconds', '5', '--trace', log], { env: { ...process.env, FERRY_MY: folder }, maxBuffer: 1 << 28 });
    const lines = canonical(fs.readFileSync(log, 'utf8'));
    fs.rmSync(folder, { recursive: true });
    return lines;
}

/** "equivalent" or "survivor" for each that passed. */
async function compare(list) {
    const passed = list.filter(v => v.end === 'passed'), solved = new Map();
    const turn = async () => {
        for (let v; (v = passed.shift());) {
            if (!solved.has(v.id)) solved.set(v.id, logOf(v.id, solution(v.id)));
            v.end = await logOf(v.id, v.text) === await solved.get(v.id) ? 'equivalent' : 'survivor';
        }
    };
    await Promise.all(Array.from({ length: os.availableParallelism() }, turn));
}

const share = (a, b) => `${(100 * a / b).toFixed(1)} %`;
function report(list, ids) {
    const ends = ['equivalent', 'killed', 'survivor'], row = (name, part) => [name.padEnd(20),
        ...[part.filter(v => v.end !== 'refused').length, ...ends.map(end => part.filter(v => v.end === end).length)].map(n => String(n).padStart(10))].join(' ');
    console.log(['lesson'.padEnd(20), ...['variants', 'equivalent', 'killed', 'survivors'].map(t => t.padStart(10))].join(' '));
    for (const id of ids) console.log(row(id, list.filter(v => v.id === id)));
    console.log(row('all', list));
}

function judge(list, ids) {
    const listed = new Map(fs.readFileSync('tests/mutants/survivors.txt', 'utf8').split('\n').filter(line => /^[^#]/.test(line)).map(line => line.split(': ')));
    const survivors = list.filter(v => v.end === 'survivor'), counted = list.filter(v => v.end === 'killed' || v.end === 'survivor'), wrong = [];
    for (const v of survivors)
        if (!listed.has(v.key)) wrong.push(`${v.key} passes, and did something else:\n    ${difference(solution(v.id), v.text).join('\n    ')}`);
    for (const key of listed.keys())
        if (ids.includes(key.split('/')[0]) && !survivors.some(v => v.key === key)) wrong.push(`${key} is listed, and no survivor any more`);
    for (const v of list.filter(v => v.end === 'crashed')) wrong.push(`${v.key} crashes the check`);
    if (!only.length && counted.length < 500) wrong.push(`${counted.length} variants that do something else are fewer than 500`);
    if (!only.length && survivors.length > SHARE * counted.length) wrong.push(`${survivors.length} survivors are more than ${share(SHARE, 1)}`);
    console.log(`${survivors.length} of ${counted.length} variants that do something else pass: ${share(survivors.length, counted.length)}`);
    wrong.forEach(line => console.log(line));
    return !wrong.length;
}

const ids = fs.readdirSync('lessons').sort().filter(id => fs.existsSync(`lessons/${id}/solution.c`) && (!only.length || only.includes(id)));
const list = handIn(ids);
grade(list);
await compare(list);
report(list, ids);
if (process.env.LIST) fs.writeFileSync(process.env.LIST, list.map(v => `${v.end}\t${v.key}\t${difference(solution(v.id), v.text).join('  ')}\n`).join(''));
process.exitCode = judge(list, ids) ? 0 : 1;
