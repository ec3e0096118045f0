// Contests for one payment over several nodes: its customer, its merchant and two administrators, all at once.
import assert from 'node:assert/strict';
import { addPerson } from '../support/admin.ts';
import { FROM_OUR_PAGE, open, TYPED } from '../support/customer.ts';
import { gaveUp } from '../support/load-client.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { createAt, KEYS } from '../support/shop.ts';
import type { Site } from './node-processes.ts';

const AT_ONCE = 20;
/** An administrator who is told that there is nothing to decide yet looks again, so often. */
const LOOKS = 6;

/** What may become of a payment: the entries of its history, in order. */
const HISTORIES = [
  ['payment.created', 'payment.cancelled'],
  ['payment.created', 'payment.requires_review'],
  ['payment.created', 'payment.requires_review', 'payment.approved'],
  ['payment.created', 'payment.requires_review', 'payment.rejected'],
].map(String);

/** Lets everybody at `count` payments, and holds each payment's history to what they were told. Gives how often each ended how. */
export async function contend(
  site: Site,
  random: SeededRandom,
  count: number,
): Promise<Record<string, number>> {
  const { harness } = site;
  const tokens = [await addPerson(harness, 'reviewer'), await addPerson(harness, 'reviewer')];
  const ends: Record<string, number> = {};

  /** Payments of which a node that stood still gave up a move: that may be made, and is asked for again. */
  const unsure = new Set<string>();

  async function untilTaken<A extends { status: number }>(id: string, send: () => Promise<A>): Promise<A> {
    for (;;) {
      const begun = performance.now();
      const answer = await send();
      if (!gaveUp({ status: answer.status, ms: performance.now() - begun })) return answer;
      unsure.add(id);
    }
  }
  async function post(id: string, path: string, key: string, body?: object) {
    const options = { method: 'POST', key, ...(body && { body }) };
    const answer = await untilTaken(id, () => harness.request(path, options));
    assert.ok([200, 409].includes(answer.status), `${path}: ${answer.status} ${answer.text}`);
    return answer.status === 200;
  }
  /** Everybody's ways to move a payment; each says what it did, by the entry that it must have left. */
  async function contenders(id: string): Promise<(() => Promise<string | undefined>)[]> {
    const [form] = (await open(harness, id)).forms;
    const body = new URLSearchParams({ ...form!.values, ...TYPED.details }).toString();
    const submit = async () => {
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      const headers = { ...type, ...FROM_OUR_PAGE };
      const options = { method: 'POST', redirect: 'manual', headers, body } as const;
      const answer = await untilTaken(id, () => fetch(form!.action, options));
      assert.equal(answer.status, 303, await answer.text());
      return undefined; // whoever came second is led to the same page
    };
    const cancel = async () =>
      (await post(id, `/v1/payments/${id}/cancel`, KEYS.details)) ? 'payment.cancelled' : undefined;
    const decide = (act: 'approve' | 'reject', token: string) => async () => {
      const wish = act === 'reject' ? { reason: 'other' } : {};
      for (let look = 0; look < LOOKS; look++)
        if (await post(id, `/admin/payments/${id}/${act}`, token, wish))
          return act === 'approve' ? 'payment.approved' : 'payment.rejected';
      return undefined;
    };
    const decisions = [decide('approve', tokens[0]!.token), decide('reject', tokens[1]!.token)];
    return [submit, ...random.shuffled([cancel, cancel]).slice(0, random.between(0, 2)), ...decisions];
  }

  for (let done = 0; done < count; done += AT_ONCE) {
    const some = Math.min(AT_ONCE, count - done);
    const ids = await Promise.all(
      Array.from({ length: some }, async () => (await createAt(harness, 'details')).id as string),
    );
    const sides = await Promise.all(ids.map(contenders));
    const moves = ids.flatMap((id, index) => sides[index]!.map((move) => ({ id, move })));
    const told = await Promise.all(
      random.shuffled(moves).map(async ({ id, move }) => ({ id, did: await move() })),
    );
    for (const id of ids) {
      const won = told.flatMap((one) => (one.id === id && one.did ? [one.did] : []));
      const entries = await harness.service.database.query<{ action: string }>(
        'select action from audit_entries where subject = ? order by number',
        id,
      );
      const actions = entries.map(({ action }) => action);
      const label = `${id}, seed ${random.seed}: ${actions}; won by ${won}`;
      assert.ok(HISTORIES.includes(String(actions)), label);
      const owned = actions.filter((action) => !/created|requires_review/.test(action));
      if (!(unsure.has(id) && won.length === 0)) assert.deepEqual(won, owned, label);
      const end = actions.at(-1)!;
      ends[end] = (ends[end] ?? 0) + 1;
    }
  }
  return ends;
}
