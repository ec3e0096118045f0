// Contests for one payment through its forms: one winner each, and whoever came second is shown what is.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { SECOND_MS } from '../../src/lib/time.ts';
import type { Payment } from '../../src/payments/payment.ts';
import { type CheckoutPage, FROM_OUR_PAGE, HEADINGS, load, TYPED } from '../support/customer.ts';
import { sweep } from '../support/payments.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { KEYS, SHOP } from '../support/shop.ts';
import { ENGINES } from '../support/stores.ts';
import { type Nodes, startNodes } from './nodes.ts';

const CONTESTS = Number(process.env.COUNTERFOIL_RUNS) || 1000;
/** Contests of the rarer kinds: for each thousand of the others. */
const FEWER = Math.ceil(CONTESTS / 5);
const AT_ONCE = 50;
const TWINS = 20;
/** Of the loop, which the services share: about what it takes until a heap of forms is read. */
const TURNS = 60;
/** The shortest life a payment may have. */
const LIFE_S = 300;
const CONFIGURATION = `${SHOP}checkout_forms_per_payment: 100000\ncheckout_forms_per_address: 1000000\n`;

const random = new SeededRandom();

interface Form {
  address: string;
  body: string;
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** The first form of a page's markup, filled in with `typed`. */
function formIn(markup: string, typed: Record<string, string> = {}): Form {
  const [form, address] = /<form method="post" action="([^"#]+)[\s\S]*?<\/form>/.exec(markup)!;
  const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]+)">/g)];
  const values = { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), ...typed };
  return { address: address!.replaceAll('&amp;', '&'), body: new URLSearchParams(values).toString() };
}

for (const engine of ENGINES) {
  describe(`contests on ${engine}`, () => {
    let shop: Nodes;
    let turn = 0;
    /** Those that the merchant was told to have cancelled. */
    const cancelled = new Set<string>();
    before(async () => {
      console.log(
        `contests: seed ${random.seed} (COUNTERFOIL_SEED), ${CONTESTS} contests (COUNTERFOIL_RUNS)`,
      );
      shop = await startNodes(engine, CONFIGURATION);
    });
    after(() => shop.close());

    /** The nodes in turn. */
    const origin = () => shop.origins[turn++ % shop.origins.length]!;

    const create = async (fields: object = {}): Promise<string> =>
      (await shop.harness.create({ currency: 'EUR', ...fields }, { key: KEYS.details })).id;
    const several = (count: number, fields: object = {}) =>
      Promise.all(Array.from({ length: count }, () => create(fields)));

    async function formOf(id: string, query = ''): Promise<Form> {
      const response = await fetch(`${origin()}/payment.php?payment_id=${id}${query}`);
      return formIn(await response.text(), query === '' ? TYPED.details : {});
    }
    const submitOf = (id: string) => formOf(id);
    const cancelOf = (id: string) => formOf(id, '&view=cancel');

    async function post({ address, body }: Form): Promise<CheckoutPage> {
      const at = origin();
      const headers = { 'content-type': 'application/x-www-form-urlencoded', ...FROM_OUR_PAGE };
      const response = await fetch(at + address, { method: 'POST', redirect: 'manual', headers, body });
      assert.equal(response.status, 303, await response.text());
      return load(new URL(response.headers.get('location')!, at));
    }

    async function rowOf(id: string): Promise<Payment> {
      const [row] = await shop.harness.service.database.query<Payment>(
        'select * from payments where id = ?',
        id,
      );
      return row!;
    }
    async function actionsOf(id: string): Promise<string[]> {
      const rows = await shop.harness.service.database.query<{ action: string }>(
        'select action from audit_entries where subject = ? order by number',
        id,
      );
      return rows.map(({ action }) => action);
    }

    const SHOWN: Record<string, [status: number, heading: string]> = {
      requires_review: [200, HEADINGS.details],
      cancelled: [200, 'This payment was cancelled'],
      expired: [410, 'This payment link has expired'],
    };

    /** One move, one entry beside its creation, and every answer shows where that led. Returns where. */
    async function settled(id: string, answers: readonly CheckoutPage[]): Promise<string> {
      const { status, status_reason, version } = await rowOf(id);
      const end = status_reason === 'expired' ? 'expired' : status;
      const label = `${id}, seed ${random.seed}`;
      assert.equal(version, 2, label);
      assert.deepEqual(await actionsOf(id), ['payment.created', `payment.${status}`], label);
      for (const answer of answers) assert.deepEqual([answer.status, answer.h1], SHOWN[end], label);
      return status_reason ?? status;
    }

    /** Contests in heaps, the requests of each heap shuffled. Returns how often each end came. */
    async function contests(
      count: number,
      fields: object,
      contenders: (id: string) => Promise<(() => Promise<CheckoutPage | undefined>)[]>,
      meanwhile: () => Promise<unknown> = async () => {},
    ): Promise<Record<string, number>> {
      const ends: Record<string, number> = {};
      for (let done = 0; done < count; done += AT_ONCE) {
        const ids = await several(AT_ONCE, fields);
        const sides = await Promise.all(ids.map(contenders));
        const answers = new Map<string, CheckoutPage[]>(ids.map((id) => [id, []]));
        const moves = ids.flatMap((id, index) => sides[index]!.map((move) => ({ id, move })));
        await Promise.all([
          meanwhile(),
          ...random.shuffled(moves).map(async ({ id, move }) => {
            const answer = await move();
            if (answer) answers.get(id)!.push(answer);
          }),
        ]);
        for (const id of ids) {
          const end = await settled(id, answers.get(id)!);
          ends[end] = (ends[end] ?? 0) + 1;
        }
      }
      return ends;
    }

    test(`${TWINS} of the same form at once move the payment once, and each is shown its page.`, async () => {
      const id = await create();
      const form = await submitOf(id);
      const answers = await Promise.all(Array.from({ length: TWINS }, () => post(form)));
      assert.equal(answers.length, TWINS);
      assert.equal(await settled(id, answers), 'requires_review');
    });

    test(`${TWINS} forms at once that differ leave what one of them says, whole.`, async () => {
      const id = await create();
      const { address, body } = await submitOf(id);
      const forms = Array.from({ length: TWINS }, (_, index) => {
        const values = new URLSearchParams(body);
        values.set('payer-name', `Ada ${index}`);
        values.set('note', `Note ${index}`);
        return { address, body: values.toString() };
      });
      await settled(id, await Promise.all(forms.map(post)));
      const { payer_name, note } = JSON.parse((await rowOf(id)).submission!);
      assert.equal(payer_name.replace('Ada', 'Note'), note);
    });

    test(`${CONTESTS} contests of submitting and cancelling have one winner each.`, async (context) => {
      const ends = await contests(CONTESTS, {}, async (id) => {
        const [submit, cancel] = await Promise.all([submitOf(id), cancelOf(id)]);
        return [() => post(submit), () => post(cancel)];
      });
      context.diagnostic(`${JSON.stringify(ends)} over ${shop.origins.length} node(s)`);
      for (const end of ['requires_review', 'cancelled_by_customer'])
        assert.ok(ends[end]! > 0, `${end} never won: no contest`);
    });

    /** The merchant cancels: 200 says that this request did it, 409 that another move was before it. */
    async function cancelByMerchant(id: string): Promise<undefined> {
      if (random.chance(0.5)) await turns(TURNS); // or the shorter way would always win
      const answer = await fetch(`${origin()}/v1/payments/${id}/cancel`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEYS.details}` },
      });
      const text = await answer.text();
      const { status_reason } = await rowOf(id);
      if (answer.status === 409) return; // also of what is due and not yet swept
      assert.deepEqual([answer.status, status_reason], [200, 'cancelled_by_merchant'], text);
      assert.ok(!cancelled.has(id), `${id} was cancelled twice, seed ${random.seed}`);
      cancelled.add(id);
    }

    test(`${FEWER} contests of the merchant cancelling twice and the customer submitting have one winner each.`, async (context) => {
      const ends = await contests(FEWER, {}, async (id) => {
        const submit = await submitOf(id);
        return [() => post(submit), () => cancelByMerchant(id), () => cancelByMerchant(id)];
      });
      context.diagnostic(JSON.stringify(ends));
    });

    test(`${FEWER} contests of submitting or cancelling with the clock have one winner each.`, async (context) => {
      const ends = await contests(
        FEWER,
        { expires_in: LIFE_S },
        async (id) => {
          // One or the other: a cancel that began in time may be committed behind a page that shows the end.
          if (random.chance(0.5)) return [() => cancelByMerchant(id), () => cancelByMerchant(id)];
          const submit = await submitOf(id);
          return [() => post(submit)];
        },
        async () => {
          await turns(random.pick([0, 2, 5, 10, 20, TURNS]));
          shop.harness.clock.advance(LIFE_S * SECOND_MS);
          await Promise.all(shop.services.map((service) => sweep({ ...shop.harness, service })));
        },
      );
      context.diagnostic(JSON.stringify(ends));
    });

    test('a form whose payment expired since its page was opened is shown that, and changes nothing.', async () => {
      for (const form of [submitOf, cancelOf]) {
        const id = await create({ expires_in: LIFE_S });
        const sent = await form(id);
        shop.harness.clock.advance(LIFE_S * SECOND_MS);
        const answer = await post(sent);
        await sweep(shop.harness);
        assert.equal(await settled(id, [answer]), 'expired');
      }
    });

    test(`${TWINS} requests for a new link at once are noted once.`, async () => {
      const id = await create({ expires_in: LIFE_S });
      shop.harness.clock.advance(LIFE_S * SECOND_MS);
      const form = await formOf(id, '&lang=en'); // the sweeper may have yet to come
      const answers = await Promise.all(Array.from({ length: TWINS }, () => post(form)));
      for (const { status, h1, forms } of answers)
        assert.deepEqual([status, h1, forms.length], [410, 'This payment link has expired', 0]);
      assert.deepEqual(await actionsOf(id), [
        'payment.created',
        'payment.cancelled',
        'payment.link_requested',
      ]);
      const { version, link_requested_at } = await rowOf(id);
      assert.equal(version, 3);
      assert.ok(link_requested_at! > 0);
    });

    test('every payment has as many entries as its version says, numbers have no gap, and the history verifies.', async () => {
      const { database } = shop.harness.service;
      const wrong = await database.query(
        `select id from payments
         where version <> (select count(*) from audit_entries where subject = payments.id)`,
      );
      assert.deepEqual(wrong, []);
      const [{ last, count }] = (await database.query<{ last: number; count: number }>(
        'select max(number) as last, count(*) as count from audit_entries',
      )) as [{ last: number; count: number }];
      assert.equal(last, count);
      const verified = await shop.harness.verify();
      assert.equal(verified.entries, count);
    });
  });
}
