// A customer's way through checkout by each method, and what the merchant reads of it afterwards.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseConfiguration } from '../../src/operate/config.ts';
import { HEADINGS, open, send, TYPED } from '../support/customer.ts';
import { sharedHarness } from '../support/harness.ts';
import { createAt, KEYS, type OfferName, SHOP } from '../support/shop.ts';
import { decide, submitted } from './scenes.ts';

type Method = keyof typeof TYPED;

/** What the API shows of what was typed: masked. */
const MASKED: Record<Method, object> = {
  card: {
    method: 'test_card',
    type: 'test_card',
    name: null,
    card: { brand: 'Visa', last4: '4242' },
    payer_email: 'a•••@example.org',
  },
  transfer: {
    method: 'bank_transfer',
    type: 'bank_transfer',
    name: null,
    payer_email: 'a•••@example.org',
    transfer_name: 'A••• L•••',
    transfer_account: 'GB•• •••• 5432',
  },
  cash: {
    method: 'cash',
    type: 'manual',
    name: 'Cash on delivery',
    payer_name: 'A••• L•••',
    payer_email: 'a•••@example.org',
    customer_reference: '••• 17',
  },
  details: {
    method: 'details',
    type: 'details',
    name: null,
    payer_name: 'A••• L•••',
    payer_email: 'a•••@example.org',
    payer_phone: '••• 58',
    note: 'After six, thank you.',
  },
};

describe(`checkout's flow`, () => {
  const harness = sharedHarness('sqlite', { configuration: SHOP });

  const read = async (id: string, offer: OfferName) =>
    (await harness.request(`/v1/payments/${id}`, { key: KEYS[offer] })).json.data;
  const entries = async (id: string) =>
    harness.service.database.query<{ action: string; actor: string; facts: string }>(
      'select action, actor, facts from audit_entries where subject = ? order by number',
      id,
    );

  for (const method of Object.keys(TYPED) as Method[]) {
    test(`${method}: what is sent moves the payment to review, and the API shows it masked.`, async () => {
      const { id } = await createAt(harness, method);
      const page = await send(await open(harness, id), TYPED[method]);
      assert.deepEqual([page.status, page.h1], [200, HEADINGS[method]]);
      const payment = await read(id, method);
      assert.equal(payment.status, 'requires_review');
      const { submitted_at, transfer_reference, ...details } = payment.payment_details;
      assert.deepEqual(details, MASKED[method]);
      assert.match(submitted_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
      assert.equal(/^RF\d\d/.test(transfer_reference), method === 'transfer');
      const [, submit] = await entries(id);
      assert.deepEqual([submit!.action, submit!.actor], ['payment.requires_review', 'customer']);
    });
  }

  test('no day to pay by stands above cash on delivery: the page is open until then.', async () => {
    const told = async (method: OfferName, lang = 'en') => {
      const { id } = await createAt(harness, method);
      const { text } = await open(harness, id, { lang });
      return [/Pay by|Zahlbar bis/.test(text), /Open until|Offen bis/.test(text)];
    };
    assert.deepEqual(await told('cash'), [false, true]);
    assert.deepEqual(await told('cash', 'de'), [false, true]);
    assert.deepEqual(await told('transfer'), [true, false]);
  });

  test('a transfer is copied as the page writes it, and a name that is not the shop’s is explained.', async () => {
    const copied = async (currency: string, amount: number, lang = 'en') => {
      const { id } = await createAt(harness, 'transfer', { currency, amount });
      const { text } = await open(harness, id, { lang });
      const values = [...text.matchAll(/<bdi class="copy"[^>]*>([^<]*)<\/bdi><input[^>]*>([^<]*)/g)];
      return { text, values: values.map(([, value, beside]) => [value, beside!.trim()]) };
    };
    const yen = await copied('JPY', 12800);
    assert.deepEqual(yen.values.at(-2), ['12,800', 'JPY']);
    const euro = await copied('EUR', 1234.5);
    assert.deepEqual(euro.values.at(-2), ['1,234.50', 'EUR']);
    for (const lang of ['de', 'fr', 'es', 'it', 'nl', 'pl', 'tr', 'pt-BR']) {
      const { text, values } = await copied('EUR', 21234.5, lang);
      const [pasted] = values.at(-2)!;
      assert.match(pasted!, /^21\D?234,50$/, lang);
      assert.ok(text.split(pasted!).length > 2, `${lang}: people read ${pasted}`);
    }
    assert.match(euro.text, /Corner Shop<\/bdi> is paid under/);
    const pound = await copied('GBP', 1);
    assert.match(pound.values.at(-1)![0]!, /^\d\d[0-9A-Z]{15}$/);
    assert.doesNotMatch(pound.text, /is paid under/);
  });

  test('a currency that no way to pay takes is said to the developer of a test payment.', async () => {
    const note = /no configured way to pay takes (<bdi>)?SEK/;
    const { id } = await createAt(harness, 'transfer', { currency: 'SEK' });
    assert.match((await open(harness, id)).text, note);
    const { id: wanted } = await createAt(harness, 'details', { currency: 'SEK' });
    assert.doesNotMatch((await open(harness, wanted)).text, note);
  });

  test('a merchant reads when and why a payment was rejected, and nothing of a suspicion.', async () => {
    for (const [reason, told] of [
      ['transfer_not_received', 'transfer_not_received'],
      ['suspected_fraud', 'other'],
    ] as const) {
      const { id } = await submitted(harness, 'transfer');
      const { submitted_at, decided_at, review_message, status_reason } = await read(id, 'transfer');
      assert.match(submitted_at, /^\d{4}-/);
      assert.deepEqual([decided_at, review_message, status_reason], [null, null, null]);
      await decide(harness, id, 'reject', 'Nothing came.', reason);
      const rejected = await read(id, 'transfer');
      assert.match(rejected.decided_at, /^\d{4}-/);
      assert.deepEqual(
        [rejected.status, rejected.status_reason, rejected.review_message],
        ['rejected', told, 'Nothing came.'],
      );
    }
    await harness.verify();
  });

  test('the code of a transfer is a picture as well, also once it was announced.', async () => {
    const { id } = await createAt(harness, 'transfer');
    const page = await open(harness, id);
    const picture = async (address: URL) => {
      const answer = await fetch(address);
      return [
        answer.status,
        answer.headers.get('content-type'),
        (await answer.arrayBuffer()).byteLength,
      ] as const;
    };
    const first = await picture(page.link('Save the code as a picture'));
    assert.deepEqual(first.slice(0, 2), [200, 'image/png']);
    const sent = await send(page, TYPED.transfer);
    assert.deepEqual(await picture(sent.link('Save the code as a picture')), first);
    const { id: other } = await createAt(harness, 'details');
    assert.equal((await open(harness, other, { view: 'code' })).status, 404);
  });

  test('the reviewer has what was typed whole, and of a card its brand and last four alone.', async () => {
    const { id } = await submitted(harness, 'card');
    const [row] = await harness.service.database.query<{ submission: string }>(
      'select submission from payments where id = ?',
      id,
    );
    const { submitted_at, ...whole } = JSON.parse(row!.submission);
    assert.deepEqual(whole, {
      method: 'test_card',
      type: 'test_card',
      name: null,
      language: 'en',
      card: { brand: 'Visa', last4: '4242' },
      payer_email: 'ada@example.org',
    });
  });

  test('the account that is kept is the one the page showed, whatever the configuration says by then.', async () => {
    const { offer } = harness.service;
    const { methods } = parseConfiguration(
      `environment: development\n${'merchants:\n'}${SHOP}`,
      '/etc/counterfoil.yaml',
    );
    const { id } = await createAt(harness, 'transfer');
    const page = await open(harness, id);
    const moved = methods.map((one) => ({
      ...one,
      accounts: one.accounts.map((account) => ({ ...account, iban: 'GB82WEST12345698765432' })),
    }));
    offer.replace(moved);
    try {
      const after = await send(page, TYPED.transfer);
      assert.ok(after.body.includes('DE89 3704 0044 0532 0130 00'), after.body);
      const fresh = await open(harness, (await createAt(harness, 'transfer')).id);
      assert.ok(fresh.body.includes('GB82 WEST 1234 5698 7654 32'), 'others see the new one');
      const [forged] = [await open(harness, (await createAt(harness, 'transfer')).id)];
      forged.forms[0]!.values.shown = forged.forms[0]!.values.shown!.replace('GB82', 'DE89');
      assert.equal((await send(forged, TYPED.transfer)).status, 403, 'nobody tells us what we showed');
    } finally {
      offer.replace(methods);
    }
  });

  test('a payment is cancelled by its customer after one question, and its page says by whom.', async () => {
    const { id } = await createAt(harness, 'details');
    const page = await open(harness, id);
    const question = await open(
      harness,
      id,
      Object.fromEntries(page.link('Cancel this payment').searchParams),
    );
    assert.equal(question.h1, 'Cancel this payment?');
    const done = await send(question);
    assert.equal(done.h1, 'This payment was cancelled');
    const { status, status_reason } = await read(id, 'details');
    assert.deepEqual([status, status_reason], ['cancelled', 'cancelled_by_customer']);
  });

  test('a new link is asked for once, and the merchant sees when.', async () => {
    const { id } = await createAt(harness, 'details', { expires_in: 300 });
    harness.clock.advance(300_001);
    const page = await open(harness, id);
    assert.deepEqual([page.status, page.forms[0]!.button], [410, 'Ask Corner Shop for a new link']);
    const asked = await send(page);
    assert.deepEqual([asked.status, asked.forms.length], [410, 0]);
    const before = await read(id, 'details');
    assert.match(before.link_requested_at, /^\d{4}-/);
    const again = await send(page);
    assert.equal(again.status, 410);
    assert.deepEqual(await read(id, 'details'), before);
    const actions = (await entries(id)).map(({ action }) => action);
    assert.deepEqual(actions, ['payment.created', 'payment.cancelled', 'payment.link_requested']);
  });

  test('a form with faults names each at its field, keeps what was typed, and changes nothing.', async () => {
    const { id } = await createAt(harness, 'details');
    const page = await open(harness, id);
    const answer = await send(page, {
      'payer-name': 'Ada <Lovelace>',
      'payer-email': 'ada@',
      note: 'x'.repeat(141),
    });
    assert.equal(answer.status, 422);
    assert.equal(answer.title, 'Error: Pay Corner Shop – €49.90');
    assert.equal(answer.forms[0]!.values['payer-name'], 'Ada <Lovelace>');
    for (const message of [
      'Email address must look like name@example.com',
      'Message must be 140 characters or fewer',
    ])
      assert.equal(answer.text.split(message).length, 3, message); // in the summary and at the field
    assert.equal((await read(id, 'details')).status, 'pending');
  });

  test('the history verifies with all of it.', async () => {
    const { payments } = await harness.verify();
    assert.ok(payments! > 8);
  });
});
