// The log's lines about attempts that failed and endpoints that were disabled for it, without anything that a merchant wrote.
import type { Logger } from '../lib/log.ts';
import type { AttemptOutcome } from './attempt.ts';
import type { AttemptNoted } from './deliver.ts';
import type { Delivery } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';

const DISABLED_BECAUSE: Record<NonNullable<AttemptNoted['disabled']>, string> = {
  gone: 'Its server answered 410, gone',
  failing: 'No attempt succeeded for 5 days',
};

/** Logs an attempt that failed, and that it disabled the endpoint. An attempt that succeeded is not logged. */
export function logAttempt(
  log: Pick<Logger, 'info' | 'warn'>,
  { url, merchant_id: merchant }: Endpoint,
  { id: delivery, endpoint_id: endpoint, event_id: event, attempts }: Delivery,
  { ok, status, ms, reason }: AttemptOutcome,
  { disabled }: AttemptNoted,
): void {
  if (ok) return;
  const about = { merchant, endpoint, delivery, event, attempt: attempts + 1, status, ms: Math.round(ms) };
  log.info({ ...about, reason: withoutHost(reason, url) }, 'a webhook was not delivered');
  if (disabled) log.warn({ ...about, reason: DISABLED_BECAUSE[disabled] }, 'a webhook endpoint was disabled');
}

/** A reason without the name of the merchant's server. */
function withoutHost(reason: string, url: string): string {
  const { host, hostname } = new URL(url);
  return reason.replaceAll(host, '…').replaceAll(hostname, '…');
}
