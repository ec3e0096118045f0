// The entries of docs/operating/runbook.md, as its tests walk them: what stands there is what is run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/command.ts';

const RUNBOOK = readFileSync(join(ROOT, 'docs/operating/runbook.md'), 'utf8');

/** The entries by their headings. */
export const ENTRIES: ReadonlyMap<string, string> = new Map(
  RUNBOOK.slice(RUNBOOK.indexOf('\n## What to do when'))
    .split(/^### /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text.slice(text.indexOf('\n') + 1)]),
);

/** The text of an entry. Fails where there is none. */
export function entry(heading: string): string {
  const text = ENTRIES.get(heading);
  assert.ok(text, `the runbook has no entry "${heading}"`);
  return text;
}

/** The SQL statement of an entry that begins so, up to its semicolon. */
export function statementOf(heading: string, beginning: string): string {
  const text = entry(heading);
  const from = text.indexOf(beginning);
  assert.ok(from >= 0, `"${heading}" has no statement that begins with ${beginning}`);
  return text.slice(from, text.indexOf(';', from));
}
