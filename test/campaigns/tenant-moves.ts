// The moves of the walk among tenants: each a call that somebody makes, what it must come to, and what is remembered of it.
import assert from 'node:assert/strict';
import type { Answer } from '../support/harness.ts';
import {
  absent,
  absentId,
  by,
  drawAlone,
  idempotency,
  KEY,
  type Move,
  NO_METHODS,
  PAYMENT,
  stranger,
  type Walk,
} from './tenant-calls.ts';
import { trespassHook, useHook } from './tenant-hooks.ts';
import { openCheckout, register } from './tenant-outsiders.ts';
import { tryOut, tryOutTheirs } from './tenant-trials.ts';
import { ownKey, type Tenant } from './tenants.ts';

/** Keys of one tenant; the service has room for a few more. */
const KEYS_MAXIMUM = 40;

function createPayment(walk: Walk, tenant: Tenant): Move {
  const { random } = walk;
  const { canary } = tenant;
  const told = {
    amount: random.between(1, 99_999) / 100,
    currency: random.pick(['EUR', 'CHF', 'USD']),
    merchant_reference: `${canary}-${random.between(1, 5)}`,
    description: `Two coffees for ${canary}`,
    customer: { name: `Ada ${canary}`, email: `${canary}@example.org`, phone: '+44 20 7946 0958' },
    metadata: { [canary]: [canary, { within: canary }] },
    return_url: `https://${canary}.example/back`,
    cancel_url: `https://example.org/?${canary}`,
  };
  const body = JSON.stringify(random.chance(0.3) ? { amount: 7 } : told); // the former the same for everybody
  const once = idempotency(walk, tenant, 'create');
  const [before, ...rest] = once?.before?.split(' ') ?? [];
  const isReplay = rest.join(' ') === body;
  const options = { body, ...(once && { headers: once.headers }) };
  return by(walk, tenant, 'POST /v1/payments', '/v1/payments', {
    options,
    statuses: before === undefined || isReplay ? [201] : [422],
    heard({ json, headers }) {
      if (!json.data) return;
      const { id } = json.data;
      assert.equal(headers.get('idempotency-replayed'), isReplay ? 'true' : null);
      if (isReplay) return assert.equal(id, before);
      tenant.payments.push({ id, status: 'pending' });
      if (once) tenant.answered.set(once.scope, `${id} ${body}`);
      assert.equal(json.data.livemode, tenant.mode === 'live');
    },
  });
}

function readPayment(walk: Walk, tenant: Tenant): Move {
  const { id } = walk.random.pick(tenant.payments);
  return by(walk, tenant, `GET ${PAYMENT}`, `/v1/payments/${id}`, {
    heard: ({ json }) => assert.equal(json.data.id, id),
  });
}

function cancelPayment(walk: Walk, tenant: Tenant): Move {
  const payment = walk.random.pick(tenant.payments);
  if (!drawAlone(walk, payment)) return readPayment(walk, tenant);
  const once = idempotency(walk, tenant, 'cancel');
  const isReplay = once?.before === payment.id;
  const possible = payment.status === 'pending' ? [200, 409] : [409];
  return by(walk, tenant, `POST ${PAYMENT}/cancel`, `/v1/payments/${payment.id}/cancel`, {
    options: { headers: once?.headers ?? {} },
    statuses: isReplay ? [200] : once?.before !== undefined ? [422] : possible,
    heard({ status, json }) {
      if (status !== 200) return;
      assert.deepEqual([json.data.id, json.data.status], [payment.id, 'cancelled']);
      payment.status = 'cancelled';
      if (once) tenant.answered.set(once.scope, payment.id);
    },
  });
}

/** Sending a payment's link: of a pending one whose customer has an address, a few times an hour. Nothing answers as its mail server. */
function sendLink(walk: Walk, tenant: Tenant): Move {
  const { id } = walk.random.pick(tenant.payments);
  return by(walk, tenant, `POST ${PAYMENT}/send_link`, `/v1/payments/${id}/send_link`, {
    statuses: [200, 409, 429],
    heard({ status, json }) {
      if (status === 200) assert.equal(json.data.id, id);
    },
  });
}

function listPayments(walk: Walk, tenant: Tenant): Move {
  const { random } = walk;
  const other = stranger(walk, tenant);
  const whose = random.pick([tenant, other]);
  const query = new URLSearchParams();
  if (random.chance(0.7)) query.set('limit', String(random.pick([1, 2, 7, 100])));
  if (random.chance(0.3)) query.set('status', random.pick(['pending', 'cancelled', 'requires_review']));
  if (random.chance(0.4)) query.set('merchant_reference', `${whose.canary}-${random.between(1, 5)}`);
  if (random.chance(0.5)) query.set('cursor', random.pick([tenant, other]).cursors.payments);
  return list(walk, tenant, 'payments', query);
}

/** A walk through a tenant's events, whose payments' marks say whose they are; a page behind somebody else's is refused. */
function listEvents(walk: Walk, tenant: Tenant): Move {
  const { random } = walk;
  const query = new URLSearchParams({ limit: String(random.pick([1, 2, 7, 100])) });
  if (random.chance(0.3)) query.set('type', random.pick(['payment.created', 'payment.cancelled']));
  if (random.chance(0.2))
    query.set('payment_id', random.pick(stranger(walk, tenant).payments.concat(tenant.payments)).id);
  const after = random.pick([tenant, tenant, stranger(walk, tenant)]);
  if (after.cursors.events) query.set('after', after.cursors.events);
  const isRefused = after !== tenant && after.cursors.events !== '';
  return by(walk, tenant, 'GET /v1/events', `/v1/events?${query}`, {
    statuses: [isRefused ? 422 : 200],
    heard({ status, json }) {
      if (status !== 200) return;
      if (json.next_cursor) tenant.cursors.events = json.next_cursor;
      tenant.event = json.data.at(-1)?.id ?? tenant.event;
    },
  });
}

/** What a stream begins with: the events behind a cursor of one's own, at once. */
function streamEvents(walk: Walk, tenant: Tenant): Move {
  const after = walk.random.pick([tenant, stranger(walk, tenant)]);
  const query = after.cursors.events && `?after=${after.cursors.events}`;
  return by(walk, tenant, 'GET /v1/events/stream', `/v1/events/stream${query}`, {
    statuses: [after !== tenant && query !== '' ? 422 : 200],
  });
}

function paymentEvents(walk: Walk, tenant: Tenant): Move {
  const { id } = walk.random.pick(tenant.payments);
  return by(walk, tenant, `GET ${PAYMENT}/events`, `/v1/payments/${id}/events`, {
    heard({ json }) {
      assert.equal(json.data[0].type, 'payment.created');
      for (const { data } of json.data) assert.equal(data.payment_id, id);
      tenant.cursors.events = json.next_cursor;
      tenant.event = json.data.at(-1).id;
    },
  });
}

function readEvent(walk: Walk, tenant: Tenant): Move {
  const id = tenant.event;
  if (!id) return listEvents(walk, tenant);
  return by(walk, tenant, 'GET /v1/events/{event_id}', `/v1/events/${id}`, {
    heard: ({ json }) => assert.equal(json.data.id, id),
  });
}

function listKeys(walk: Walk, tenant: Tenant): Move {
  const { random } = walk;
  const query = new URLSearchParams();
  if (random.chance(0.7)) query.set('limit', String(random.pick([1, 2, 7, 100])));
  if (random.chance(0.5)) query.set('cursor', random.pick([tenant, stranger(walk, tenant)]).cursors.api_keys);
  return list(walk, tenant, 'api_keys', query);
}

function list(walk: Walk, tenant: Tenant, what: 'payments' | 'api_keys', query: URLSearchParams): Move {
  if (query.get('cursor') === '') query.delete('cursor');
  const isWrong = walk.random.chance(0.05); // a cursor of the other list, or a limit that is none
  if (isWrong) query.set(walk.random.pick(['cursor', 'limit']), `x${tenant.cursors.payments}`);
  return by(walk, tenant, `GET /v1/${what}`, `/v1/${what}?${query}`, {
    statuses: [isWrong ? 422 : 200],
    heard({ json }) {
      if (json.next_cursor) tenant.cursors[what] = json.next_cursor;
    },
  });
}

/** The keys of a tenant that may end: not the first, and none that a move of this batch ends. */
const others = ({ drawn }: Walk, { keys }: Tenant) => keys.slice(1).filter(({ id }) => !drawn.has(id));

/** Creating a key, or making one in another's place; the answer holds it once. */
function newKey(walk: Walk, tenant: Tenant): Move {
  const own = others(walk, tenant).filter(({ isOver, isReplaced }) => !isOver && !isReplaced);
  if (tenant.keys.length >= KEYS_MAXIMUM) return listKeys(walk, tenant);
  const name = `Till ${tenant.canary}`;
  const isTold = ({ json }: Answer) => {
    const made = ownKey(json.data.key);
    assert.equal(made.id, json.data.id);
    tenant.keys.push(made);
  };
  const old = walk.random.pick([undefined, ...own]);
  if (!old)
    return by(walk, tenant, 'POST /v1/api_keys', '/v1/api_keys', {
      options: { body: { name } },
      statuses: [201],
      heard: isTold,
    });
  const [overlap, body] = walk.random.pick([
    [86_400, undefined],
    ...[0, 3600].map((seconds) => [seconds, { name, overlap_seconds: seconds }] as const),
  ]);
  walk.drawn.add(old.id);
  return by(walk, tenant, `POST ${KEY}/rotate`, `/v1/api_keys/${old.id}/rotate`, {
    options: { body },
    statuses: [201],
    heard(answer) {
      isTold(answer);
      old.isReplaced = true;
      old.isOver = overlap === 0;
    },
  });
}

function revokeKey(walk: Walk, tenant: Tenant): Move {
  const old = walk.random.pick([...others(walk, tenant), undefined]);
  if (!old) return readKey(walk, tenant);
  walk.drawn.add(old.id);
  return by(walk, tenant, `POST ${KEY}/revoke`, `/v1/api_keys/${old.id}/revoke`, {
    statuses: [old.isOver ? 409 : 200],
    heard: () => {
      old.isOver = true;
    },
  });
}

function readKey(walk: Walk, tenant: Tenant): Move {
  const { id } = walk.random.pick(tenant.keys);
  return by(walk, tenant, `GET ${KEY}`, `/v1/api_keys/${id}`, {
    heard: ({ json }) => assert.equal(json.data.id, id),
  });
}

/** The id of somebody else's event, or of none. */
const theirEvent = (walk: Walk, tenant: Tenant) =>
  stranger(walk, tenant).cursors.events || `evt_${'0'.repeat(34)}_1`;

/** What somebody asks or does about a payment or a key of somebody else, or one that is none. */
function trespass(walk: Walk, tenant: Tenant): Move {
  const { random } = walk;
  const payment = absentId(walk, tenant, 'payments');
  const key = absentId(walk, tenant, 'keys');
  const name = `Till ${tenant.canary}`;
  const once = idempotency(walk, tenant, 'cancel');
  // An idempotency key that stands for another request is refused before anybody looks for the payment.
  const cancelled = once?.before === undefined ? absent : { statuses: [404, 422] };
  return random.pick<() => Move>([
    () => by(walk, tenant, `GET ${PAYMENT}`, `/v1/payments/${payment}`, absent),
    () =>
      by(walk, tenant, `POST ${PAYMENT}/cancel`, `/v1/payments/${payment}/cancel`, {
        options: { headers: once?.headers ?? {} },
        ...cancelled,
      }),
    () => tryOutTheirs(walk, tenant),
    () => by(walk, tenant, `POST ${PAYMENT}/send_link`, `/v1/payments/${payment}/send_link`, absent),
    () => by(walk, tenant, `${random.pick(NO_METHODS)} ${PAYMENT}`, `/v1/payments/${payment}`, absent),
    () => by(walk, tenant, `${random.pick(NO_METHODS)} ${KEY}`, `/v1/api_keys/${key}`, absent),
    () => by(walk, tenant, `GET ${KEY}`, `/v1/api_keys/${key}`, absent),
    () => by(walk, tenant, `GET ${PAYMENT}/events`, `/v1/payments/${payment}/events`, absent),
    () => by(walk, tenant, 'GET /v1/events/{event_id}', `/v1/events/${theirEvent(walk, tenant)}`, absent),
    () =>
      by(walk, tenant, `POST ${KEY}/rotate`, `/v1/api_keys/${key}/rotate`, {
        options: { body: { name, overlap_seconds: 0 } },
        ...absent,
      }),
    () => by(walk, tenant, `POST ${KEY}/revoke`, `/v1/api_keys/${key}/revoke`, absent),
  ])();
}

/** A call with no key, or one that opens nothing. */
function refused(walk: Walk, tenant: Tenant): Move {
  const { key } = tenant.keys.find(({ isOver }) => isOver) ?? { key: 'cfk_test_x' };
  const sent = walk.random.pick([key, tenant.keys[0]!.key.slice(0, -7), tenant.keys[0]!.id, null]);
  const move = walk.random.pick([trespass, listPayments, listKeys])(walk, tenant);
  return {
    route: 'refused',
    path: move.path,
    options: { ...move.options, key: sent },
    statuses: [401],
    readers: [],
  };
}

const MOVES: readonly [number, (walk: Walk, tenant: Tenant) => Move][] = [
  [17, createPayment],
  [12, readPayment],
  [6, cancelPayment],
  [16, tryOut],
  [3, sendLink],
  [14, listPayments],
  [8, listEvents],
  [4, streamEvents],
  [4, paymentEvents],
  [3, readEvent],
  [6, listKeys],
  [5, newKey],
  [4, revokeKey],
  [3, readKey],
  [22, trespass],
  [16, useHook],
  [12, trespassHook],
  [7, openCheckout],
  [3, refused],
  [1, register],
];
const WEIGHTED = MOVES.flatMap(([weight, draw]) => Array.from({ length: weight }, () => draw));

/** The next move: whose it is and what, by chance. Some are busier than others; who has no payment yet makes one. */
export function draw(walk: Walk): Move {
  const isBusy = walk.random.chance(0.5);
  const tenant = walk.random.pick(walk.tenants.filter((_, i) => !isBusy || i % 11 === 0));
  const isNew = tenant.payments.length === 0;
  return isNew ? createPayment(walk, tenant) : walk.random.pick(WEIGHTED)(walk, tenant);
}
