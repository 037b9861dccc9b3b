// Grades other ways to write the lessons' solutions that keep the values (equivalences.mjs). Usage:
//
//     node tests/mutants/equivalents.mjs BUILD MOST [ID ...]       at most MOST variants a lesson; LIST=FILE: all, with what they fail
//
// A variant passes, or fails only checks of what it spends. Prints a table, and what is wrong; exit status 1: a variant that
// fails something else, or that does not compile. Statements on trial are left out: there events are judged, and no values.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { equivalences } from './equivalences.mjs';
import { difference, edited, programOf } from './generate.mjs';

const [build, most, ...only] = process.argv.slice(2), ferry = path.resolve(build, 'ferry');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'ferry-equivalents-'));
process.on('exit', () => fs.rmSync(work, { recursive: true }));
const solution = id => fs.readFileSync(`lessons/${id}/solution.c`, 'utf8');

/** Evenly spaced ones of all: {name: "WAY/NUMBER", text}. */
function variantsOf(id) {
    const p = programOf(solution(id)), seen = new Set([p.text]), list = [];
    for (const [way, each] of Object.entries(equivalences))
        for (const [i, edits] of p.all.filter(s => s.judged).flatMap(s => [...each(p, s)]).entries()) {
            const text = edited(p.text, edits);
            if (text !== null && !seen.has(text)) seen.add(text), list.push({ id, name: `${way}/${i + 1}`, text });
        }
    const step = Math.max(1, list.length / most);
    return Array.from({ length: Math.min(most, list.length) }, (_, i) => list[Math.floor((i + ids.indexOf(id) / ids.length) * step)]);
}

function grade(list) {
    const rows = new Map();
    for (const v of list) {
        const folder = `${work}/class/${v.student}`;
        fs.mkdirSync(folder, { recursive: true });
        fs.writeFileSync(`${folder}/${v.id}.c`, v.text);
    }
    execFileSync(ferry, ['grade-class', `${work}/class`, '--csv', `${work}/rows.csv`, '--seconds', '10', '--jobs', String(os.availableParallelism())], { stdio: ['ignore', 'ignore', 'inherit'] });
    for (const line of fs.readFileSync(`${work}/rows.csv`, 'utf8').split('\n')) {
        const [, key, check, points, of, says] = line.match(/^(\d+,[^,]+),([^,]+),(\d+),[^,]*,(\d+),(.*)$/) ?? [];
        if (!rows.has(key)) rows.set(key, []);
        rows.get(key).push({ check, failed: points === '0' && says !== '' && check !== 'total' && (of !== '0' || check === 'ran'), says });
    }
    for (const v of list) {
        const own = rows.get(`${v.student},${v.id}`) ?? [];
        v.failed = own.filter(row => row.failed);
        v.graded = own.some(row => row.check === 'total' && /passed|failed/.test(row.says));
    }
}

/** What more work, memory and calls spend: time, memory, bytes copied within the card, copies and operations. A full card ends a run. */
const BUDGETS = new Set(['in-time', 'room-for-one-part', 'two-at-once', 'only-x-is-left', 'x-is-left', 'little-is-left', 'little-left',
    'nothing-left-of-a-step', 'memory-of-one-step', 'reserved-at-once', 'reserved-at-the-end', 'two-tables-at-once', 'no-table-left', 'freed-after-the-copy',
    'half-on-the-first-card', 'half-on-the-second-card', 'free-in-one-piece', 'few-bytes-within-the-card', 'small-experiment']);
const isSpent = (v, row) => BUDGETS.has(row.check) || v.failed.some(r => /out of memory/.test(r.says)) && /^(ran|answered)$/.test(row.check);

const ids = fs.readdirSync('lessons').sort().filter(id => !id.startsWith('m') && fs.existsSync(`lessons/${id}/solution.c`) && (!only.length || only.includes(id)));
const list = ids.flatMap(variantsOf), students = {};
for (const v of list) v.student = String(students[v.id] = (students[v.id] ?? 0) + 1).padStart(3, '0');
grade(list);
const row = (name, part) => [name.padEnd(20), ...[part.length, part.filter(v => !v.failed.length).length, part.filter(v => v.failed.length).length].map(n => String(n).padStart(9))].join(' ');
console.log(['lesson'.padEnd(20), ...['variants', 'passed', 'spent'].map(t => t.padStart(9))].join(' '));
for (const id of ids) console.log(row(id, list.filter(v => v.id === id)));
console.log(row('all', list));
const wrong = list.filter(v => !v.graded || v.failed.some(row => !isSpent(v, row)));
for (const v of wrong)
    console.log([`${v.id}/${v.name}:`, ...v.failed.filter(row => !isSpent(v, row)).map(row => `    ${row.check}: ${row.says}`),
        ...difference(solution(v.id), v.text).filter(line => /^- /.test(line) || /same|as_well|put_there\(|fy_/.test(line)).slice(-4).map(line => `    ${line}`)].join('\n'));
if (process.env.LIST) fs.writeFileSync(process.env.LIST, list.map(v => `${v.id}/${v.name}\t${v.failed.map(row => `${row.check}: ${row.says}`).join(' | ') || 'passed'}\n`).join(''));
process.exitCode = wrong.length ? 1 : 0;
