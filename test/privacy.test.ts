// A canary run: what must not be logged, recorded or kept is sent in every place there is, and then looked for.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { newSecret } from '../src/lib/secrets.ts';
import { KEY, OTHER_KEY, sharedHarness } from './support/harness.ts';
import { bytesOf, ENGINES } from './support/stores.ts';

const CARD_NUMBERS = ['4242424242424242', '5555555555554444', '378282246310005'];
const SPACED = CARD_NUMBERS.map((number) => number.replace(/(.{4})(?=.)/g, '$1 '));
const WRONG_KEY = newSecret('cfk_live_');
const KEYS = [KEY, OTHER_KEY, WRONG_KEY];
const PERSON = {
  name: 'Canary Quillfeather',
  email: 'canary.quillfeather@example.org',
  phone: '+49 30 5550 1234 56',
};
const WORDS = {
  reference: 'canary-reference-7391',
  text: 'canary description 7391',
  secret: 'canary-secret-7391',
  code: '737-cvv-737',
};
const CARDS = [...CARD_NUMBERS, ...SPACED, ...SPACED.map((text) => text.replaceAll(' ', '-'))];

for (const engine of ENGINES) {
  describe(`privacy on ${engine}`, () => {
    const service = sharedHarness(engine);

    before(async () => {
      await canaryRun();
    });

    const post = (body: unknown, headers: Record<string, string> = {}) =>
      service.request('/v1/payments', { method: 'POST', body, headers });

    async function canaryRun(): Promise<void> {
      // What is taken: personal data in its fields, keys in their header.
      const whole = {
        amount: 73.91,
        merchant_reference: WORDS.reference,
        description: WORDS.text,
        customer: PERSON,
        return_url: `https://shop.example/${WORDS.secret}`,
        cancel_url: `https://shop.example/?s=${WORDS.secret}`,
        metadata: { note: WORDS.secret, person: PERSON },
      };
      const headers = {
        'idempotency-key': WORDS.secret,
        'user-agent': WORDS.secret,
        referer: `https://x.example/${WORDS.secret}`,
        cookie: `c=${WORDS.secret}`,
        'x-forwarded-for': WORDS.secret,
        'x-request-id': WORDS.secret,
      };
      const first = await post(whole, headers);
      assert.equal(first.status, 201);
      assert.equal((await post(whole, headers)).headers.get('idempotency-replayed'), 'true');
      const { id, checkout_url } = first.json.data;
      assert.equal((await fetch(`${checkout_url}&name=${encodeURIComponent(PERSON.name)}`)).status, 200);
      assert.equal(
        (await service.request(`/v1/payments?merchant_reference=${WORDS.reference}`)).json.data.length,
        1,
      );
      assert.equal(
        (await service.request(`/v1/payments/${id}/cancel`, { method: 'POST', body: JSON.stringify(PERSON) }))
          .status,
        200,
      );
      await service.create({}, { key: OTHER_KEY });

      // What is refused: card data everywhere, in fields, names, headers, queries and paths.
      for (const card of CARDS) {
        for (const fields of [
          { card_number: card },
          { card: { number: card, cvv: WORDS.code } },
          { cvv: WORDS.code },
          { metadata: { note: card } },
          { metadata: { [card]: 1 } },
          { metadata: { pan: card } },
          { description: `Card ${card}` },
          { customer: { name: card } },
          { customer: { ...PERSON, cvc: WORDS.code } },
          { currency: card },
          { amount: card },
          { return_url: card },
          { expires_in: card },
          { customer: { email: card } },
          { metadata: card },
          { customer: card },
        ]) {
          const { status } = await post({ amount: 1, ...fields });
          assert.equal(status, 422, JSON.stringify(fields));
        }
        assert.equal((await post({ amount: 1, unknown: card })).status, 201);
        assert.equal((await post(`{"amount":1,"card":"${card}"`)).status, 400);
        assert.equal(
          (await post(`card=${card}`, { 'content-type': 'application/x-www-form-urlencoded' })).status,
          415,
        );
        assert.equal(
          (
            await post(
              { amount: 1 },
              { 'idempotency-key': card, 'user-agent': card, 'x-card': card, prefer: card },
            )
          ).status,
          201,
        );
        const escaped = encodeURIComponent(card);
        for (const path of [
          `/v1/payments?merchant_reference=${escaped}&card=${escaped}`,
          `/v1/payments?cursor=${escaped}&limit=${escaped}`,
          `/v1/payments/${escaped}`,
          `/${escaped}`,
          `/health?card=${escaped}`,
          `/payment.php?payment_id=${escaped}`,
          `/v1/${escaped}%zz`,
        ])
          await service.request(path);
        await service.request(`/v1/payments/${id}/cancel`, { method: 'POST', body: { card_number: card } });
        await service.request(`/v1/payments/${escaped}/cancel`, { method: 'POST' });
        await service.request('/v1/payments', { key: card });
      }

      // Keys where they do not belong, and a wrong one where keys belong.
      for (const key of KEYS) {
        for (const path of [
          `/v1/payments?api_key=${key}`,
          `/v1/payments/${key}`,
          `/${key}`,
          `/payment.php?payment_id=${key}`,
        ])
          await service.request(path, { key: null });
        await service.request('/v1/payments', {
          key: null,
          headers: { 'x-api-key': key, authorization: `Basic ${key}` },
        });
      }
      assert.equal((await service.request('/v1/payments', { key: WRONG_KEY })).status, 401);
    }

    /** The rows of every table, as text. */
    async function rowsOf(...tables: string[]): Promise<string> {
      let text = '';
      for (const table of tables)
        for (const row of await service.service.database.query(`select * from ${table}`))
          text += `${JSON.stringify(row)}\n`;
      return text;
    }

    async function tables(): Promise<string[]> {
      const sql =
        engine === 'sqlite'
          ? "select name from sqlite_schema where type = 'table'"
          : "select table_name as name from information_schema.tables where table_schema = 'public'";
      return (await service.service.database.query<{ name: string }>(sql)).map(({ name }) => name);
    }

    /** Everything the store holds: all rows, and every byte of every file. */
    async function everything(): Promise<string> {
      const { storage } = service.store;
      return (await rowsOf(...(await tables()))) + bytesOf(storage);
    }

    function assertNone(text: string, canaries: readonly string[]): void {
      for (const canary of canaries) {
        const found = text.indexOf(canary);
        assert.equal(found, -1, `${canary} in: ${text.slice(Math.max(0, found - 200), found + 80)}`);
      }
    }

    test('the store does hold what the merchant may keep, so that looking there means something.', async () => {
      const text = await everything();
      for (const kept of [PERSON.email, WORDS.reference, 'payment.created', 'answer.kept'])
        assert.ok(text.includes(kept), kept);
      if (engine === 'sqlite')
        assert.ok(readFileSync(join(service.store.storage, 'counterfoil.sqlite-wal')).includes(PERSON.email));
      assert.ok(service.logged.length > 100);
    });

    test('no card number stands anywhere in the store.', async () => {
      assertNone(await everything(), [...CARDS, WORDS.code]);
    });

    test('no key stands anywhere in the store.', async () => {
      assertNone(await everything(), KEYS);
    });

    test('no personal data, card number, key or text of a merchant stands in the history.', async () => {
      assertNone(await rowsOf('audit_entries', 'seals', 'journal_head'), [
        ...Object.values(PERSON),
        ...Object.values(WORDS),
        ...CARDS,
        ...KEYS,
      ]);
    });

    test('none of it is logged.', () => {
      assertNone(service.logged.join(''), [
        ...Object.values(PERSON),
        ...Object.values(WORDS),
        ...CARDS,
        ...KEYS,
        'cfk_',
        encodeURIComponent(PERSON.name),
      ]);
    });

    test('none of it is logged when the store fails in the middle of it.', async () => {
      const { journal } = service.service;
      const constraint =
        engine === 'sqlite'
          ? "create trigger trap before insert on payments begin select raise(abort, 'trap'); end"
          : 'alter table payments add constraint trap check (amount_minor <> 7619)';
      await journal.commit((transaction) => transaction.query(constraint));
      const begun = service.logged.length;
      const answer = await post({
        amount: 76.19,
        description: WORDS.text,
        customer: PERSON,
        metadata: { note: WORDS.secret },
      });
      assert.equal(answer.status, 500);
      const logged = service.logged.slice(begun).join('');
      assert.match(logged, /a defect/);
      assertNone(logged + answer.text, [...Object.values(PERSON), ...Object.values(WORDS), ...KEYS]);
    });
  });
}
