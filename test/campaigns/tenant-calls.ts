// A call of the walk among tenants: whose it is, what it may come to, and what about it is somebody else's.
import type { Answer, RequestOptions } from '../support/harness.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import type { OwnKey, OwnPayment, Tenant, World } from './tenants.ts';

/** A call, drawn before any answer of its batch is known. */
export interface Move {
  /** As the OpenAPI document names it: `GET /v1/payments/{payment_id}`. */
  route: string;
  /** From the service's base URL, or checkout's for a payment's page. */
  path: string;
  options: RequestOptions;
  statuses: readonly number[];
  /** Whose marks the answer may hold. */
  readers: readonly string[];
  /** The key that was sent, which a move of the same batch may end. */
  key?: OwnKey;
  /** What was asked for is unknown to the caller: the answer is, byte for byte, the same for everybody. */
  isAbsent?: boolean;
  heard?(answer: Answer): void;
}

export interface Walk extends World {
  random: SeededRandom;
  /** Idempotency keys that moves of this batch carry, API keys that they end and payments that they move: in no order that is known. */
  drawn: Set<string>;
}

export const PAYMENT = '/v1/payments/{payment_id}';
export const KEY = '/v1/api_keys/{key_id}';
const IDEMPOTENCY_KEYS = 6;
const STRANGE = [
  'x',
  '0',
  'payments',
  "'--",
  '%00',
  '%F0%9F%92%A9',
  '..%2fpayments',
  '%20',
  'x'.repeat(3000),
];

/** Whom a tenant must not see: mostly others, often itself in the other mode. */
export function stranger({ random, tenants }: Walk, tenant: Tenant): Tenant {
  if (random.chance(0.3)) return tenants.find((one) => one.merchant === tenant.merchant && one !== tenant)!;
  const other = random.pick(tenants);
  return other === tenant ? tenants.find((one) => one !== tenant)! : other;
}

export const changed = (id: string) => id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');

/** An id that a tenant has nothing behind: somebody else's, nobody's, or none at all. */
export function absentId(walk: Walk, tenant: Tenant, of: 'payments' | 'keys'): string {
  const { random } = walk;
  const theirs = random.pick([...stranger(walk, tenant)[of], { id: of === 'keys' ? 'key_' : 'pay_' }]).id;
  return random.pick([
    theirs,
    theirs,
    theirs,
    theirs,
    changed(theirs),
    theirs.toUpperCase(),
    `${theirs}0`,
    random.pick(STRANGE),
  ]);
}

/** Methods that no route about payments or keys has. They are answered before the key's rights are looked at. */
export const NO_METHODS = ['PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const hasRoute = (route: string) =>
  !NO_METHODS.some((method) => [`${method} ${PAYMENT}`, `${method} ${KEY}`].includes(route));

/** A call with one of a tenant's keys. */
export function by(
  { random }: Walk,
  tenant: Tenant,
  route: string,
  path: string,
  more: Partial<Move> = {},
): Move {
  const key = random.pick(tenant.keys.filter(({ isOver }) => !isOver));
  const [method] = route.split(' ');
  const options = { method: method!, ...more.options, key: key.key };
  const isHead = method === 'GET' && random.chance(0.1);
  if (isHead) options.method = 'HEAD';
  const move = {
    route,
    path,
    statuses: [200],
    readers: [tenant.name, tenant.merchant],
    key,
    ...more,
    options,
  };
  const rulesKeys = method === 'POST' && route.includes('/v1/api_keys');
  const mayStill =
    !hasRoute(route) ||
    method === 'GET' ||
    route === 'POST /v1/payments' ||
    path.endsWith(`/v1/api_keys/${key.id}/revoke`);
  if (!key.isReplaced || mayStill || (rulesKeys && more.isAbsent)) return move;
  // A key that was replaced reads and creates payments, and nothing else; whoever is over already may be told so first.
  const { heard: _heard, isAbsent: _isAbsent, ...rest } = move;
  return { ...rest, statuses: rulesKeys && move.statuses.includes(409) ? [403, 409] : [403] };
}

/** Whether a move of this batch may change the status of a payment: one does, so that it is known which status came last. */
export function drawAlone({ drawn }: Walk, { id }: OwnPayment): boolean {
  const isFirst = !drawn.has(id);
  drawn.add(id);
  return isFirst;
}

/** The same about something that is not there for the caller. */
export const absent = { statuses: [404], isAbsent: true };

/**
 * One of a few idempotency keys, which all tenants share. `before`: what this tenant's stands for already. Nothing where a move of
 * this batch has it.
 */
export function idempotency({ random, drawn }: Walk, tenant: Tenant, route: string) {
  const name = `order-${random.between(1, IDEMPOTENCY_KEYS)}`;
  const scope = `${route} ${name}`;
  if (random.chance(0.5) || drawn.has(`${tenant.name} ${scope}`)) return undefined;
  drawn.add(`${tenant.name} ${scope}`);
  return { headers: { 'idempotency-key': name }, scope, before: tenant.answered.get(scope) };
}
