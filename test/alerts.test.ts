// The rules for Prometheus: each says how urgent it is and leads to its entry in the runbook, and promtool takes and tries them.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFileSync(ROOT + file, 'utf8');
const SKIP =
  spawnSync('promtool', ['--version']).status === 0 ? false : 'promtool is missing (Debian: prometheus)';

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

const { groups } = parse(read('deploy/alerts.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

const kebab = (name: string) => name.replace(/(?<!^)[A-Z]/g, '-$&').toLowerCase();

test('each alert says how urgent it is and what is the matter, and leads to its entry in the runbook.', () => {
  const headings = [...read('docs/operating/runbook.md').matchAll(/^### (\S+)$/gm)].map(([, name]) => name);
  assert.ok(rules.length >= 15);
  for (const { alert, labels, annotations } of rules) {
    assert.match(labels.severity, /^(page|ticket)$/, alert);
    assert.ok(annotations.summary.length > 10, alert);
    assert.equal(annotations.runbook, `docs/operating/runbook.md#${kebab(alert)}`);
    assert.ok(headings.includes(kebab(alert)), `the runbook has no entry ### ${kebab(alert)}`);
  }
  const entries = headings.filter((name) => name!.startsWith('counterfoil-'));
  assert.deepEqual(
    entries,
    rules.map(({ alert }) => kebab(alert)),
    'one entry for each alert, in their order',
  );
});

test('docs/metrics.md lists every alert.', () => {
  const page = read('docs/metrics.md');
  for (const { alert } of rules) assert.ok(page.includes(`\`${alert}\``), alert);
});

test('promtool takes the rules.', { skip: SKIP }, () => {
  const out = execFileSync('promtool', ['check', 'rules', '--lint-fatal', `${ROOT}deploy/alerts.yml`], {
    encoding: 'utf8',
  });
  assert.match(out, new RegExp(`SUCCESS: ${rules.length} rules found`));
});

test('each alert fires at its fault and is silent while all is well.', { skip: SKIP }, () => {
  const files = ['test/alerts.promtool.yml', 'test/alerts-days.promtool.yml'];
  const args = ['test', 'rules', ...files.map((file) => ROOT + file)];
  const { stdout, stderr, status } = spawnSync('promtool', args, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  const tried = files.map(read).join('');
  for (const { alert } of rules)
    for (const end of ['fires', 'is silent'])
      assert.ok(tried.includes(`- name: ${alert} ${end}\n`), `${alert} ${end}`);
});
