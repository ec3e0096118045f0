// counterfoil migrate and counterfoil audit verify, on both engines and beside a running server.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { ANSI, operatorOf, requireRefusal, run, temporaryFolder } from '../../support/command.ts';
import { type Harness, sharedHarness, writeConfiguration } from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { ENGINES, temporaryStore } from '../../support/stores.ts';

/** Changes a store behind the program's back, as an intruder with the database's password would. */
async function tamper(harness: Harness, ...statements: string[]): Promise<void> {
  for (const statement of statements) await editOutside(harness.store, statement);
}

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    const harness = sharedHarness(engine);
    let commandLine: (...args: string[]) => ReturnType<typeof run>;
    before(async () => {
      const config = writeConfiguration(harness.store);
      const env = {
        COUNTERFOIL_CONFIG: config,
        COUNTERFOIL_STORAGE: harness.store.storage,
        DATABASE_URL: harness.store.database_url ?? '',
      };
      commandLine = (...args) => run(args, { env });
      for (let i = 0; i < 5; i++) await harness.create({ merchant_reference: `ORDER-${i}` });
    });

    test('the history of a running server is verified in one sentence', async () => {
      const { code, stdout, stderr } = await commandLine('audit', 'verify');
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(stdout, /^Verified: 5 entries under \d seals?, 5 payments, 0 stored responses, \d/);
      assert.doesNotMatch(stdout, ANSI);
    });

    test('--json gives the numbers', async () => {
      const { code, stdout } = await commandLine('audit', 'verify', '--json');
      assert.equal(code, 0);
      const { verified, entries, payments } = JSON.parse(stdout);
      assert.deepEqual([verified, entries, payments], [true, 5, 5]);
    });

    test('a payment changed behind its back is found, with its entry, and the exit code is 1', async () => {
      await tamper(harness, "update payments set amount_minor = 1 where merchant_reference = 'ORDER-2'");
      const { code, stdout, stderr } = await commandLine('audit', 'verify');
      assert.deepEqual([code, stderr], [1, '']);
      assert.match(stdout, /^Broken at entry 3: payment pay_\w+ is not as entry 3 left it\.\nNext:/);
      const json = await commandLine('audit', 'verify', '--json');
      assert.equal(json.code, 1);
      const { verified, entry, subject } = JSON.parse(json.stdout);
      assert.deepEqual([verified, entry], [false, 3]);
      assert.match(subject, /^pay_/);
      await tamper(harness, "update payments set amount_minor = 4990 where merchant_reference = 'ORDER-2'");
      assert.equal((await commandLine('audit', 'verify')).code, 0, 'and fixed is whole again');
    });

    test('a history cut short is caught by the checkpoint of the last stop', async () => {
      await harness.stop();
      const drop =
        engine === 'sqlite'
          ? ['drop trigger audit_entries_no_delete', 'drop trigger seals_no_delete']
          : [
              'drop trigger audit_entries_append_only on audit_entries',
              'drop trigger seals_append_only on seals',
            ];
      await tamper(
        harness,
        ...drop,
        'delete from payments',
        'delete from audit_entries',
        'delete from seals',
        'update journal_head set entries = 0, seals = 0',
      );
      const { code, stdout } = await commandLine('audit', 'verify');
      assert.equal(code, 1);
      assert.match(stdout, /^Broken at entry 1: .* seal 0, .*checkpoint of/);
      await harness.start();
    });
  });

  test(`migrate makes the schema of an empty store on ${engine}, once`, async () => {
    const store = await temporaryStore(engine);
    try {
      const env = operatorOf(store);
      if (engine === 'sqlite') {
        const unready = await run(['audit', 'verify'], { env });
        assert.match(unready.stderr, /no store in/);
        writeFileSync(join(store.storage, 'counterfoil.sqlite'), '', { mode: 0o600 });
      }
      for (const command of [
        ['audit', 'verify'],
        ['invites', 'list'],
        ['erase', '--payment', 'pay_1'],
      ]) {
        const named =
          engine === 'sqlite'
            ? /^counterfoil: \S+counterfoil\.sqlite holds no store: /
            : / database_url \(test_\w+ on 127\.0\.0\.1:\d+\) holds no store: /;
        requireRefusal(await run(command, { env }), 1, named);
      }
      const first = await run(['migrate'], { env });
      assert.equal(first.code, 0);
      assert.match(first.stdout, /^Applied 0001-schema(, \d{4}-[\w-]+)*\.\n$/);
      assert.equal((await run(['migrate'], { env })).stdout, 'The schema is up to date.\n');
      assert.deepEqual(JSON.parse((await run(['migrate', '--json'], { env })).stdout), { applied: [] });
      const verified = await run(['audit', 'verify'], { env });
      assert.match(verified.stdout, /^Verified: 0 entries under 0 seals, 0 payments, /);
    } finally {
      await store.drop();
    }
  });
}

test('a file that is no database is named, with what to do', async () => {
  const folder = temporaryFolder();
  try {
    const storage = join(folder.path, 'storage');
    mkdirSync(storage, { mode: 0o700 });
    const file = join(storage, 'counterfoil.sqlite');
    writeFileSync(file, 'x'.repeat(8192), { mode: 0o600 });
    for (const command of [['serve'], ['backup', join(folder.path, 'backups')], ['audit', 'verify']]) {
      const { code, stdout, stderr } = await run(command, { cwd: folder.path });
      assert.deepEqual([code, stdout], [78, '']);
      assert.equal(
        stderr,
        `counterfoil: ${file} is not a SQLite database, or damaged at its beginning: put a backup in its place with counterfoil restore BACKUP --replace\n`,
      );
    }
  } finally {
    folder.remove();
  }
});

test('a database that cannot be reached, or is not there, is told in one line', async () => {
  const folder = temporaryFolder();
  try {
    const absent = new URL(process.env.COUNTERFOIL_TEST_POSTGRES!);
    absent.pathname = '/nothing';
    const missing = await run(['invites', 'list'], { cwd: folder.path, env: { DATABASE_URL: absent.href } });
    assert.match(missing.stderr, /^counterfoil: .* "nothing" does not exist/);
    const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' };
    for (const command of [['migrate'], ['serve'], ['audit', 'verify']]) {
      requireRefusal(await run(command, { cwd: folder.path, env }), 1, /^counterfoil: the database:/);
    }
  } finally {
    folder.remove();
  }
});
