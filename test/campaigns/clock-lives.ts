// Things with an end for the campaign of the clock: made in a day that is over, so that each ends within seconds of its beginning.
import assert from 'node:assert/strict';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../src/lib/time.ts';
import { addToken } from '../support/admin.ts';
import { type Account, createAccount, signInAs } from '../support/console.ts';
import { type CheckoutPage, open, send, TYPED } from '../support/customer.ts';
import { type Harness, KEY } from '../support/harness.ts';
import { createAt, KEYS } from '../support/shop.ts';

const SESSION_IDLE_MS = 15 * MINUTE_MS;
const ANSWER_KEPT_MS = 7 * DAY_MS;
/** Around an end nothing is asked: requests take their time. */
const UNSURE_MS = 500;

/** Something that works until `endsAt`, milliseconds since 1970, and never again. */
export interface Life {
  name: string;
  endsAt: number;
  /** Whether it works. Throws where it neither works nor has properly ended. */
  works(server: Harness): Promise<boolean>;
}

/** What a stage leaves behind. `account` has a second factor, and is not signed in. */
export interface Stage {
  lives: Life[];
  account: Account;
}

/** How things end: the first `firstMs` after they were made, the others `everyMs` apart; `count` payments and keys among them. */
export interface Ends {
  firstMs: number;
  everyMs: number;
  count: number;
}

/** Makes things on `harness` that end soon, and some that have ended before. */
export async function setStage(harness: Harness, { firstMs, everyMs, count }: Ends): Promise<Stage> {
  const { clock } = harness;
  const goTo = (moment: number) => clock.advance(Math.round(moment - clock.now()));
  const soon = () => Date.now() + firstMs;
  const lives: Life[] = [];

  goTo(soon() - ANSWER_KEPT_MS);
  lives.push(await keptAnswer(harness));
  const account = await createAccount(harness);
  goTo(soon() + everyMs - DAY_MS);
  lives.push(await token(harness, account));
  goTo(soon() + 2 * everyMs - SESSION_IDLE_MS);
  lives.push(await session(harness));
  lives.push(await apiKey(harness, 60), await payment(harness, 300)); // over before the campaign begins
  const first = soon();
  for (let i = 0; i < count; i++) {
    const seconds = Math.round((first + i * everyMs - clock.now()) / SECOND_MS);
    lives.push(await payment(harness, seconds), await apiKey(harness, seconds));
  }
  goTo(Date.now());
  return { lives, account };
}

async function keptAnswer(harness: Harness): Promise<Life> {
  const options = { method: 'POST', headers: { 'idempotency-key': 'long-ago' }, body: { amount: 1 } };
  const { json } = await harness.request('/v1/payments', options);
  const [kept] = await harness.service.database.query<{ created_at: number }>(
    'select created_at from idempotency_keys',
  );
  let isOver = false;
  return {
    name: 'the answer to an idempotency key',
    endsAt: kept!.created_at + ANSWER_KEPT_MS,
    async works(server) {
      if (isOver) return false; // another is kept by now
      const { status, json: again } = await server.request('/v1/payments', options);
      assert.equal(status, 201);
      isOver = again.data.id !== json.data.id;
      return !isOver;
    },
  };
}

async function token(harness: Harness, { administrator }: Account): Promise<Life> {
  const made = await addToken(harness, administrator.id, 'auditor', 1);
  return {
    name: 'a token',
    endsAt: made.row.expires_at,
    async works(server) {
      const { status } = await server.request('/admin/payments', { key: made.token });
      assert.ok(status === 200 || status === 401, String(status));
      return status === 200;
    },
  };
}

/** A session that was last used now; what is told of it here does not use it. */
async function session(harness: Harness): Promise<Life> {
  const { client } = await signInAs(harness, await createAccount(harness));
  const [, seen] = /\.(\d+)\./.exec([...client.cookies.values()].join(' '))!;
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    name: 'a session',
    endsAt: Number(seen) * SECOND_MS + SESSION_IDLE_MS,
    async works(server) {
      const answer = await fetch(`${server.origin}/console`, { headers: { cookie }, redirect: 'manual' });
      await answer.arrayBuffer();
      assert.ok(answer.status === 200 || answer.status === 303, String(answer.status));
      return answer.status === 200;
    },
  };
}

async function apiKey(harness: Harness, seconds: number): Promise<Life> {
  const options = { method: 'POST', key: KEY, body: { expires_in: seconds } };
  const { status, json, text } = await harness.request('/v1/api_keys', options);
  assert.equal(status, 201, text);
  const { id, key } = json.data;
  return {
    name: `an API key of ${seconds} s`,
    endsAt: await endOf(harness, 'api_keys', id),
    async works(server) {
      const { status } = await server.request('/v1/payments?limit=1', { key });
      assert.ok(status === 200 || status === 401, String(status));
      return status === 200;
    },
  };
}

async function payment(harness: Harness, seconds: number): Promise<Life> {
  const { id } = await createAt(harness, 'details', { expires_in: seconds });
  let page: CheckoutPage | undefined;
  return {
    name: `a payment of ${seconds} s`,
    endsAt: await endOf(harness, 'payments', id),
    async works(server) {
      page ??= await open(server, id);
      const { json } = await server.request(`/v1/payments/${id}`, { key: KEYS.details });
      const { status, status_reason, created_at, expires_at } = json.data;
      assert.ok(created_at < expires_at);
      if (status === 'pending') return true;
      assert.deepEqual([status, status_reason], ['cancelled', 'expired']);
      // A page that was opened in time is of no use now.
      if (page.forms.length > 0) assert.equal((await send(page, TYPED.details)).status, 410);
      return false;
    },
  };
}

async function endOf(harness: Harness, table: 'payments' | 'api_keys', id: string): Promise<number> {
  const [row] = await harness.service.database.query<{ expires_at: number }>(
    `select expires_at from ${table} where id = ?`,
    id,
  );
  return row!.expires_at;
}

/** Asks after everything. `now` gives what the time must be, whatever the system clock says. */
export async function checkLives(
  lives: readonly Life[],
  server: Harness,
  now: () => number,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const { name, endsAt, works } of lives) {
    const before = now();
    if (Math.abs(endsAt - before) < UNSURE_MS) continue;
    const does = await works(server);
    if (does && before > endsAt) wrong.push(`${name} works ${before - endsAt} ms after its end`);
    if (!does && now() < endsAt - UNSURE_MS) wrong.push(`${name} ended ${endsAt - before} ms early`);
  }
  return wrong;
}
