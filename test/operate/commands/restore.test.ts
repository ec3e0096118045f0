// counterfoil restore: the whole store or none of it, never over another, and never from a damaged backup.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { type BackupPlace, backupPlace, folderContents } from '../../support/backups.ts';
import { requireRefusal, start } from '../../support/command.ts';
import { sampled } from '../../support/extent.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { copyProgram } from '../../support/program-copy.ts';
import { verifySqlite } from '../../support/read-only-store.ts';

const DATABASE = 'counterfoil.sqlite';
const INDEX = 'payments_by_status';

describe('restore', () => {
  let harness: Harness;
  let place: BackupPlace;
  /** Made one after the other, with checkpoints and payments between. */
  let older: string;
  let newer: string;
  before(async () => {
    harness = await startHarness('sqlite');
    place = backupPlace(harness.store);
    const backUp = async () => {
      await harness.create();
      await harness.stop(); // signs a checkpoint
      const path = await place.backUp();
      await harness.start();
      return path;
    };
    older = await backUp();
    newer = await backUp();
  });
  after(async () => {
    place.remove();
    await harness.close();
  });

  test('into nothing it puts the whole store, private, and says what is in it and what comes next', async () => {
    const storage = place.freshStorage();
    const kept = folderContents(newer);
    const { code, stdout, stderr } = await place.command(['restore', newer], storage);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^Restored 2 entries, the newest of \d+ \w+ \d{4}, \d\d:\d\d UTC, to \S+;/);
    assert.match(stdout, /\nNext: counterfoil doctor, /);
    assert.deepEqual(folderContents(newer), kept, 'the backup is as it was');
    const modes = [storage, ...readdirSync(storage).map((name) => join(storage, name))].map(
      (path) => statSync(path).mode & 0o077,
    );
    assert.deepEqual(new Set(modes), new Set([0]));
    assert.equal((await verifySqlite(join(storage, DATABASE), storage)).payments, 2);
    assert.equal((await place.command(['audit', 'verify'], storage)).code, 0);
  });

  test('it says which key it needs: what to do where that is not here, and that it stays where it is', async () => {
    const key = 'checkpoint-key.pem';
    const { keys } = JSON.parse(readFileSync(join(newer, 'backup.json'), 'utf8'));
    const storage = place.freshStorage();
    const without = await place.command(['restore', newer], storage);
    assert.ok(
      without.stdout.includes(
        `It needs the checkpoint key ${keys.checkpoint}, which is NOT here, and no server starts without it: counterfoil secrets restore FILE puts it back. If it is lost, move checkpoints.jsonl `,
      ),
      without.stdout,
    );
    const secrets = join(harness.store.storage, 'secrets.key');
    if (existsSync(secrets)) cpSync(secrets, join(storage, 'secrets.key'));
    requireRefusal(await place.command(['serve'], storage), 78, /checkpoint-key\.pem is missing or empty,/);

    cpSync(join(harness.store.storage, key), join(storage, key));
    const again = await place.command(['restore', newer, '--replace', '--json'], storage);
    const told = JSON.parse(again.stdout);
    assert.deepEqual(told.keys[0], { name: 'checkpoint key', id: keys.checkpoint, is_there: true });
    assert.equal(readdirSync(told.replaced).includes(key), false, 'a key that stays has no copy');
    assert.equal(
      readFileSync(join(storage, key), 'utf8'),
      readFileSync(join(harness.store.storage, key), 'utf8'),
    );

    const first = place.freshStorage();
    mkdirSync(first, { mode: 0o700 });
    cpSync(join(harness.store.storage, key), join(first, key));
    const { code, stderr } = await place.command(['restore', newer], first);
    assert.equal(code, 0, `the key may be put back before: ${stderr}`);
  });

  test('a key that the backup does not need is in its way, and goes aside', async () => {
    const key = 'checkpoint-key.pem';
    const storage = place.freshStorage();
    mkdirSync(storage, { mode: 0o700 });
    const other = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    writeFileSync(join(storage, key), other, { mode: 0o600 });
    assert.match((await place.command(['restore', newer], storage)).stderr, /checkpoint-key\.pem is there/);
    const { stdout } = await place.command(['restore', newer, '--replace', '--json'], storage);
    const { replaced, keys } = JSON.parse(stdout);
    assert.equal(readFileSync(join(replaced, key), 'utf8'), other);
    assert.equal(existsSync(join(storage, key)), false);
    assert.equal(keys[0].is_there, false);
  });

  test('while a server holds the store it is refused', async () => {
    requireRefusal(await place.command(['restore', newer, '--replace']), 1, /another server holds the store/);
    assert.equal((await harness.verify()).payments, 2);
  });

  test('over a store it is refused; --replace moves all that lay there aside, and says what is lost', async () => {
    const storage = place.freshStorage();
    assert.equal((await place.command(['restore', newer], storage)).code, 0);
    const there = folderContents(storage);
    requireRefusal(await place.command(['restore', older], storage), 1, /counterfoil\.sqlite is there/);
    assert.deepEqual(folderContents(storage), there);

    const replaced = await place.command(['restore', older, '--replace'], storage);
    assert.equal(replaced.code, 0, replaced.stderr);
    assert.match(replaced.stdout, / 1 entry at least: .* entry 2\./);
    assert.equal((await verifySqlite(join(storage, DATABASE), storage)).payments, 1);
    const [aside] = readdirSync(storage).filter((name) => name.startsWith('replaced-'));
    const { 'server.lock': _, ...moved } = there;
    assert.deepEqual(folderContents(join(storage, aside!)), moved);
  });

  test('a write-ahead log that was not folded back goes aside with its database', async () => {
    const storage = place.freshStorage();
    mkdirSync(storage, { mode: 0o700 });
    // As a server that was killed leaves them: copied while it runs, and nobody writes.
    for (const name of [DATABASE, `${DATABASE}-wal`])
      execFileSync('cp', [join(harness.store.storage, name), join(storage, name)]);
    assert.equal((await place.command(['restore', older, '--replace'], storage)).code, 0);
    assert.deepEqual(
      readdirSync(storage).filter((name) => name.endsWith('-wal')),
      [],
    );
    const [aside] = readdirSync(storage).filter((name) => name.startsWith('replaced-'));
    assert.deepEqual(readdirSync(join(storage, aside!)).sort(), [DATABASE, `${DATABASE}-wal`]);
    assert.equal((await verifySqlite(join(storage, DATABASE), storage)).payments, 1);
  });

  const flip = (file: string) => {
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(file, bytes);
  };
  const edit = (
    backup: string,
    change: (list: { schema: number; files: Record<string, unknown>; keys?: unknown }) => void,
  ) => {
    const file = join(backup, 'backup.json');
    const list = JSON.parse(readFileSync(file, 'utf8'));
    change(list);
    writeFileSync(file, JSON.stringify(list));
  };
  const digestOf = (file: string) => {
    const bytes = readFileSync(file);
    return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  };
  const filesOf = (backup: string) => JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8')).files;

  const damages: [string, (backup: string) => void, RegExp][] = [
    [
      'cut off',
      (backup) => truncateSync(join(backup, DATABASE), 8192),
      /counterfoil\.sqlite has 8192 bytes instead of/,
    ],
    ...[DATABASE, 'checkpoint-key.pub.pem'].map((name): [string, (backup: string) => void, RegExp] => [
      `with one bit changed in ${name}`,
      (backup) => flip(join(backup, name)),
      /is damaged: checkpoint\S+|counterfoil\S+ is not the file that was backed up/,
    ]),
    [
      'without its checkpoints',
      (backup) => rmSync(join(backup, 'checkpoints.jsonl')),
      /checkpoints\.jsonl is missing/,
    ],
    [
      'put together from two',
      (backup) => cpSync(join(older, DATABASE), join(backup, DATABASE)),
      /counterfoil\.sqlite (has|is not)/,
    ],
    [
      'put together from two, and its list too',
      (backup) => {
        cpSync(join(older, DATABASE), join(backup, DATABASE));
        edit(backup, ({ files }) => Object.assign(files, { [DATABASE]: filesOf(older)[DATABASE] }));
      },
      /history is not as it was written: .*checkpoint.*; take another backup; nothing was changed/,
    ],
    [
      'whose list is cut off',
      (backup) => truncateSync(join(backup, 'backup.json'), 100),
      /is damaged: its backup\.json cannot be read/,
    ],
    [
      'whose list names a path',
      (backup) => edit(backup, ({ files }) => Object.assign(files, { '../x': files[DATABASE] })),
      /is damaged: its backup\.json cannot be read/,
    ],
    [
      'without its list',
      (backup) => rmSync(join(backup, 'backup.json')),
      /is no backup: it has no backup\.json/,
    ],
    [
      'with an index that lacks a row, and its list too',
      (backup) => {
        const database = new DatabaseSync(join(backup, DATABASE));
        const [{ sql }] = database.prepare(`select sql from sqlite_schema where name = '${INDEX}'`).all() as [
          { sql: string },
        ];
        // An index of a part of the rows that is then called one of all: what a byte that changed on the disk can do.
        database.exec(`drop index ${INDEX}; ${sql.replace(/( where .*)?$/s, ' where 0')}`);
        database.enableDefensive(false);
        database.exec('pragma writable_schema = on');
        database.prepare('update sqlite_schema set sql = ? where name = ?').run(sql, INDEX);
        database.close();
        edit(backup, ({ files }) => Object.assign(files, { [DATABASE]: digestOf(join(backup, DATABASE)) }));
      },
      /is damaged: .* in index payments_by_status/,
    ],
    [
      'of a newer program',
      (backup) => edit(backup, (list) => Object.assign(list, { schema: list.schema + 1 })),
      /this program knows \d+: restore it with version/,
    ],
  ];
  for (const [how, damage, words] of damages) {
    test(`a backup ${how} is refused in one line, and nothing is changed`, async () => {
      const backup = join(dirname(place.folder), 'damaged');
      rmSync(backup, { recursive: true, force: true });
      cpSync(newer, backup, { recursive: true });
      damage(backup);
      const storage = place.freshStorage();
      cpSync(older, storage, { recursive: true });
      rmSync(join(storage, 'backup.json'));
      const before = [folderContents(backup), folderContents(storage)];
      const { code, stdout, stderr } = await place.command(['restore', backup, '--replace'], storage);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, words);
      assert.equal(stderr.split('\n').length, 2);
      const { 'server.lock': _, ...after } = folderContents(storage);
      assert.deepEqual([folderContents(backup), after], before);
    });
  }

  test('the folder that holds backups is refused, and the newest named', async () => {
    const { code, stderr } = await place.command(['restore', place.folder], place.freshStorage());
    assert.equal(code, 1);
    assert.ok(stderr.includes(`newest backup in it is ${newer.split('/').at(-1)}`), stderr);
  });

  test('one that is interrupted says that the same command begins anew, which it does', async () => {
    const storage = place.freshStorage();
    const kept = join(newer, 'checkpoints.jsonl');
    renameSync(kept, `${kept}.kept`);
    execFileSync('mkfifo', [kept]); // what is read of it waits
    const interrupted = place.begin(['restore', newer], storage);
    const pipe = await open(kept, 'w'); // waits for the reader
    interrupted.child.kill('SIGTERM');
    const ended = await interrupted.ended;
    await pipe.close();
    renameSync(`${kept}.kept`, kept);
    assert.deepEqual(ended, { code: null, signal: 'SIGTERM' });
    assert.equal(interrupted.stderr, 'counterfoil: interrupted: the same command begins anew\n');
    assert.equal((await place.command(['restore', newer], storage)).code, 0);
  });

  const steps = [
    ['await unlink(join(storage, name));', false],
    ['await link(join(storage, name), join(aside, name));', true],
    ['await rename(join(unfinished, name), join(storage, name));', false],
  ] as const;
  for (const [step, isStore] of sampled(steps, steps.length)) {
    test(`one that is killed after the first ${step.slice(6, step.indexOf('('))} leaves a whole store or one that no server starts on, until the same command is run again`, async () => {
      const storage = place.freshStorage();
      assert.equal((await place.command(['restore', older], storage)).code, 0);
      const there = folderContents(storage);
      const program = copyProgram();
      program.change(
        'src/operate/commands/restore.ts',
        step,
        `{ ${step} process.kill(process.pid, 'SIGKILL'); }`,
      );
      const args = [program.command, 'restore', newer, '--replace', '--config', place.config];
      const killed = start(process.execPath, args, { env: { ...program.env, COUNTERFOIL_STORAGE: storage } });
      assert.equal((await killed.ended).signal, 'SIGKILL', killed.stderr);
      program.remove();
      assert.equal(existsSync(join(storage, DATABASE)), isStore);
      if (isStore) assert.equal((await verifySqlite(join(storage, DATABASE), storage)).payments, 1);
      else {
        for (const command of [['migrate'], ['backup', place.folder]]) {
          requireRefusal(await place.command(command, storage), 78, /^counterfoil: a restore into \S+ is/);
        }
        const damaged = join(dirname(place.folder), 'damaged');
        rmSync(damaged, { recursive: true, force: true });
        cpSync(newer, damaged, { recursive: true });
        truncateSync(join(damaged, DATABASE), 8192);
        const failed = await place.command(['restore', damaged, '--replace'], storage);
        assert.equal(failed.code, 1);
        assert.equal(
          (await place.command(['serve'], storage)).code,
          78,
          'one that fails changes nothing of that',
        );
      }
      assert.equal((await place.command(['restore', newer, '--replace'], storage)).code, 0);
      assert.equal(existsSync(join(storage, '.restoring')), false);
      const { payments, checkpoints } = await verifySqlite(join(storage, DATABASE), storage);
      assert.deepEqual([payments, checkpoints], [2, 2]);
      const { 'server.lock': _, ...old } = there;
      const kept = readdirSync(storage)
        .filter((name) => name.startsWith('replaced-'))
        .map((name) => folderContents(join(storage, name)));
      assert.ok(
        kept.some((one) => Object.entries(old).every(([name, content]) => one[name] === content)),
        'what was there is kept, all of it in one folder',
      );
    });
  }
});
