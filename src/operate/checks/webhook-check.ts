// Whether a node sends the webhooks that are due.
import { counted } from '../../lib/counted.ts';
import { momentsIn } from '../../lib/moments.ts';
import { MINUTE_MS } from '../../lib/time.ts';
import { findMerchants } from '../../merchants/queries.ts';
import { leftAlone } from '../../webhooks/queries.ts';
import { type Check, intoTables, ok, warning } from './check.ts';

/** A node that died is replaced within seconds, and one that has much to send holds the queue meanwhile. */
const LEFT_MS = 5 * MINUTE_MS;

const webhooks: Check = {
  id: 'webhooks',
  about: 'Webhooks',
  stage: 'later',
  look: intoTables(async (database, { clock, settings }) => {
    const left = await leftAlone(database, clock.now() - LEFT_MS);
    const merchants = await findMerchants(
      database,
      left.map(({ merchant_id }) => merchant_id),
    );
    const suspended = new Set(merchants.filter((one) => one.suspended_at !== null).map(({ id }) => id));
    const served = left.filter(({ merchant_id }) => !suspended.has(merchant_id));
    if (served.length === 0) return ok('No webhook that is due is left alone');
    const endpoints = served.reduce((sum, one) => sum + Number(one.endpoints), 0);
    const due_at = Math.min(...served.map((one) => Number(one.due_at)));
    return warning(
      `Webhooks of ${counted(endpoints, 'endpoint')} are due since ${momentsIn(settings.time_zone).moment(due_at)}, and no node sends them`,
      'see that a server runs; its log says "webhooks cannot be delivered for now" and why (docs/operating/runbook.md#counterfoil-webhooks-held-up)',
    );
  }),
};

export const WEBHOOK_CHECKS = [webhooks];
