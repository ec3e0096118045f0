// The folder whose statement files are imported by themselves: taken whole, by one node, and moved to where it shows what became of them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MINUTE_MS } from '../../src/lib/time.ts';
import { CHECKS } from '../../src/operate/checks/checks.ts';
import { type FolderParts, StatementFolder } from '../../src/statements/folder.ts';
import { DatabaseError } from '../../src/store/database.ts';
import { Bank, METHODS } from '../support/bank.ts';
import { ACCOUNT, camt } from '../support/camt.ts';
import { sharedHarness } from '../support/harness.ts';
import { LONGER_THAN_A_TEST_MS } from '../support/waiting.ts';

const harness = sharedHarness('sqlite', { isVerified: true });
const bank = new Bank(harness);
const logged: string[] = [];

const newFolder = () => mkdtempSync(join(tmpdir(), 'counterfoil-folder-'));
function watch(folder: string, more: Partial<FolderParts> = {}): StatementFolder {
  const { journal, database } = harness.service;
  const log = {
    info: (...told: unknown[]) => logged.push(JSON.stringify(told)),
    warn: (...told: unknown[]) => logged.push(JSON.stringify(told)),
  };
  return new StatementFolder({
    folder,
    methods: METHODS,
    journal,
    database,
    clock: harness.clock,
    log,
    isShared: false,
    ...more,
  });
}
const namesIn = (...path: string[]) => readdirSync(join(...path)).sort();
const put = (folder: string, name: string, content: string | Uint8Array) =>
  writeFileSync(join(folder, name), content);
const banksKnown = async () => (await bank.lines()).map((line) => line.entry_reference).sort();
const statement = (...banks: string[]) =>
  camt(
    banks.map((bank) => ({ amount: '12.00', bank })),
    { number: banks[0]!.replace(/\D/g, '') },
  );

test('a file that stands still is imported and moved to done, one with a fault to failed with its reasons', async () => {
  const folder = newFolder();
  const watcher = watch(folder);
  put(folder, 'november.xml', statement('F1'));
  put(folder, 'wrong.xml', camt([{ amount: 'many', bank: 'F2' }]));
  await watcher.look();
  assert.deepEqual(
    namesIn(folder),
    ['done', 'failed', 'november.xml', 'taken', 'wrong.xml'],
    'not at the first sight',
  );
  await watcher.look();
  assert.deepEqual(namesIn(folder), ['done', 'failed', 'taken']);
  assert.match(namesIn(folder, 'done').join(), /^\d{8}T\d{6}-[0-9a-z]{4}-november\.xml$/);
  const [refused, reason] = namesIn(folder, 'failed');
  assert.match(refused!, /-wrong\.xml$/);
  assert.equal(reason, `${refused}.txt`);
  assert.match(readFileSync(join(folder, 'failed', reason!), 'utf8'), /^wrong\.xml:\d+: .+\n$/);
  assert.deepEqual(namesIn(folder, 'taken'), []);
  assert.deepEqual(await banksKnown(), ['F1']);
});

test('a file that is still written, and names of unfinished copies, are left alone', async () => {
  const folder = newFolder();
  const watcher = watch(folder);
  const whole = statement('G1');
  put(folder, 'slow.xml', whole.subarray(0, 100));
  put(folder, 'copy.xml.part', whole);
  put(folder, '.hidden.xml', whole);
  mkdirSync(join(folder, 'old'));
  await watcher.look();
  appendFileSync(join(folder, 'slow.xml'), whole.subarray(100, 200));
  await watcher.look();
  appendFileSync(join(folder, 'slow.xml'), whole.subarray(200));
  await watcher.look();
  assert.deepEqual(namesIn(folder, 'failed'), []);
  await watcher.look();
  assert.deepEqual(namesIn(folder), ['.hidden.xml', 'copy.xml.part', 'done', 'failed', 'old', 'taken']);
  assert.ok((await banksKnown()).includes('G1'));
});

test('links, pipes, huge files and files that leave a question are refused, each with its reason', async () => {
  const folder = newFolder();
  const watcher = watch(folder);
  put(folder, 'huge.xml', '');
  truncateSync(join(folder, 'huge.xml'), 64 * 1024 * 1024 + 1);
  symlinkSync('/etc/hostname', join(folder, 'link.xml'));
  execFileSync('mkfifo', [join(folder, 'pipe.xml')]);
  put(folder, 'question.csv', `Account;${ACCOUNT}\nDay;Amount;Text\n03/04/2026;1,20;Order\n`);
  put(folder, `${'ü'.repeat(120)}.xml`, 'nothing');
  await watcher.look();
  await watcher.look();
  const reasons = namesIn(folder, 'failed')
    .filter((name) => name.endsWith('.txt'))
    .map((name) => readFileSync(join(folder, 'failed', name), 'utf8'))
    .join('');
  for (const reason of [
    /larger than 64 MB/,
    /It is a link/,
    /It is not a file/,
    /question\.csv:\d+: .*03\/04\/2026|question\.csv/,
    /format is not known/,
  ])
    assert.match(reasons, reason);
  assert.equal(namesIn(folder, 'failed').length, 10);
  assert.deepEqual(namesIn(folder, 'taken'), []);
});

test('taken, done and failed are folders: nothing is moved through a link', async () => {
  for (const name of ['taken', 'done', 'failed']) {
    const [folder, elsewhere] = [newFolder(), newFolder()];
    symlinkSync(elsewhere, join(folder, name));
    const watcher = watch(folder);
    put(folder, 'wrong.txt', 'hello');
    for (let turn = 0; turn < 2; turn++)
      await assert.rejects(watcher.look(), new RegExp(`/${name} is a link: `));
    assert.deepEqual(namesIn(elsewhere), []);
    assert.ok(namesIn(folder).includes('wrong.txt'));
  }
});

test('of two nodes that watch one folder, one imports each file', async () => {
  const folder = newFolder();
  const nodes = [watch(folder, { isShared: true }), watch(folder, { isShared: true })];
  const names = Array.from({ length: 6 }, (_, i) => `S${i + 100}`);
  for (const name of names) put(folder, `${name}.xml`, statement(name));
  for (let turn = 0; turn < 2; turn++) await Promise.all(nodes.map((node) => node.look()));
  assert.equal(namesIn(folder, 'done').length, names.length);
  assert.deepEqual(namesIn(folder, 'failed'), []);
  assert.deepEqual(
    (await banksKnown()).filter((name) => name?.startsWith('S')),
    names,
  );
});

test('what a node that ended had taken is taken up: at once by the only node, else after 10 minutes', async () => {
  const folder = newFolder();
  const shared = watch(folder, { isShared: true });
  await shared.look();
  const left = (name: string) => put(join(folder, 'taken'), `0123456789abcdef-${name}.xml`, statement(name));
  left('T1');
  await shared.look();
  harness.clock.advance(9 * MINUTE_MS);
  await shared.look();
  assert.ok(!(await banksKnown()).includes('T1'));
  harness.clock.advance(MINUTE_MS);
  await shared.look();
  assert.ok((await banksKnown()).includes('T1'));
  left('T2');
  await watch(folder).look();
  assert.ok((await banksKnown()).includes('T2'));
  assert.equal(namesIn(folder, 'done').length, 2);
});

test('while the store does not answer, a file stays taken, the others go on, and it is imported later', async () => {
  const folder = newFolder();
  let isDown = true;
  const { journal } = harness.service;
  const commit: typeof journal.commit = async (work, key) => {
    if (isDown) throw new DatabaseError('unavailable', 'down');
    return journal.commit(work, key);
  };
  const watcher = watch(folder, { journal: { commit } as typeof journal });
  put(folder, 'down.xml', statement('D1'));
  put(folder, 'wrong.xml', '<x>');
  await watcher.look();
  await assert.rejects(watcher.look(), DatabaseError);
  assert.equal(namesIn(folder, 'taken').length, 1);
  assert.equal(namesIn(folder, 'failed').length, 2, 'the other file was looked at');
  isDown = false;
  await watcher.look();
  assert.ok((await banksKnown()).includes('D1'));
  assert.deepEqual(namesIn(folder, 'taken'), []);
});

test('doctor says whether the folder can be used, what was refused, and what waits', async () => {
  const check = CHECKS.find(({ id }) => id === 'statement_folder')!;
  const verdict = (folder: string | null, now = Date.now(), storage = '/var/lib/counterfoil') =>
    check.look({
      settings: { statements: { folder }, storage },
      clock: { now: () => now },
      deadlineMs: LONGER_THAN_A_TEST_MS,
    } as never);
  assert.equal((await verdict(null)).is, 'skipped');
  const folder = newFolder();
  assert.equal((await verdict(join(folder, 'nowhere'))).says, 'The folder cannot be used (ENOENT)');
  assert.equal((await verdict(folder)).says, 'The service has not written to it');
  await watch(folder).look();
  assert.equal((await verdict(folder)).is, 'ok');
  const linked = newFolder();
  symlinkSync(folder, join(linked, 'done'));
  assert.match((await verdict(linked)).says, /\/done is a link: it must be a folder itself$/);
  assert.match((await verdict(folder, Date.now(), tmpdir())).says, /lies in storage/);
  chmodSync(folder, 0o755);
  assert.match((await verdict(folder)).says, /^Every account of/);
  put(folder, 'waits.xml', 'x');
  assert.match((await verdict(folder, Date.now() + 16 * MINUTE_MS)).says, /more than 15 minutes/);
  for (const name of ['a.xml', 'a.xml.txt', 'b.txt', 'b.txt.txt']) put(join(folder, 'failed'), name, 'x');
  assert.match((await verdict(folder)).says, /^2 statement files were not imported$/);
});
