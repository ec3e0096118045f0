// The moves of the walk among tenants: each a call that somebody makes, what it must come to, and what is remembered of it.
import assert from 'node:assert/strict';
import {
  absent,
  absentId,
  by,
  changed,
  idempotency,
  KEY,
  type Move,
  PAYMENT,
  stranger,
  type Walk,
} from './tenant-calls.ts';
import { newCanary, type OwnPayment, ownKey, registrationOf, type Tenant } from './tenants.ts';

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
  const heard: Move['heard'] = ({ json }) => {
    const made = ownKey(json.data.key);
    assert.equal(made.id, json.data.id);
    tenant.keys.push(made);
  };
  const old = walk.random.pick([undefined, ...own]);
  if (!old)
    return by(walk, tenant, 'POST /v1/api_keys', '/v1/api_keys', {
      options: { body: { name } },
      statuses: [201],
      heard,
    });
  const overlap_seconds = walk.random.pick([0, 3600, undefined]);
  const move = by(walk, tenant, `POST ${KEY}/rotate`, `/v1/api_keys/${old.id}/rotate`, {
    options: walk.random.chance(0.3) ? {} : { body: { name, overlap_seconds } },
    statuses: [201],
    heard,
  });
  walk.drawn.add(old.id);
  old.isReplaced = true;
  old.isOver = move.options.body !== undefined && overlap_seconds === 0;
  return move;
}

function revokeKey(walk: Walk, tenant: Tenant): Move {
  const old = walk.random.pick([...others(walk, tenant), undefined]);
  if (!old) return readKey(walk, tenant);
  walk.drawn.add(old.id);
  const statuses = [old.isOver ? 409 : 200];
  const move = by(walk, tenant, `POST ${KEY}/revoke`, `/v1/api_keys/${old.id}/revoke`, { statuses });
  old.isOver = true;
  return move;
}

function readKey(walk: Walk, tenant: Tenant): Move {
  const { id } = walk.random.pick(tenant.keys);
  return by(walk, tenant, `GET ${KEY}`, `/v1/api_keys/${id}`, {
    heard: ({ json }) => assert.equal(json.data.id, id),
  });
}

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
    () => by(walk, tenant, `GET ${KEY}`, `/v1/api_keys/${key}`, absent),
    () =>
      by(walk, tenant, `POST ${KEY}/rotate`, `/v1/api_keys/${key}/rotate`, {
        options: { body: { name, overlap_seconds: 0 } },
        ...absent,
      }),
    () => by(walk, tenant, `POST ${KEY}/revoke`, `/v1/api_keys/${key}/revoke`, absent),
  ])();
}

/** The customer's page: for whoever has the link, and of that payment alone. */
function openCheckout({ random, tenants }: Walk, tenant: Tenant): Move {
  const other = random.pick(tenants);
  const owner = other.payments.length > 0 ? other : tenant;
  const payment: OwnPayment | undefined = random.chance(0.8) ? owner.payments.at(-1) : undefined;
  const id = payment?.id ?? changed(random.pick(owner.payments).id);
  return {
    route: 'GET /payment.php',
    path: `/payment.php?payment_id=${id}&lang=en`,
    options: { key: null },
    readers: payment ? [owner.name, owner.merchant] : [],
    statuses: payment ? [200, 410] : [404],
    isAbsent: !payment,
    heard({ text }) {
      for (const one of text.match(/pay_[0-9a-z]{36}/g) ?? []) assert.equal(one, payment?.id);
    },
  };
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

/** Another merchant comes, with an address that may be known already: that tells nobody anything. */
function register({ random, tenants }: Walk): Move {
  const known = random.pick(tenants);
  const canary = newCanary(random);
  const body = {
    ...registrationOf(canary),
    email: `${known.merchantCanary}@${known.merchantCanary}.example`,
  };
  return {
    route: 'POST /register',
    path: '/register',
    options: { method: 'POST', key: null, body },
    statuses: [201],
    readers: [canary, known.merchant], // the address was sent by whoever reads it
  };
}

const MOVES: readonly [number, (walk: Walk, tenant: Tenant) => Move][] = [
  [17, createPayment],
  [12, readPayment],
  [6, cancelPayment],
  [14, listPayments],
  [6, listKeys],
  [5, newKey],
  [4, revokeKey],
  [3, readKey],
  [22, trespass],
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
