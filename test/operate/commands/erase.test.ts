// counterfoil erase: what was personal is in no row, no file and no export, and everything else is as it was.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, test } from 'node:test';
import { DAY_MS, formatTimestamp } from '../../../src/lib/time.ts';
import { verifyExport } from '../../campaigns/third-party.ts';
import { entryCount } from '../../support/admin.ts';
import {
  COMMAND,
  hasTerminal,
  operatorOf,
  requireRefusal,
  run,
  startOnTerminal,
} from '../../support/command.ts';
import { sharedHarness } from '../../support/harness.ts';
import { insertOutside } from '../../support/outside.ts';
import { decide, submit } from '../../support/payments.ts';
import { ENGINES } from '../../support/stores.ts';

const EMAIL = 'Canary.Quillfeather@example.org';
const CUSTOMER = { name: 'Canary Quillfeather', email: EMAIL, phone: '+49 30 5550 1234 56' };
const SENT = {
  payer_name: 'Kanarie Federkiel',
  payer_email: 'kanarie@federkiel.example',
  transfer_account: 'GB82WEST12345698765432',
  note: 'canary-note-7391 after six, please',
};
const OTHERS = 10;
const METADATA = 'canary-metadata-7391';
const WORDS = {
  description: 'canary-description-7391',
  return_url: 'https://shop.example/canary-return-7391',
  cancel_url: 'https://shop.example/?who=canary-cancel-7391',
  // Long enough for pages of its own, which every change of the row leaves behind and takes anew.
  metadata: { note: `${METADATA} `.repeat(400) },
};
const REVIEW = 'Thank you, Zoë.';
const CANARIES = [
  ...Object.values(CUSTOMER),
  ...Object.values(SENT),
  WORDS.description,
  WORDS.return_url,
  WORDS.cancel_url,
  METADATA,
  'zoe@example.org', // by which `submit` has reviewers find the payment
];

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    const service = sharedHarness(engine, { isVerified: true });
    let env: Record<string, string>;
    const command = (...args: string[]) => run(args, { env });
    /** The same with the store to itself where it must have that. */
    async function erase(...args: string[]) {
      if (engine === 'sqlite') await service.stop();
      const ended = await command('erase', ...args);
      if (engine === 'sqlite') await service.start();
      return ended;
    }

    before(() => {
      env = operatorOf(service.store);
    });

    const key = (name: string) => ({ headers: { 'idempotency-key': name } });
    let made = 0;
    const whole = (fields: object = {}, options = key(`create-${made++}`)) =>
      service.create({ merchant_reference: 'ORDER-7', ...WORDS, customer: CUSTOMER, ...fields }, options);

    async function approved(fields: object = {}): Promise<string> {
      const { id } = await whole(fields);
      await submit(service, id, SENT);
      await decide(service, id);
      return id;
    }

    async function rows(...tables: string[]): Promise<string> {
      const texts = await Promise.all(
        tables.map((table) => service.service.database.query(`select * from ${table}`)),
      );
      return texts
        .flat()
        .map((row) => JSON.stringify(row))
        .sort()
        .join('\n');
    }
    const ALL = ['payments', 'idempotency_keys', 'audit_entries', 'seals', 'journal_head'];

    /** Every byte of the stopped store's files. */
    const files = () =>
      readdirSync(service.store.storage)
        .filter((name) => name !== 'counterfoil.yaml')
        .map((name) => readFileSync(join(service.store.storage, name)).toString('utf8'))
        .join('\n');

    const found = (text: string) => [...CANARIES, REVIEW].filter((canary) => text.includes(canary));

    test('what was personal is in no row, no file and no export, and both verifiers are content', async () => {
      const id = await approved();
      const cancelled = (await whole()).id;
      for (let i = 0; i < OTHERS; i++) await approved(); // enough for pages that were left behind and not taken anew
      await service.request(`/v1/payments/${cancelled}/cancel`, { method: 'POST', ...key('cancel') });
      // Of a mail server that is not written to any more.
      await insertOutside(service.store, 'letters', {
        ...{ id: 'ltr_1', kind: 'receipt', about: id, recipient: 'customer', once: 'receipt 1' },
        ...{ status: 'failed', created_at: 1, attempts: 1, answer: `550 ${EMAIL} unknown` },
      });
      const { salt, updated_at } = (
        await service.service.database.query('select salt, updated_at from payments where id = ?', id)
      )[0]!;
      assert.deepEqual(found(await rows(...ALL)), [...CANARIES, REVIEW], 'it was there to be erased');

      if (engine === 'sqlite') await service.stop();
      for (const one of [id, cancelled]) {
        const { code, stdout } = await command('erase', '--payment', one, '--json');
        assert.equal(code, 0);
        assert.deepEqual(JSON.parse(stdout), {
          erased: 1,
          kept_answers: one === id ? 1 : 2,
          left: [],
        });
      }
      const others = await command('erase', '--email', EMAIL, '--yes', '--json');
      assert.deepEqual(JSON.parse(others.stdout), { erased: OTHERS, kept_answers: OTHERS, left: [] });
      if (engine === 'sqlite') {
        assert.deepEqual(found(files()), []);
        assert.ok(files().includes('ORDER-7'), 'looking there means something');
        await service.start();
      }
      const output = join(service.store.storage, 'export.ndjson');
      assert.equal((await command('audit', 'export', '--output', output)).code, 0);
      assert.deepEqual(found((await rows(...ALL, 'letters')) + readFileSync(output, 'utf8')), []);
      assert.match((await command('audit', 'verify')).stdout, /^Verified: .* 12 payments, 0 stored/);
      assert.match((await verifyExport(output)).said, /^Verified: /);

      const { data } = (await service.request(`/v1/payments/${id}`)).json;
      const { amount, status, merchant_reference, ...rest } = data;
      assert.deepEqual([amount, status, merchant_reference], ['49.90', 'approved', 'ORDER-7']);
      assert.equal(rest.updated_at, formatTimestamp(Number(updated_at)), 'the moment of the decision stays');
      for (const name of [...Object.keys(WORDS), 'customer', 'payment_details'])
        assert.equal(rest[name], null, name);
      assert.equal((await fetch(data.checkout_url)).status, 200, 'its page still opens');
      const [now] = await service.service.database.query('select salt from payments where id = ?', id);
      assert.notEqual(now!.salt, salt);
    });

    if (engine === 'sqlite') {
      // While nothing else of the store is personal.
      test('whoever else has the file open is told of, for the old state stays in it', async () => {
        const id = await approved();
        await service.stop();
        const reader = new DatabaseSync(join(service.store.storage, 'counterfoil.sqlite'), {
          readOnly: true,
        });
        reader.exec('begin');
        reader.prepare('select count(*) from payments').get();
        const { code, stderr } = await command('erase', '--payment', id);
        assert.equal(code, 1);
        assert.match(stderr, /another program has/);
        assert.notDeepEqual(found(files()), []);
        reader.close();
        await service.start();
        await service.stop();
        assert.deepEqual(found(files()), []);
        await service.start();
      });
    }

    test('an e-mail address finds what its customer was named with and what they sent, in any letter case', async () => {
      await approved({ customer: { email: EMAIL.toUpperCase() } });
      const { id: sent } = await service.create({ description: 'sent' });
      await submit(service, sent, { payer_email: EMAIL });
      await decide(service, sent, 'reject');
      const { id: pending } = await whole({ description: 'pending' });
      const { id: other } = await whole({ customer: { email: `x${EMAIL}` }, description: 'other' });
      await service.request(`/v1/payments/${other}/cancel`, { method: 'POST' });

      const entries = await entryCount(service);
      requireRefusal(await erase('--email', EMAIL), 1, /^counterfoil: 3 payments have this e-mail address:/);
      assert.equal(await entryCount(service), entries);

      const { code, stdout } = await erase('--email', EMAIL, '--yes');
      assert.equal(code, 1, 'one is left');
      assert.match(stdout, /^Erased: 2 payments, 1 stored response\.\n/);
      assert.match(stdout, new RegExp(`\nLeft as .*${pending} is pending; `));
      const left = await service.service.database.query<{ id: string }>(
        'select id from payments where description is not null or customer is not null',
      );
      assert.deepEqual(left.map(({ id }) => id).sort(), [pending, other].sort());
      const again = await erase('--email', `nobody-${EMAIL}`, '--yes');
      assert.deepEqual([again.code, again.stdout.split(':')[0]], [0, 'Nothing is erased']);
    });

    if (engine === 'sqlite')
      test('beside a running server it refuses and says what to do', async () => {
        const args = ['--payment', await approved()];
        const entries = await entryCount(service);
        requireRefusal(await command('erase', ...args), 1, /^counterfoil: a server is/);
        assert.equal(await entryCount(service), entries);
      });

    test('the history tells who erased, and nothing of whom', async () => {
      await erase('--payment', await approved());
      const entries = await service.service.database.query(
        'select actor, action, facts from audit_entries order by number desc limit 2',
      );
      assert.deepEqual(
        entries.map(({ actor, action }) => [actor, action]),
        [
          ['operator', 'answer.erased'],
          ['operator', 'payment.erased'],
        ],
      );
      assert.deepEqual(Object.keys(JSON.parse(String(entries[1]!.facts))), ['answers', 'row']);
      assert.deepEqual(JSON.parse(String(entries[0]!.facts)), { row: null });
    });

    test('a payment that something may still come of is refused, and left as it is', async () => {
      const pending = (await whole()).id;
      const review = (await whole()).id;
      await submit(service, review, SENT);
      const before = [await rows('payments'), await entryCount(service)];
      for (const [id, status] of [
        [pending, 'pending'],
        [review, 'requires_review'],
      ]) {
        const { code, stdout, stderr } = await erase('--payment', id);
        assert.deepEqual([code, stdout], [1, '']);
        assert.equal(
          stderr,
          `counterfoil: the payment ${id} is ${status}; only an approved, rejected or cancelled one can be erased\n`,
        );
      }
      requireRefusal(await erase('--payment', 'pay_none'), 1, /no payment pay_none; /);
      assert.deepEqual([await rows('payments'), await entryCount(service)], before);
    });

    test('on a terminal it asks, and takes anything but yes for no', {
      skip: !hasTerminal && 'no script',
    }, async () => {
      const id = await approved({ customer: { email: 'typed@example.org' } });
      if (engine === 'sqlite') await service.stop();
      for (const [typed, code] of [
        ['\r', 1],
        ['y\r', 0],
      ] as const) {
        const line = `'${process.execPath}' '${COMMAND}' erase --email typed@example.org`;
        const terminal = startOnTerminal(line, { env });
        await terminal.until(/1 payment has this e-mail address\. Erase .* \[y\/N\] /);
        terminal.child.stdin!.write(typed);
        assert.equal((await terminal.ended).code, code, typed);
        if (code === 1) assert.match(terminal.stdout, /nothing was erased/);
      }
      if (engine === 'sqlite') await service.start();
      assert.equal((await service.request(`/v1/payments/${id}`)).json.data.customer, null);
    });

    test('a payment whose time has passed is erased though nobody wrote down that it expired', async () => {
      service.clock.advance(-400 * DAY_MS); // the command's is not
      const { id } = await whole();
      assert.equal((await erase('--payment', id)).code, 0);
      const { database } = service.service;
      const [row] = await database.query('select status, version from payments where id = ?', id);
      assert.deepEqual({ ...row }, { status: 'cancelled', version: 3 });
    });
  });
}

test('it wants either a payment or an address', async () => {
  for (const args of [[], ['--payment', 'pay_1', '--email', 'a@b.example']]) {
    requireRefusal(await run(['erase', ...args]), 2, /name either a payment/);
  }
});
