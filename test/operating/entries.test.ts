// Every entry of the runbook: it says what to look at and what to do, and how its steps were tried.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../support/command.ts';
import { ENTRIES } from './runbook.ts';

const ALERT = /^counterfoil-/;
const BY_TEST = /^\*Walked\* by ((?:`test\/[\w/-]+\.test\.ts`(?:, )?)+)\.$/m;
const BY_HAND = /^\*Walked\* by hand, last on (\d{1,2} [A-Z][a-z]{2} 20\d\d)\.$/m;
const cases = [...ENTRIES].filter(([heading]) => !ALERT.test(heading));
const alerts = [...ENTRIES].filter(([heading]) => ALERT.test(heading));

const headings = [...ENTRIES.keys()].map((heading) => heading.toLowerCase().replaceAll(' ', '-'));

function requireWalked(heading: string, text: string): void {
  const tests = BY_TEST.exec(text)?.[1]?.match(/test\/[\w/-]+\.test\.ts/g);
  const day = BY_HAND.exec(text)?.[1];
  assert.ok(
    tests || (day && Number.isFinite(Date.parse(`${day} UTC`))),
    `"${heading}" does not say how it was walked`,
  );
  for (const file of tests ?? [])
    assert.ok(existsSync(join(ROOT, file)), `"${heading}": ${file} is not there`);
}

test('each entry was walked: by tests that are there, or by hand on a day', () => {
  assert.ok(cases.length >= 20);
  for (const [heading, text] of cases) requireWalked(heading, text);
});

test('each alert leads to an entry that was walked, or was walked itself', () => {
  for (const [heading, text] of alerts) {
    const does = text.slice(text.indexOf('\n*Do*: '));
    const leadsTo = [...does.matchAll(/\]\(#([\w-]+)\)/g)].map(([, name]) => name!);
    for (const name of leadsTo) assert.ok(headings.includes(name), `"${heading}" leads to ${name}`);
    if (leadsTo.length === 0) requireWalked(heading, text);
  }
});

test('each alert says what it means, where to look and what to do', () => {
  assert.ok(alerts.length >= 15);
  for (const [heading, text] of alerts)
    for (const part of ['*Symptom*: ', '*Look*: ', '*Do*: '])
      assert.ok(text.includes(`\n${part}`), `${heading} has no ${part}`);
});
