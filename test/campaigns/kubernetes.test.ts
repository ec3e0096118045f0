// deploy/kubernetes.yaml against the schemas of Kubernetes' own API, which npm has as the package kubernetes-models. No cluster is started.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../support/command.ts';

const PACKAGES = ['kubernetes-models@5.1.0', '@kubernetes-models/validate@5', '@kubernetes-models/base@6'];
/** Below these, names are the author's own. */
const FREE = new Set(['data', 'stringData', 'labels', 'matchLabels', 'selector', 'limits', 'requests']);

const documents = parseAllDocuments(readFileSync(join(ROOT, 'deploy/kubernetes.yaml'), 'utf8')).map((one) =>
  one.toJS(),
);

/** The names of fields, but those that are the author's own. */
function names(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(names);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    name,
    ...(FREE.has(name) && !inner?.matchLabels ? [] : names(inner)),
  ]);
}

describe('the manifest of Kubernetes', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'counterfoil-kubernetes-'));
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder];
    execFileSync('npm', ['install', ...options, ...PACKAGES], { cwd: folder });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const document of documents)
    test(`${document.kind} ${document.metadata.name} fits its schema.`, async () => {
      const place = join(
        folder,
        'node_modules/kubernetes-models',
        document.apiVersion,
        `${document.kind}.js`,
      );
      const { [document.kind]: Model } = await import(place);
      new Model(document).validate();
      assert.throws(() => new Model({ ...document, metadata: 1 }).validate());
    });

  test('each of its fields is one of Kubernetes: the schemas let other names pass.', () => {
    const definitions = globSync('node_modules/*kubernetes-models/**/*.d.ts', { cwd: folder })
      .map((file) => readFileSync(join(folder, file), 'utf8'))
      .join('\n');
    const known = new Set([...definitions.matchAll(/^\s*"?(\w+)"?\??:/gm)].map(([, name]) => name));
    assert.ok(known.has('topologySpreadConstraints') && !known.has('replicaz'));
    assert.deepEqual(
      [...new Set(documents.flatMap(names))].filter((name) => !known.has(name)),
      [],
    );
  });
});
