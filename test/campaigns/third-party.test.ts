// A third party checks exports with the stand-alone verifier, which finds every edit of one. COUNTERFOIL_RUNS: how many.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type AuditEntry, canonicalEntry } from '../../src/journal/audit-entry.ts';
import { EXPORT_FORMAT, EXPORT_VERSION } from '../../src/journal/export.ts';
import { NO_SEAL, sealEntries } from '../../src/journal/seal.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { viewSqlite } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { buildHistory } from './history.ts';
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

  test(`each of ${EDITS} is found`, { timeout: Infinity }, async () => {
    const file = join(folder, 'edited.ndjson');
    const misses: string[] = [];
    for (const text of exports) {
      writeFileSync(file, text);
      assert.match((await verifyExport(file)).said, /^Verified: /);
    }
    for (let i = 0; i < EDITS; ) {
      const text = random.pick(exports);
      const edit = edited(text);
      if (saysTheSame(edit.text, text)) continue;
      i++;
      writeFileSync(file, edit.text);
      const { verified, said } = await verifyExport(file);
      if (verified || !/^Broken in line \d+: .+\.$/.test(said)) misses.push(`${edit.how}: "${said}"`);
    }
    assert.equal(misses.length, 0, told(misses, random.seed));
  });
});
