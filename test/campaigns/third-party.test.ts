// A third party checks exports with the stand-alone verifier, which finds every edit of one. COUNTERFOIL_RUNS: how many.
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type AuditEntry, canonicalEntry, NO_SEAL, sealEntries } from '../../src/journal/audit-entry.ts';
import { EXPORT_FORMAT, EXPORT_VERSION } from '../../src/journal/export.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { viewSqlite } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { buildHistory } from './history.ts';
import { isRight } from './second-verifier.ts';
import { told } from './tampering.ts';
import { exportText, verifyExport } from './third-party.ts';

const EDITS = Number(process.env.COUNTERFOIL_RUNS) || 250;

const random = new SeededRandom();
let folder: string;
before(() => {
  console.log(`third party: seed ${random.seed} (COUNTERFOIL_SEED)`);
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-third-party-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** One edit of the text of an export; the text itself where it found nothing to do. */
function edited(text: string): { how: string; text: string } {
  const lines = text.split('\n').slice(0, -1);
  const at = random.between(0, lines.length - 1);
  const line = lines[at]!;
  const position = random.between(0, line.length - 1);
  const put = (...replacement: string[]) => `${lines.toSpliced(at, 1, ...replacement).join('\n')}\n`;
  const other = random.between(0, lines.length - 1);
  const { how, become } = random.pick([
    {
      how: 'a character',
      become: () => put(line.slice(0, position) + random.pick([...'0aZ"\\ {']) + line.slice(position + 1)),
    },
    { how: 'without a character', become: () => put(line.slice(0, position) + line.slice(position + 1)) },
    {
      how: 'a number',
      become: () => put(line.replace(/\d+/, (digits) => String(Number(digits) + random.pick([1, -1, 10])))),
    },
    { how: 'without the line', become: () => put() },
    { how: 'the line twice', become: () => put(line, line) },
    { how: 'swapped', become: () => `${lines.with(at, lines[other]!).with(other, line).join('\n')}\n` },
    { how: 'cut off', become: () => `${lines.slice(0, at).join('\n')}\n` },
    { how: 'cut off inside', become: () => text.slice(0, random.between(0, text.length - 2)) },
  ]);
  return { how: `${how}, line ${at + 1}: ${line}`, text: become() };
}

/** Whether two texts say the same: but for when it was exported, which nothing vouches for. */
function saysTheSame(one: string, other: string): boolean {
  const told = (text: string) => {
    const [header, ...rest] = text.split('\n');
    return rest
      .map((line) => (line.startsWith('[') || line === '' ? line : JSON.stringify(JSON.parse(line))))
      .concat(JSON.stringify({ ...JSON.parse(header!), exported_at: null }));
  };
  try {
    return told(one).join('\n') === told(other).join('\n');
  } catch {
    return false;
  }
}

/** A checkpoint line whose members stand in another order. */
function turned(line: string): string {
  const { checkpoint } = JSON.parse(line);
  return JSON.stringify({ checkpoint: Object.fromEntries(Object.entries(checkpoint).reverse()) });
}

test('an entry numbered twice is found, though its seal fits', async () => {
  const entry = (number: number): AuditEntry => ({
    number,
    at: 0,
    actor: 'clock',
    action: 'x',
    subject: 'x',
    request_id: null,
    facts: '{}',
  });
  for (const [numbers, verified] of [
    [[1, 2, 3], true],
    [[1, 1, 3], false],
    [[1, 3, 3], false],
  ] as const) {
    const entries = numbers.map(entry);
    const { number, ...seal } = sealEntries(1, NO_SEAL, 0, entries);
    const header = { format: EXPORT_FORMAT, version: EXPORT_VERSION, entries: 3, seals: 1 };
    const lines = [
      { ...header, first_entry: 1, first_seal: 1, hash_before: '', exported_at: '' },
      { seal: number, ...seal },
      ...entries.map((one) => JSON.parse(canonicalEntry(one))),
      { public_key: null },
      { checkpoints: 0 },
    ];
    const file = join(folder, 'forged.ndjson');
    writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    assert.equal((await verifyExport(file)).verified, verified, String(numbers));
  }
});

describe('edits of an export', () => {
  let service: Harness;
  const exports: string[] = [];
  before(async () => {
    service = await startHarness('sqlite'); // an export of PostgreSQL's is the same
    await buildHistory(service, random);
    await viewSqlite(join(service.store.storage, 'counterfoil.sqlite'), async (view) => {
      for (const since of [1, 100]) exports.push(await exportText(view, service.store.storage, since));
    });
  });
  after(() => service.store.drop());

  test('the verifier and one written from the document alone judge keys and form the same', async () => {
    const text = exports[0]!;
    const lines = text.split('\n').slice(0, -1);
    const at = lines.findIndex((line) => line.startsWith('{"public_key"'));
    const key = lines[at]!;
    const pem: string = JSON.parse(key).public_key;
    assert.ok(lines.length > at + 2, 'there are checkpoints');
    const written = (some: readonly string[]) => `${some.join('\n')}\n`;
    const withKey = (public_key: unknown) => written(lines.with(at, JSON.stringify({ public_key })));
    const withoutCheckpoints = (public_key: unknown) =>
      written([...lines.slice(0, at), JSON.stringify({ public_key }), '{"checkpoints":0}']);
    const pemOf = (one: KeyObject) =>
      one.export({ type: one.type === 'public' ? 'spki' : 'pkcs8', format: 'pem' });
    const other = generateKeyPairSync('ed25519');
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const seal = lines[1]!;
    const cases: [how: string, text: string, kept: string | undefined, right: boolean][] = [
      ['as it is', text, undefined, true],
      ['with the key kept', text, pem, true],
      ['with another key kept', text, pemOf(other.publicKey) as string, false],
      ['the key twice', written(lines.toSpliced(at, 0, key)), undefined, false],
      ['the key again behind a checkpoint', written(lines.toSpliced(at + 2, 0, key)), undefined, false],
      ['null, then the key', written(lines.toSpliced(at, 0, '{"public_key":null}')), undefined, false],
      ['null with checkpoints', withKey(null), undefined, false],
      ['null with checkpoints and a key kept', withKey(null), pem, false],
      ['null without checkpoints', withoutCheckpoints(null), undefined, true],
      ['null without checkpoints and a key kept', withoutCheckpoints(null), pem, true],
      ['another key without checkpoints', withoutCheckpoints(pemOf(other.publicKey)), undefined, true],
      [
        'another key than the one kept without checkpoints',
        withoutCheckpoints(pemOf(other.publicKey)),
        pem,
        false,
      ],
      ['two keys in one text', withoutCheckpoints(pem + pem), undefined, false],
      ['a private key', withoutCheckpoints(pemOf(other.privateKey)), undefined, false],
      ['a key of another kind', withoutCheckpoints(pemOf(rsa.publicKey)), undefined, false],
      ['no text for a key', withoutCheckpoints(1), undefined, false],
      ['no line feed at the end', text.slice(0, -1), undefined, false],
      ['a space', written(lines.with(1, seal.replace(':', ': '))), undefined, false],
      ['a member twice', written(lines.with(1, seal.replace('{', '{"seal":1,'))), undefined, false],
      ['a member more', written(lines.with(1, seal.replace('}', ',"more":1}'))), undefined, false],
      ['members in another order', written(lines.with(at + 1, turned(lines[at + 1]!))), undefined, false],
      ['a line of another kind', written(lines.toSpliced(at, 0, '{"note":"x"}')), undefined, false],
      ['a second end', `${text}${lines.at(-1)}\n`, undefined, false],
    ];
    const file = join(folder, 'case.ndjson');
    const keyFile = join(folder, 'kept.pem');
    for (const [how, edit, kept, right] of cases) {
      writeFileSync(file, edit);
      if (kept !== undefined) writeFileSync(keyFile, kept);
      const theirs = await verifyExport(file, ...(kept === undefined ? [] : ['--key', keyFile]));
      assert.deepEqual([theirs.verified, isRight(edit, kept)], [right, right], `${how}: ${theirs.said}`);
    }
  });

  test('the second verifier knows nothing of the program', () => {
    const source = readFileSync(new URL('./second-verifier.ts', import.meta.url), 'utf8');
    const imported = [...source.matchAll(/^import .* from '(.*)';$/gm)].map(([, name]) => name);
    assert.deepEqual([imported, /\b(import\(|require\()/.test(source)], [['node:crypto'], false]);
  });

  test(`each of ${EDITS} is found`, { timeout: Infinity }, async () => {
    const file = join(folder, 'edited.ndjson');
    const misses: string[] = [];
    for (const text of exports) {
      writeFileSync(file, text);
      assert.match((await verifyExport(file)).said, /^Verified: /);
      assert.equal(isRight(text), true);
    }
    for (let i = 0; i < EDITS; ) {
      const text = random.pick(exports);
      const edit = edited(text);
      if (saysTheSame(edit.text, text)) continue;
      i++;
      writeFileSync(file, edit.text);
      const { verified, said } = await verifyExport(file);
      if (isRight(edit.text)) misses.push(`${edit.how}: right by the document`);
      if (verified || !/^Broken in line \d+: .+\.$/.test(said)) misses.push(`${edit.how}: "${said}"`);
    }
    assert.equal(misses.length, 0, told(misses, random.seed));
  });
});
