// counterfoil audit acknowledge: what it records, what it refuses, and that an acknowledged fault hides no other, on both engines.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { entriesOf } from '../../../src/journal/queries.ts';
import { acknowledgeFaults, type RowFault } from '../../../src/journal/rows.ts';
import { verifyHistory } from '../../../src/journal/verify.ts';
import { DAY_MS, HOUR_MS } from '../../../src/lib/time.ts';
import { ROW_CHECKS } from '../../../src/operate/checks/row-checks.ts';
import { forgetOldAnswers } from '../../../src/payments/idempotency.ts';
import { addPerson, post, sentForReview } from '../../support/admin.ts';
import { operatorOf, ROOT, requireRefusal, run } from '../../support/command.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { editOutside, insertOutside } from '../../support/outside.ts';
import { ENGINES } from '../../support/stores.ts';

const REASON = 'Edited by hand, incident 7';

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    let harness: Harness;
    let env: Record<string, string>;
    let folder: string;
    const command = (...args: string[]) => run(['audit', ...args], { env });
    const verify = async () => {
      const { code, stdout } = await command('verify', '--json');
      return { code, ...JSON.parse(stdout) };
    };
    const acknowledge = (...rows: string[]) => command('acknowledge', ...rows, '--reason', REASON);
    const edit = (sql: string) => editOutside(harness.store, sql);
    const reprice = (id: string, amount: number) =>
      edit(`update payments set amount_minor = ${amount} where id = '${id}'`);
    const kept = () =>
      JSON.parse(readFileSync(join(harness.store.storage, 'last-verification.json'), 'utf8'));
    /** Acknowledgements so far. */
    let known = 0;

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'counterfoil-acknowledge-'));
      harness = await startHarness(engine);
      env = operatorOf(harness.store);
    });
    after(async () => {
      await harness.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test('verify lists every row at fault, and one that is acknowledged hides no other', async () => {
      const [one, two, gone] = await Promise.all([harness.create(), harness.create(), harness.create()]);
      await reprice(one.id, 1);
      await reprice(two.id, 2);
      await edit(`delete from payments where id = '${gone.id}'`);
      const red = await verify();
      assert.deepEqual([red.code, red.rows, red.acknowledgements], [1, 3, []]);
      const kinds = Object.fromEntries(
        red.faults.map((f: RowFault) => [f.subject, [f.kind, f.row === null]]),
      );
      assert.deepEqual(kinds, {
        [one.id]: ['changed', false],
        [two.id]: ['changed', false],
        [gone.id]: ['missing', true],
      });
      const said = await command('verify');
      assert.match(said.stdout, /^Broken at entry \d: .*\bpay_\S+ .*\.\nAnd .*\bpay_.*\nAnd .*\bpay_/);

      const acknowledged = await acknowledge(one.id);
      assert.equal(acknowledged.code, 0, acknowledged.stderr);
      assert.match(acknowledged.stdout, /^Acknowledged: payment pay_\S+ .* entry \d .*\.\n2/);
      known++;
      const still = await verify();
      assert.deepEqual([still.code, still.rows, still.acknowledgements.length], [1, 2, 1]);
      assert.equal(kept().intact, false);

      assert.equal((await acknowledge(two.id, gone.id)).code, 0);
      known += 2;
      const green = await verify();
      assert.deepEqual([green.code, green.verified, green.acknowledged], [0, true, 3]);
      for (const [subject, fault] of [
        [one.id, 'changed'],
        [two.id, 'changed'],
        [gone.id, 'missing'],
      ]) {
        const found = green.acknowledgements.find((each: { subject: string }) => each.subject === subject);
        assert.deepEqual([found.fault, found.reason], [fault, REASON]);
      }
      assert.match(
        (await command('verify')).stdout,
        /\nKnown: 3 faults acknowledged\.\n( {2}entry .*\n){3}$/,
      );
      assert.deepEqual([kept().intact, kept().acknowledged], [true, 3]);
      const [, entry] = await entriesOf(harness.service.database, one.id);
      assert.deepEqual([entry!.actor, entry!.action], ['operator', 'history.acknowledged']);
    });

    test('a row that changes again, comes back or goes is red again', async () => {
      const [one, gone] = [await harness.create(), await harness.create()];
      const whole = JSON.stringify(await rowOf(gone.id));
      await reprice(one.id, 1);
      await edit(`delete from payments where id = '${gone.id}'`);
      await acknowledge(one.id, gone.id);
      known += 2;
      assert.equal((await verify()).code, 0);
      await reprice(one.id, 3);
      assert.deepEqual((await verify()).subject, one.id);
      await reprice(one.id, one.amount * 100);
      const putRight = await verify();
      assert.equal(putRight.subject, one.id, 'what is put right afterwards is a change as well');
      await reprice(one.id, 1);
      assert.equal((await verify()).code, 0);

      await insertOutside(harness.store, 'payments', JSON.parse(whole));
      const back = await verify();
      assert.deepEqual([back.code, back.subject, back.rows], [1, gone.id, 1]);
      await edit(`delete from payments where id in ('${gone.id}', '${one.id}')`);
      assert.deepEqual(
        (await verify()).faults.map(({ kind }: RowFault) => kind),
        ['missing'],
      );
      await acknowledge(one.id);
      known++;
      const green = await verify();
      assert.deepEqual([green.code, green.acknowledged], [0, known]);
    });

    test('a row of the intruder is held to what it was, with its version and state', async () => {
      const { id } = await harness.create();
      const row = await rowOf(id);
      const forged = { ...row, id: `${id.slice(0, -3)}zzz`, status: 'approved', version: 7 };
      await insertOutside(harness.store, 'payments', forged);
      assert.deepEqual((await verify()).faults[0].kind, 'added');
      await acknowledge(forged.id);
      known++;
      assert.equal((await verify()).code, 0);
      await edit(`update payments set version = 8 where id = '${forged.id}'`);
      assert.equal((await verify()).subject, forged.id);
      await edit(`update payments set version = 7 where id = '${forged.id}'`);
      assert.equal((await verify()).code, 0);

      const nameless = { ...row, id: 'zzzz' };
      await insertOutside(harness.store, 'payments', nameless);
      requireRefusal(await acknowledge('zzzz'), 1, /no id that this program makes: delete the row/);
      await edit("delete from payments where id = 'zzzz'");
      assert.equal((await verify()).code, 0);
    });

    test('a payment that was changed is decided by nobody until it is acknowledged, and then goes on', async () => {
      const ana = await addPerson(harness, 'administrator');
      const id = await sentForReview(harness);
      await edit(`update payments set amount_minor = 1, version = version + 4 where id = '${id}'`);
      for (const act of ['approve', 'reject']) {
        const body = act === 'reject' ? { reason: 'other' } : {};
        const refused = await post(harness, ana, `/admin/payments/${id}/${act}`, body);
        assert.deepEqual([refused.status, refused.json.error.code], [409, 'conflict'], act);
        assert.match(refused.json.error.message, /changed outside/);
      }
      assert.deepEqual(
        (await verify()).faults.map(({ subject }: RowFault) => subject),
        [id],
      );
      await acknowledge(id);
      known++;
      const approved = await post(harness, ana, `/admin/payments/${id}/approve`, { note: 'All is well.' });
      assert.equal(approved.status, 200, approved.text);
      const green = await verify();
      assert.deepEqual([green.code, green.acknowledged], [0, known], JSON.stringify(green));
      const { data } = (await harness.request(`/admin/payments/${id}`, { key: ana.token })).json;
      assert.ok(data.timeline.at(-2).sentence.includes(REASON));
      assert.deepEqual(
        data.review.map(({ note }: { note: string | null }) => note),
        ['All is well.'],
      );
    });

    test('two who act at the same moment are told of each other, not of a change outside', async () => {
      const people = [
        await addPerson(harness, 'administrator'),
        await addPerson(harness, 'administrator', 'Ben'),
      ];
      for (let round = 0; round < 5; round++) {
        const id = await sentForReview(harness);
        const answers = await Promise.all(
          [...people, ...people].map((one) => post(harness, one, `/admin/payments/${id}/approve`, {})),
        );
        for (const { status, json, text } of answers)
          assert.ok(status === 200 || json.error.code === 'invalid_status', text);
      }
    });

    test('what nothing is wrong with, no row and no reason are refused, and nothing is recorded', async () => {
      const { id } = await harness.create();
      const before = (await verify()).entries;
      for (const rows of [[id], ['pay_none'], ['history']]) {
        requireRefusal(await acknowledge(...rows), 1, /as the history says, or no row/);
      }
      const { id: bad } = await harness.create();
      await reprice(bad, 1);
      const half = await acknowledge(bad, id);
      assert.equal(half.code, 1, 'all or none');
      assert.equal((await verify()).subject, bad);
      for (const reason of ['', '  ', '4111 1111 1111 1111'])
        assert.equal((await command('acknowledge', bad, '--reason', reason)).code, 2, reason);
      assert.equal((await command('acknowledge', bad)).code, 2);
      assert.equal((await command('acknowledge', '--reason', REASON)).code, 2);
      await acknowledge(bad);
      known++;
      assert.equal((await verify()).entries, before + 2);
    });

    test('a fault that is another by then is not acknowledged', async () => {
      const { id } = await harness.create();
      const { database, journal } = harness.service;
      await reprice(id, 1);
      const faults: RowFault[] = [];
      const onFault = (fault: RowFault) => faults.push(fault);
      await assert.rejects(verifyHistory(database, { checkpoints: [] }, ROW_CHECKS, { onFault }));
      assert.deepEqual(
        faults.map(({ subject }) => subject),
        [id],
      );
      const act = { actor: 'operator', request_id: null };
      const late = () => journal.commit((one) => acknowledgeFaults(one, act, faults, REASON));
      await reprice(id, 2);
      await assert.rejects(late, { code: 'conflict' });
      await reprice(id, 1);
      await late();
      await assert.rejects(late, { code: 'conflict' }, 'its last entry is another');
      known++;
      assert.equal((await verify()).code, 0);
    });

    test('a stored response that was acknowledged is forgotten in its time like any other', async () => {
      harness.clock.advance(-HOUR_MS);
      await harness.create({}, { headers: { 'idempotency-key': 'seven-days' } });
      harness.clock.advance(HOUR_MS);
      await edit("update idempotency_keys set body = body || ' '");
      const [fault] = (await verify()).faults;
      assert.match(fault.subject, /^answer_/);
      await acknowledge(fault.subject);
      known++;
      assert.equal((await verify()).code, 0);
      // Its time is over by then, and would not be if it began with the acknowledgement.
      harness.clock.advance(7 * DAY_MS - HOUR_MS / 2);
      await forgetOldAnswers(harness.service.journal);
      assert.deepEqual(await harness.service.database.query('select scope from idempotency_keys'), []);
      const green = await verify();
      assert.deepEqual([green.code, green.kept_answers, green.acknowledged], [0, 0, known]);
    });

    test('an export names them, and a third party counts them', async () => {
      const file = join(folder, 'history.ndjson');
      assert.equal((await command('export', '--output', file)).code, 0);
      const said = execFileSync(process.execPath, [join(ROOT, 'scripts/verify-export.js'), file]).toString();
      assert.match(said, new RegExp(`^Verified: .*; ${known} acknowledged faults\\.\\n$`));
    });

    test('a broken history cannot be acknowledged', async () => {
      const { id } = await harness.create();
      await reprice(id, 1);
      const [sqlite, postgres] = ['audit_entries_no_update', 'audit_entries_append_only on audit_entries'];
      await edit(`drop trigger ${engine === 'sqlite' ? sqlite : postgres}`);
      await edit("update audit_entries set actor = 'somebody' where number = 1");
      requireRefusal(await acknowledge(id), 1, /the history itself is broken, which cannot be acknowledged:/);
      const entries = await entriesOf(harness.service.database, id);
      assert.equal(entries.length, 1, 'nothing is recorded');
    });

    async function rowOf(id: string) {
      harness.service.database.refresh();
      const [row] = await harness.service.database.query('select * from payments where id = ?', id);
      return row!;
    }
  });
}
