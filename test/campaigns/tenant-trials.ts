// What tenants try out with their test payments, and what a live key, or another's, must not.
import { TRIALS } from '../../src/review/try-out.ts';
import { absent, absentId, by, drawAlone, type Move, type Walk } from './tenant-calls.ts';
import type { Tenant } from './tenants.ts';

const ROUTE = '/v1/test/payments/{payment_id}';
/** A move of a payment of its own: in live mode there is none. */
export function tryOut(walk: Walk, tenant: Tenant): Move {
  // One of its newest: older ones were moved to their end.
  const payment = walk.random.pick(tenant.payments.slice(-5));
  if (!drawAlone(walk, payment)) return tryOutTheirs(walk, tenant);
  const fitting = { pending: ['submit', 'expire'], requires_review: ['approve', 'reject'] }[payment.status];
  const trial = walk.random.pick(walk.random.chance(0.9) ? (fitting ?? TRIALS) : TRIALS);
  return by(walk, tenant, `POST ${ROUTE}/${trial}`, `/v1/test/payments/${payment.id}/${trial}`, {
    ...(tenant.mode === 'live' ? { statuses: [404] } : { statuses: [200, 409] }),
    heard({ status, json }) {
      if (status === 200) payment.status = json.data.status;
    },
  });
}

/** A move of a payment of somebody else, or of none. */
export function tryOutTheirs(walk: Walk, tenant: Tenant): Move {
  const trial = walk.random.pick(TRIALS);
  const id = absentId(walk, tenant, 'payments');
  return by(walk, tenant, `POST ${ROUTE}/${trial}`, `/v1/test/payments/${id}/${trial}`, absent);
}
