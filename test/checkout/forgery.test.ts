// Forms that are not ours, or not for this: each is refused with a page that can be read, and leaves no trace.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Row } from '../../src/store/database.ts';
import { type CheckoutPage, FROM_OUR_PAGE, load, open, TYPED } from '../support/customer.ts';
import { sharedHarness } from '../support/harness.ts';
import { sweep } from '../support/payments.ts';
import { createAt, SHOP } from '../support/shop.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const WITHOUT_LIMITS = 'checkout_forms_per_payment: 100000\ncheckout_forms_per_address: 1000000\n';
const LIFE_S = 300;

const ACTIONS = ['submit', 'cancel', 'ask'] as const;
type Action = (typeof ACTIONS)[number];

/** What a browser would send, before it is tampered with. */
interface Sent {
  path: string;
  /** The fields, until a forgery puts something else in their place. */
  values: Record<string, string>;
  body?: string | Uint8Array;
  headers: Record<string, string>;
}

interface Forgery {
  name: string;
  status: number;
  /** Tokens that are right for another payment and for another action come with it, and the origin that is ours. */
  forge(sent: Sent, right: { payment: string; action: string; origin: string }): Partial<Sent>;
}

const without = (values: Record<string, string>, name: string) =>
  Object.fromEntries(Object.entries(values).filter(([one]) => one !== name));
const withToken = (sent: Sent, token: string) => ({ values: { ...sent.values, token } });
const encoded = (values: Record<string, string>) => new URLSearchParams(values).toString();
const multipart = (values: Record<string, string>) =>
  `${Object.entries(values)
    .map(([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('')}--x--\r\n`;
const typed = (type: string) => ({ ...FROM_OUR_PAGE, 'content-type': type });
const said = (headers: Record<string, string>) => () => ({
  headers: { 'content-type': FORM_TYPE, ...headers },
});

const FORGERIES: readonly Forgery[] = [
  { name: 'no token', status: 403, forge: ({ values }) => ({ values: without(values, 'token') }) },
  { name: 'an empty token', status: 403, forge: (sent) => withToken(sent, '') },
  { name: 'a made-up token', status: 403, forge: (sent) => withToken(sent, 'forged') },
  {
    name: 'a wrong token of the right length',
    status: 403,
    forge: (sent) => withToken(sent, 'A'.repeat(sent.values.token!.length)),
  },
  {
    name: "another payment's token",
    status: 403,
    forge: (sent, { payment }) => withToken(sent, payment),
  },
  { name: "another action's token", status: 403, forge: (sent, { action }) => withToken(sent, action) },
  {
    name: 'a token that lacks its last character',
    status: 403,
    forge: (sent) => withToken(sent, sent.values.token!.slice(0, -1)),
  },
  {
    name: 'a token with a character behind it',
    status: 403,
    forge: (sent) => withToken(sent, `${sent.values.token}A`),
  },
  {
    name: 'a token in other letters',
    status: 403,
    forge: (sent) =>
      withToken(
        sent,
        sent.values.token!.replace(/[a-z]/gi, (letter) => swapped(letter)),
      ),
  },
  {
    name: 'a token behind a wrong one',
    status: 403,
    forge: ({ values }) => ({ body: `token=forged&${encoded(values)}` }),
  },
  {
    name: 'a token in the address alone',
    status: 403,
    forge: ({ path, values }) => ({
      path: `${path}&token=${values.token}`,
      values: without(values, 'token'),
    }),
  },
  { name: 'no action', status: 403, forge: ({ values }) => ({ values: without(values, 'action') }) },
  {
    name: 'an unknown action',
    status: 403,
    forge: ({ values }) => ({ values: { ...values, action: 'approve' } }),
  },
  {
    name: 'an action of every object',
    status: 403,
    forge: ({ values }) => ({ values: { ...values, action: 'constructor' } }),
  },
  { name: 'nothing', status: 403, forge: () => ({ body: '' }) },
  { name: 'Sec-Fetch-Site: cross-site', status: 403, forge: said({ 'sec-fetch-site': 'cross-site' }) },
  { name: 'Sec-Fetch-Site: same-site', status: 403, forge: said({ 'sec-fetch-site': 'same-site' }) },
  { name: 'Sec-Fetch-Site: none', status: 403, forge: said({ 'sec-fetch-site': 'none' }) },
  { name: 'an empty Sec-Fetch-Site', status: 403, forge: said({ 'sec-fetch-site': '' }) },
  {
    name: 'Sec-Fetch-Site: cross-site from our own Origin',
    status: 403,
    forge: (_sent, { origin }) => said({ 'sec-fetch-site': 'cross-site', origin })(),
  },
  { name: 'a foreign Origin', status: 403, forge: said({ origin: 'https://evil.example' }) },
  {
    name: 'a foreign Origin that begins like ours',
    status: 403,
    forge: said({ origin: 'http://127.0.0.1:80.evil.example' }),
  },
  {
    name: 'plain text',
    status: 415,
    forge: ({ values }) => ({ headers: typed('text/plain'), body: encoded(values) }),
  },
  {
    name: 'JSON',
    status: 415,
    forge: ({ values }) => ({ headers: typed('application/json'), body: JSON.stringify(values) }),
  },
  {
    name: 'a multipart form',
    status: 415,
    forge: ({ values }) => ({
      headers: typed('multipart/form-data; boundary=x'),
      body: multipart(values),
    }),
  },
  {
    name: 'a type that browsers do not send',
    status: 415,
    forge: ({ values }) => ({ headers: typed('nonsense'), body: encoded(values) }),
  },
  {
    name: 'more than 16 KiB',
    status: 413,
    forge: ({ values }) => ({ values: { ...values, note: 'x'.repeat(16 * 1024) } }),
  },
  {
    name: 'invalid UTF-8',
    status: 400,
    forge: ({ values }) => ({
      body: Buffer.concat([Buffer.from(`${encoded(values)}&note=`), Buffer.from([0xc3, 0x28])]),
    }),
  },
];

const swapped = (letter: string) =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();

describe('forged forms', () => {
  const harness = sharedHarness('sqlite', { configuration: SHOP + WITHOUT_LIMITS });

  /** A payment at which `action` can be done. */
  async function payable(action: Action): Promise<string> {
    const { id } = await createAt(harness, 'details', { expires_in: LIFE_S });
    if (action === 'ask') {
      harness.clock.advance(LIFE_S * 1000 + 1);
      await sweep(harness);
    }
    return id;
  }

  /** The form of `action` as its page has it, filled in. */
  async function formOf(id: string, action: Action): Promise<Sent> {
    const page = await open(harness, id, action === 'cancel' ? { view: 'cancel' } : {});
    const { action: address, values } = page.forms[0]!;
    assert.equal(values.action, action);
    return {
      path: address.pathname + address.search,
      values: { ...values, ...(action === 'submit' && TYPED.details) },
      headers: typed(FORM_TYPE),
    };
  }

  const post = ({ path, values, body, headers }: Sent) =>
    load(new URL(path, harness.origin), {
      method: 'POST',
      headers,
      body: body ?? encoded(values),
    } as RequestInit);

  /** All there is about a payment: its row and its entries. */
  async function kept(id: string): Promise<{ payment: Row; entries: Row[] }> {
    const [payment] = await harness.service.database.query<Row>('select * from payments where id = ?', id);
    const entries = await harness.service.database.query<Row>(
      'select * from audit_entries where subject = ? order by number',
      id,
    );
    return { payment: payment!, entries };
  }

  function assertReadable({ status, headers, text }: CheckoutPage, expected: number, label: string): void {
    assert.equal(status, expected, `${label}: ${text.slice(0, 300)}`);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8', label);
    assert.match(text, /<h1>[^<]{5,}<\/h1>\n<p>[^<]{5,}/, label);
    assert.match(headers.get('content-security-policy')!, /script-src 'none'/, label);
    assert.equal(headers.get('cache-control'), 'no-store', label);
  }

  for (const action of ACTIONS) {
    for (const { name, status, forge } of FORGERIES) {
      test(`${action} with ${name} is refused with ${status}, and nothing changes.`, async () => {
        const id = await payable(action);
        const sent = await formOf(id, action);
        const other = await formOf(await payable(action), action);
        const wrong = action === 'cancel' ? 'submit' : 'cancel';
        const strange = action === 'ask' ? other : await formOf(id, wrong);
        const before = await kept(id);
        const { origin } = new URL(harness.service.checkoutBaseUrl);
        const [payment, another] = [other.values.token!, strange.values.token!];
        const forged = forge(sent, { payment, action: another, origin });
        const answer = await post({ ...sent, ...forged });
        assertReadable(answer, status, name);
        assert.deepEqual(await kept(id), before);
        assert.equal((await post(sent)).status, 303, 'the form itself is in order');
        assert.equal((await kept(id)).entries.length, before.entries.length + 1);
      });
    }

    for (const [name, headers] of [
      ['an Origin of null and no fetch metadata', { origin: 'null' }],
      ['neither Origin nor fetch metadata', {}],
      ['a character set behind the type', { 'content-type': `${FORM_TYPE}; charset=UTF-8` }],
      ['its type in capitals', { 'content-type': FORM_TYPE.toUpperCase() }],
    ] as const) {
      test(`${action} with ${name} is taken, since its token is right.`, async () => {
        const id = await payable(action);
        const sent = await formOf(id, action);
        const { entries } = await kept(id);
        const answer = await post({ ...sent, headers: { 'content-type': FORM_TYPE, ...headers } });
        assert.equal(answer.status, 303);
        assert.equal((await kept(id)).entries.length, entries.length + 1);
      });
    }

    test(`${action} sent twice moves the payment once, and both answers lead to its page.`, async () => {
      const id = await payable(action);
      const sent = await formOf(id, action);
      const first = await post(sent);
      const after = await kept(id);
      const second = await post(sent);
      assert.deepEqual([first.status, second.status], [303, 303]);
      assert.equal(second.headers.get('location'), first.headers.get('location'));
      assert.deepEqual(await kept(id), after);
      assert.equal(after.payment.version, after.entries.length);
      assert.equal((await open(harness, id)).status, action === 'ask' ? 410 : 200);
    });

    test(`no GET or HEAD does what ${action} does, whatever stands in its address.`, async () => {
      const id = await payable(action);
      const { values, path } = await formOf(id, action);
      const before = await kept(id);
      const query = encoded({ ...values, ...TYPED.details, submit: '1', _method: 'POST' });
      for (const more of [
        query,
        `view=cancel&${query}`,
        `view=${action}`,
        `method=details&${query}`,
        `edit=contact&${query}`,
        `theme=dark&${query}`,
        `lang=de&${query}`,
        'status=approved&version=9',
      ])
        for (const method of ['GET', 'HEAD']) {
          const headers = { 'x-http-method-override': 'POST', ...FROM_OUR_PAGE };
          await harness.request(`${path}&${more}`, { method, key: null, headers });
        }
      assert.deepEqual(await kept(id), before);
    });
  }

  test('a form for a payment that is not there is answered as its page is.', async () => {
    const sent = await formOf(await payable('submit'), 'submit');
    for (const id of [`pay_${'0'.repeat(36)}`, 'x', '']) {
      const answer = await post({ ...sent, path: `/payment.php?payment_id=${id}` });
      assertReadable(answer, 404, id);
    }
  });

  test("one merchant's form does nothing to another merchant's payment.", async () => {
    const { id } = await createAt(harness, 'card');
    const sent = await formOf(await payable('submit'), 'submit');
    const before = await kept(id);
    const answer = await post({ ...sent, path: `/payment.php?payment_id=${id}&method=test_card` });
    assertReadable(answer, 403, id);
    assert.deepEqual(await kept(id), before);
  });

  test('the history verifies with all of it.', async () => {
    await harness.verify();
  });
});
