// The system clock is set forward and back while the service runs: nothing ends early, nothing lives on, no timer stands still.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/lib/time.ts';
import { MANY_SIGN_INS, signInAs } from '../support/console.ts';
import { open, send, TYPED } from '../support/customer.ts';
import { noFaketime } from '../support/faketime.ts';
import { startHarness } from '../support/harness.ts';
import { verifySqlite, viewSqlite } from '../support/read-only-store.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { createAt, KEYS, SHOP } from '../support/shop.ts';
import { checkLives, type Ends, type Stage, setStage } from './clock-lives.ts';
import { ClockedServer } from './clocked-server.ts';
import { holdsWithin } from './promised-time.ts';

const STEPS = Number(process.env.COUNTERFOIL_RUNS) || 5;
/** From so many steps on, a step forward is left standing until the service follows it. */
const LONG = 20;
/** A lead stands no longer than this while the service must not follow it. */
const LEAD_MS = 30 * SECOND_MS;
const FOLLOWED_MS = { from: 58 * SECOND_MS, to: 90 * SECOND_MS };
/** How far the service may be off what it is at some moment of a request, whole seconds in what it tells among it. */
const OFF_MS = 1500;
/** The sweeper comes each second, on a machine that has other things to do. */
const SWEPT_WITHIN_MS = 10 * SECOND_MS;
const CHECKPOINT_EVERY_MS = MINUTE_MS;
const TOTP_STEP_MS = 30 * SECOND_MS;
const ENDS: Ends = { firstMs: 7 * SECOND_MS, everyMs: 2 * SECOND_MS, count: Math.max(4, STEPS >> 1) };
/** Of the things with an end, so many have ended before it is over. */
const ENDED = 5;

const CONFIGURATION = `${SHOP}${MANY_SIGN_INS}
log_level: warn
checkout_forms_per_address: 100000
checkout_forms_per_payment: 100000
`;

const random = new SeededRandom();

/** How far ahead the system clock is set: by so much, or to just before a moment at which clocks and calendars stumble. */
const AHEAD: Readonly<Record<string, () => number>> = {
  'a second forward': () => SECOND_MS,
  'a second back': () => -SECOND_MS,
  'ten minutes back': () => -10 * MINUTE_MS,
  'an hour forward': () => HOUR_MS,
  'an hour back': () => -HOUR_MS,
  '400 days forward': () => 400 * DAY_MS,
  '400 days back': () => -400 * DAY_MS,
  'to summer time': () => Date.UTC(2027, 2, 28, 0, 59, 58) - Date.now(),
  'to winter time': () => Date.UTC(2027, 9, 31, 0, 59, 58) - Date.now(),
  'to where 32 bits end': () => Date.UTC(2038, 0, 19, 3, 14, 6) - Date.now(),
};

describe('clock steps', { skip: noFaketime }, () => {
  test(`${STEPS} steps of the system clock end nothing early and prolong nothing`, {
    timeout: Infinity,
  }, async (context) => {
    console.log(`clock steps: seed ${random.seed} (COUNTERFOIL_SEED), ${STEPS} steps (COUNTERFOIL_RUNS)`);
    const harness = await startHarness('sqlite', { configuration: CONFIGURATION });
    const { store } = harness;
    const file = join(store.storage, 'counterfoil.sqlite');
    try {
      const stage = await setStage(harness, ENDS).finally(() => harness.stop());
      const staged = await newestNumber(file);
      const service = await ClockedServer.start(store);
      const campaign = new Campaign(service, stage, file);
      try {
        await campaign.run();
      } finally {
        await service.stop();
      }
      await checkHistory(file, store.storage, staged, campaign);
      context.diagnostic(campaign.told);
    } finally {
      await store.drop();
    }
  });
});

class Campaign {
  readonly service: ClockedServer;
  readonly begun = Date.now();
  readonly #stage: Stage;
  readonly #file: string;
  #checks = 0;
  #signIns = 0;
  #signedInAt = 0;

  constructor(service: ClockedServer, stage: Stage, file: string) {
    this.service = service;
    this.#stage = stage;
    this.#file = file;
  }

  get told(): string {
    const { lives } = this.#stage;
    const s = Math.round((Date.now() - this.begun) / SECOND_MS);
    const ended = lives.filter(({ endsAt }) => endsAt < this.service.now()).length;
    return (
      `${STEPS} steps in ${s} s; ${lives.length} things with an end, of which ${ended} ended, asked after ${this.#checks} times; ` +
      `${this.#signIns} sign-ins; followed forward by ${this.service.followedMs / SECOND_MS} s`
    );
  }

  async run(): Promise<void> {
    let order: string[] = [];
    await this.#check('the start');
    for (let step = 1; step <= STEPS; step++) {
      if (order.length === 0) order = random.shuffled(Object.keys(AHEAD));
      const name = order.pop()!;
      await this.#endLead();
      await this.service.set(AHEAD[name]!());
      await this.#check(`${name} (step ${step})`);
    }
    if (STEPS >= LONG) await this.#stand();
    await this.service.set(0);
    const ends = this.#stage.lives.map(({ endsAt }) => endsAt).sort((one, other) => one - other);
    await holdsWithin(
      MINUTE_MS,
      () => this.service.now() > ends[ENDED - 1]! + SECOND_MS,
      () => 'nothing ends',
    );
    await this.#check('the end');
  }

  /** Leaves a step forward standing until the service follows it, then sets the clock back. */
  async #stand(): Promise<void> {
    const { asHarness } = this.service;
    const { id } = await createAt(asHarness, 'details', { expires_in: 600 });
    const statusOf = async () =>
      (await asHarness.request(`/v1/payments/${id}`, { key: KEYS.details })).json.data.status;
    await this.service.set(0);
    await this.service.set(HOUR_MS);
    assert.equal(await statusOf(), 'pending');
    const begun = performance.now();
    await holdsWithin(
      FOLLOWED_MS.to,
      () => this.service.followedMs > 0,
      () => 'the service never follows',
    );
    assert.ok(performance.now() - begun >= FOLLOWED_MS.from, 'it follows too soon');
    assert.equal(await statusOf(), 'cancelled');
    await this.#check('an hour that was followed');
    await this.service.set(0);
    assert.equal(await statusOf(), 'cancelled');
    await this.#check('an hour that was followed and taken back');
  }

  async #check(after: string): Promise<void> {
    const told = `after ${after}, seed ${random.seed}`;
    const { asHarness } = this.service;
    const before = this.service.now();
    const { json } = await asHarness.request('/health', { key: null });
    assert.ok(this.#isSince(before, json.time), `${told}: it is ${json.time}`);
    const wrong = await checkLives(this.#stage.lives, asHarness, () => this.service.now());
    assert.deepEqual(wrong, [], told);
    // Each takes its time on a slow machine, and the service follows a lead that stands too long.
    for (const look of [this.#swept, this.#payAnew, this.#retry, this.#signIn]) {
      await this.#endLead();
      await look.call(this, told);
    }
    this.#checks++;
  }

  /** Sets the clock right where it has been ahead for so long that the service is soon to follow it. */
  async #endLead(): Promise<void> {
    if (this.service.leadStoodMs > LEAD_MS) await this.service.set(0);
  }

  /** Whether a moment that the service tells is one between another and now. */
  #isSince(before: number, told: string): boolean {
    const moment = Date.parse(told);
    return moment > before - OFF_MS && moment < this.service.now() + OFF_MS;
  }

  /** Waits until the sweeper has written down what has ended by now, with the clock as it is set. */
  async #swept(told: string): Promise<void> {
    const now = this.service.now();
    const left = () =>
      viewSqlite(this.#file, (view) =>
        view.query("select id from payments where status = 'pending' and expires_at <= ?", now),
      );
    await holdsWithin(
      SWEPT_WITHIN_MS,
      async () => (await left()).length === 0,
      () => `${told}: the sweeper stands still`,
    );
  }

  async #payAnew(told: string): Promise<void> {
    const { asHarness } = this.service;
    const before = this.service.now();
    const { id, created_at, expires_at } = await createAt(asHarness, 'details', { expires_in: 300 });
    assert.ok(this.#isSince(before, created_at), `${told}: made at ${created_at}`);
    assert.equal(Date.parse(expires_at) - Date.parse(created_at), 300 * SECOND_MS, told);
    const page = await send(await open(asHarness, id), TYPED.details);
    assert.equal(page.status, 200, `${told}: ${page.body}`);
    const { json } = await asHarness.request(`/v1/payments/${id}`, { key: KEYS.details });
    assert.equal(json.data.status, 'requires_review', told);
  }

  async #retry(told: string): Promise<void> {
    const options = { method: 'POST', headers: { 'idempotency-key': 'first-answer' }, body: { amount: 2 } };
    const { status, headers } = await this.service.asHarness.request('/v1/payments', options);
    assert.equal(status, 201, told);
    assert.equal(headers.get('idempotency-replayed'), this.#checks === 0 ? null : 'true', told);
  }

  /** Signs in with the code that a telephone shows, whose clock nobody set. A code works once. */
  async #signIn(told: string): Promise<void> {
    const stepNow = () => Math.floor(this.service.now() / TOTP_STEP_MS);
    if (stepNow() <= this.#signedInAt) return;
    await signInAs(this.service.asHarness, this.#stage.account).catch((error) =>
      assert.fail(`${told}: ${error.message}`),
    );
    this.#signedInAt = stepNow();
    this.#signIns++;
  }
}

async function newestNumber(file: string): Promise<number> {
  const [head] = await viewSqlite(file, (view) =>
    view.query<{ entries: number }>('select entries from journal_head'),
  );
  return head!.entries;
}

/** What the history says when all is over: it verifies, its moments go forward, and the sweeper and the signer kept their hours. */
async function checkHistory(
  file: string,
  storage: string,
  staged: number,
  { begun, service }: Campaign,
): Promise<void> {
  const { checkpoints } = await verifySqlite(file, storage);
  const rounds = Math.floor((Date.now() - begun) / CHECKPOINT_EVERY_MS);
  assert.ok(checkpoints >= rounds, `${checkpoints} checkpoints in ${rounds} min`);
  const entries = await viewSqlite(file, (view) =>
    view.query<{ number: number; at: number }>(
      'select number, at from audit_entries where number > ? order by number',
      staged,
    ),
  );
  for (const [i, { at, number }] of entries.entries())
    assert.ok(i === 0 || at >= entries[i - 1]!.at, `entry ${number} lies before the one before`);
  const ends = await viewSqlite(file, (view) =>
    view.query<{ id: string; expires_at: number; at: number }>(
      `select payments.id, expires_at, at from payments
       join audit_entries on subject = payments.id and action = 'payment.cancelled' where expires_at > ?`,
      begun,
    ),
  );
  assert.ok(ends.length > 0, 'the sweeper swept nothing');
  for (const { id, expires_at, at } of ends)
    assert.ok(
      at >= expires_at && at - expires_at < SWEPT_WITHIN_MS + service.followedMs,
      `${id} was swept ${at - expires_at} ms after its end`,
    );
}
