// Payments in every state of review, and people to review them, for the tests of the console's pages.

import { type Client, MANY_SIGN_INS, signIn } from '../../support/console.ts';
import { open, send, TYPED } from '../../support/customer.ts';
import { type Harness, sharedHarness, startHarness } from '../../support/harness.ts';
import { paymentNow, submit } from '../../support/payments.ts';
import { createAt, type OfferName, SHOP } from '../../support/shop.ts';
import type { Engine } from '../../support/stores.ts';

/** Above it two administrators must approve. */
export const FOUR_EYES_ABOVE_EUR = 5000;

const configured = (more: string) =>
  `${SHOP}${MANY_SIGN_INS}review:\n  four_eyes_above:\n    EUR: ${FOUR_EYES_ABOVE_EUR}.00\n${more}`;

export function startReview(more = ''): Promise<Harness> {
  return startHarness('sqlite', { configuration: configured(more) });
}

/** The same for all tests of a suite; its history is verified at their end, unless `isVerified` is false. */
export function sharedReview(more = '', isVerified = true, engine: Engine = 'sqlite'): Harness {
  return sharedHarness(engine, { configuration: configured(more), isVerified });
}

/** A payment that waits for review, sent by the one method of `offer`. Returns its id. */
export async function waiting(
  harness: Harness,
  offer: Exclude<OfferName, 'all'> = 'transfer',
  fields: object = {},
  typed: Record<string, string> = {},
): Promise<string> {
  const { id } = await createAt(harness, offer, fields);
  const page = await send(await open(harness, id), { ...TYPED[offer], ...typed });
  if (page.status !== 200) throw new Error(`submitting answered ${page.status}: ${page.h1}`);
  return id;
}

/** Payments that wait for review, sent with contact details: by the room, since nobody looks at how. Returns their ids. */
export async function manyWaiting(harness: Harness, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const { id } = await createAt(harness, 'details', { merchant_reference: `ORDER-${ids.length}` });
    const payer = { name: 'Ada Lovelace', email: 'ada@example.org', account: null };
    await submit(harness, id, { payer_name: payer.name, payer_email: payer.email }, payer);
    ids.push(id);
  }
  return ids;
}

/** The ids of the payments that a page of the queue lists, in their order. */
export function listed(text: string): string[] {
  return [...text.matchAll(/<a href="[^"]*open=(pay_\w+)[^"]*" data-key-row/g)].map(([, id]) => id!);
}

/** Approves as a person does: opens the page that asks and sends it. */
export async function approveAs(client: Client, id: string, typed: Record<string, string> = {}) {
  return client.send(await client.get(`/payments/${id}/approve`), typed, /^Approve/);
}

export async function rejectAs(client: Client, id: string, typed: Record<string, string> = {}) {
  const page = await client.get(`/payments/${id}/reject`);
  return client.send(page, { reason: 'duplicate', ...typed }, /^Reject/);
}

/** Records money that arrived, as a person does. */
export async function recordAs(client: Client, id: string, typed: Record<string, string> = {}) {
  const page = await client.get(`/payments/${id}/record`);
  return client.send(page, { amount: '49.90', received_on: '2024-11-20', ...typed }, /^Record/);
}

/** The people of the tests. */
export async function people(harness: Harness) {
  const ana = await signIn(harness, 'administrator', 'Ana');
  const bob = await signIn(harness, 'reviewer', 'Bob');
  const olga = await signIn(harness, 'auditor', 'Olga');
  return { ana, bob, olga };
}

/** A payment's status as it is stored. */
export async function statusOf(harness: Harness, id: string): Promise<string> {
  return (await paymentNow(harness, id)).status;
}
