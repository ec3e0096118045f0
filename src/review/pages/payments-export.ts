// Exports the payments that a search finds: streamed, and recorded in the history before the first byte.

import type { Outcome } from '../../administrators/pages/route.ts';
import { OperationalError } from '../../lib/errors.ts';
import { dateIn } from '../../lib/time.ts';
import type { Directory } from '../../merchants/directory.ts';
import { EXPORT_TYPES, type ExportFormat, separatorOf } from '../../web/row-writer.ts';
import { exportStream } from '../export.ts';
import type { SearchFilter } from '../queries.ts';
import type { ReviewContext } from './context.ts';
import { paymentSearchOf } from './payment-search.ts';

/** What entries about exports are about. */
const EXPORT_SUBJECT = 'payments';

export async function download(context: ReviewContext, format: ExportFormat): Promise<Outcome> {
  const { database, directory, journal, act, now, offer, timeZone } = context;
  const { filter, faults } = await paymentSearchOf(context);
  const fault = Object.values(faults)[0];
  if (fault !== undefined) throw new OperationalError('validation_failed', `${fault}.`);
  const separator = separatorOf(context.query.get('separator') ?? undefined);
  await journal.commit((transaction) =>
    transaction.record({
      ...act,
      action: 'payments.exported',
      subject: EXPORT_SUBJECT,
      facts: { format, ...factsOf(filter, directory) },
    }),
  );
  return {
    stream: exportStream(database, { format, separator, filter, timeZone, now, offer }),
    type: EXPORT_TYPES[format],
    name: `payments-${dateIn(timeZone, now)}.${format}`,
  };
}

/** What an export was narrowed by, none of it as it was typed: the text may name a person. Of a search only what kind it was. */
function factsOf(filter: SearchFilter, directory: Directory): Record<string, string | number | null> {
  const { status = null, merchant_id, mode = null, from = null, to = null } = filter;
  const searched = (
    ['ids', 'reference', 'bank_reference', 'account', 'payer', 'email', 'amount_minor'] as const
  ).find((name) => filter[name] !== undefined);
  const merchant = merchant_id === undefined ? null : (directory.merchant(merchant_id)?.id ?? 'unknown');
  return { status, merchant, mode, from, to, searched: searched ?? null };
}
