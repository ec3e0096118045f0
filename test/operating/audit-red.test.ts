// The runbook's entry on a red audit verify, walked with its own lines on both engines: from the edits to green.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { addPerson, post, sentForReview } from '../support/admin.ts';
import { type BackupPlace, backupPlace } from '../support/backups.ts';
import { COMMAND, plainEnvironment, requireRefusal } from '../support/command.ts';
import {
  type DebianPostgres,
  debianPostgres,
  PASSWORD,
  startDebianPostgres,
} from '../support/debian-postgres.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { editOutside, insertOutside } from '../support/outside.ts';
import { ENGINES, type Store } from '../support/stores.ts';
import { entry } from './runbook.ts';

const ENTRY = entry('audit verify is red');
const PATH = `${debianPostgres ?? ''}${delimiter}${process.env.PATH}`;
/** The statements and commands of the entry, by their language: the first finds what was changed, the second puts it right. */
const blocks = (language: string) =>
  [...ENTRY.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!);
const [ATTACH, PUT_BACK] = blocks('sql') as [string, string];
const [RESTORE_OLD, COPY_BACK, ACKNOWLEDGE] = blocks('sh') as [string, string, string];
const HINT = /docs\/operating\/runbook\.md, under "audit verify is red"/;

for (const engine of ENGINES) {
  const skip =
    engine === 'postgres' &&
    !debianPostgres &&
    "no PostgreSQL of the machine's packages, whose createdb and psql are needed";
  describe(`on ${engine}`, { skip }, () => {
    test('what was changed is saved, found, put right or acknowledged, and all is green again', async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'counterfoil-red-'));
      const server = engine === 'postgres' ? await startDebianPostgres() : undefined;
      const store = server && (await storeOn(server));
      const harness = await startHarness(engine, store && { store });
      const place = backupPlace(harness.store, { PATH });
      t.after(async () => {
        await harness.close();
        server?.stop();
        place.remove();
        rmSync(folder, { recursive: true, force: true });
      });
      const ana = await addPerson(harness, 'administrator');
      const [changed, gone, approved] = [
        await sentForReview(harness),
        await sentForReview(harness),
        await sentForReview(harness),
      ];
      const verify = async () => {
        const { code, stdout } = await place.command(['audit', 'verify', '--json']);
        return { code, ...JSON.parse(stdout) };
      };
      const good = await place.backUp();
      assert.equal((await post(harness, ana, `/admin/payments/${approved}/approve`)).status, 200);

      // Symptom and look.
      const { database } = harness.service;
      await editOutside(
        harness.store,
        `update payments set amount_minor = 1 where id in ('${changed}', '${approved}')`,
      );
      await editOutside(harness.store, `delete from payments where id = '${gone}'`);
      const forged = `${changed.slice(0, -3)}zzz`;
      const [whole] = await database.query('select * from payments where id = ?', changed);
      await insertOutside(harness.store, 'payments', { ...whole!, id: forged });
      const red = await place.command(['audit', 'verify']);
      assert.match(red.stdout, HINT);
      const { code, rows, faults } = await verify();
      assert.deepEqual([code, rows], [1, 4]);
      const kinds = Object.fromEntries(
        faults.map(({ subject, kind, table }: Record<string, string>) => [subject, `${kind} in ${table}`]),
      );
      assert.deepEqual(kinds, {
        [changed]: 'changed in payments',
        [approved]: 'changed in payments',
        [gone]: 'missing in payments',
        [forged]: 'added in payments',
      });
      const undecided = await post(harness, ana, `/admin/payments/${changed}/approve`);
      assert.deepEqual([undecided.status, undecided.json.error.code], [409, 'conflict']);

      // Keep saving.
      requireRefusal(await place.command(['backup', place.folder]), 1, /the history is not as it was/);
      const saved = await place.command(['backup', place.folder, '--unverified']);
      assert.match(saved.stdout, /NOT VERIFIED/);

      // Find, and put right.
      const { entries: reached } = JSON.parse(readFileSync(join(good, 'backup.json'), 'utf8'));
      const later = faults.filter(({ entry }: { entry: number | null }) => (entry ?? 0) > reached);
      assert.deepEqual(
        later.map(({ subject }: { subject: string }) => subject),
        [approved],
      );
      await harness.stop();
      for (const id of [changed, gone]) putBack(harness, place, folder, good, id);
      await harness.start();
      const edit = (sql: string) => editOutside(harness.store, sql);
      await edit(`delete from payments where id = '${forged}'`);
      assert.deepEqual([(await verify()).subject, (await verify()).rows], [approved, 1]);
      const [, column] = /`(update payments set amount_minor = 4990 [^`]*;)`/.exec(ENTRY)!;
      await edit(column!.replace('pay_…', approved));
      assert.equal((await verify()).code, 0, 'the digest proves every other column');
      await edit(`update payments set amount_minor = 1 where id = '${approved}'`);

      // Acknowledge what is left.
      for (const line of ACKNOWLEDGE.trim().split('\n')) {
        const args = line
          .replace('pay_…', approved)
          .replace('/var/backups/counterfoil', place.folder)
          .match(/"[^"]*"|\S+/g)!
          .map((one) => one.replaceAll('"', ''));
        assert.equal(args[0], 'counterfoil');
        const { code, stdout, stderr } = await place.command(args.slice(1));
        assert.equal(code, 0, stdout + stderr);
        if (args[1] === 'audit' && args[2] === 'verify')
          assert.match(
            stdout,
            new RegExp(`\\nKnown: 1 fault acknowledged\\.\\n  entry .* ${approved} \\(changed\\)`),
          );
        if (args[1] === 'backup') assert.match(stdout, /, verified, with 1 acknowledged fault, in /);
      }
      const decided = await post(harness, ana, `/admin/payments/${changed}/reject`, { reason: 'other' });
      assert.equal(decided.status, 200, decided.text);

      // A correction by hand that is to stand in the history.
      await edit(`update payments set amount_minor = 4990 where id = '${approved}'`);
      assert.equal((await verify()).subject, approved);
      const again = ['audit', 'acknowledge', approved, '--reason', 'Put back'];
      assert.equal((await place.command(again)).code, 0);
      const green = await verify();
      assert.deepEqual([green.code, green.acknowledged], [0, 2]);

      const restored = await place.command(['restore', await place.backUp()], place.freshStorage());
      if (engine === 'sqlite') assert.match(restored.stdout, /; verified, with 2 acknowledged faults\.\n/);
    });
  });
}

/** A store on a PostgreSQL of the machine's packages, whose tools are those of its version. */
async function storeOn(server: DebianPostgres): Promise<Store> {
  const storage = mkdtempSync(join(tmpdir(), 'counterfoil-test-'));
  const database_url = await server.createDatabase('counterfoil');
  const drop = async () => rmSync(storage, { recursive: true, force: true });
  return { engine: 'postgres', storage, database_url, drop };
}

/** Puts the row of a backup in the place of the one that is there, with the lines of the runbook. */
function putBack(
  { store }: Harness,
  { config }: BackupPlace,
  folder: string,
  backup: string,
  id: string,
): void {
  if (store.database_url !== null) {
    const { hostname, port, username } = new URL(store.database_url);
    const again = 'dropdb --if-exists counterfoil_old\n';
    const url = store.database_url.replace(PASSWORD, encodeURIComponent(PASSWORD));
    const lines = (again + RESTORE_OLD + COPY_BACK)
      .replaceAll('pay_…', id)
      .replace(/\/var\/backups\/counterfoil\/\S+Z/, backup)
      .replace('/var/tmp/counterfoil-old', join(folder, `storage-${id}`))
      .replace('sudo -u postgres createdb --owner=counterfoil', 'createdb')
      .replace(/^read -rs DATABASE_URL(.*_old)$/m, `DATABASE_URL='${url}_old'$1`)
      .replace(/^read -rs DATABASE_URL/m, `DATABASE_URL='${url}'`);
    writeFileSync(join(folder, 'counterfoil'), `#!/bin/sh\nexec ${process.execPath} ${COMMAND} "$@"\n`, {
      mode: 0o755,
    });
    const env = plainEnvironment({
      PATH: `${folder}${delimiter}${PATH}`,
      COUNTERFOIL_CONFIG: config,
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: decodeURIComponent(username),
      PGPASSWORD: PASSWORD,
    });
    execFileSync('sh', ['-euc', lines], { cwd: folder, env, stdio: 'pipe' });
    return;
  }
  const old = join(folder, 'old.sqlite');
  copyFileSync(join(backup, 'counterfoil.sqlite'), old);
  const database = new DatabaseSync(join(store.storage, 'counterfoil.sqlite'));
  const [attach, compare] = ATTACH.replaceAll('pay_…', id)
    .replace('/var/tmp/old.sqlite', old)
    .split(/(?<=;)\n/);
  database.exec(attach!);
  const seen = database.prepare(compare!).all();
  assert.ok(
    seen.some((row) => row["'now'"] === 'then'),
    JSON.stringify(seen),
  );
  database.exec(PUT_BACK.replaceAll('pay_…', id));
  database.close();
}
