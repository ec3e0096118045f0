// counterfoil payments: prints one payment with its story from the history, to answer a question about it.
import type { Command } from 'commander';
import { lastVerification } from '../../journal/background-verification.ts';
import { CheckpointLookup } from '../../journal/checkpoint.ts';
import { entriesOfRequest } from '../../journal/search.ts';
import { counted } from '../../lib/counted.ts';
import { momentsIn } from '../../lib/moments.ts';
import { formatAmount } from '../../lib/money.ts';
import { systemClock } from '../../lib/time.ts';
import { asOf, isPaymentId, PAYMENT_ID_PREFIX, type Payment, receivedMinor } from '../../payments/payment.ts';
import { findPayment } from '../../payments/queries.ts';
import { isPaymentAsRecorded } from '../../payments/record.ts';
import { wholePayment } from '../../review/admin/present.ts';
import { searchPayments } from '../../review/search-queries.ts';
import { type TimelineItem, timelineOf } from '../../review/timeline.ts';
import { placesOf } from '../settings/places.ts';
import { REQUEST_ID } from './arguments.ts';
import { configured, type StoreOptions, withDatabase } from './store.ts';
import { columns, Failure } from './terminal.ts';
import { CONFIG_OPTION, newCommand } from './usage.ts';

/** References are not unique: more payments than this are not printed. */
const SHOWN_MAXIMUM = 10;

export function command(): Command {
  return newCommand('payments', 'look at one payment', [
    'payments show pay_01m7xy90z59x4m4bthzeq11xez7gvadtw35y',
  ]).addCommand(
    newCommand(
      'show',
      'print a payment and its story: what happened, when, by whom and by which request',
      [
        'payments show pay_01m7xy90z59x4m4bthzeq11xez7gvadtw35y',
        'payments show A-1001',
        'payments show req_7hm2k4q9x0w3v5b8 --json',
      ],
      `A reference may belong to several payments: the newest ${SHOWN_MAXIMUM} are printed. It reads only: the server may run.`,
    )
      .argument('<which>', "its id (pay_…), the merchant's reference, or a request's id (req_…)")
      .option(...CONFIG_OPTION)
      .option('--json', 'print one JSON document, with personal data, as GET /admin/payments/{id}')
      .action(show),
  );
}

async function show(which: string, options: StoreOptions): Promise<void> {
  const configuration = configured(options.config);
  const checkpoints = new CheckpointLookup(configuration.storage);
  const now = systemClock.now();
  const verified = lastVerification(configuration.storage);
  if (verified && !verified.intact)
    console.error(
      `The verification of ${momentsIn(configuration.time_zone).moment(verified.at)} found that the history is not what it was: run counterfoil audit verify.`,
    );
  await withDatabase(configuration, (database) =>
    database.snapshot(async (view) => {
      const found = await paymentsOf(view, which, now);
      const shown = found.slice(0, SHOWN_MAXIMUM);
      const { checkoutBaseUrl } = placesOf(configuration);
      const timeZone = configuration.time_zone;
      const presenting = { database: view, checkoutBaseUrl, checkpoints, timeZone };
      const texts: string[] = [];
      for (const payment of shown)
        texts.push(
          options.json
            ? await wholePayment(payment, presenting, now)
            : (await warning(view, payment)) +
                told(asOf(payment, now), await timelineOf(view, payment, checkpoints, timeZone), timeZone),
        );
      const more = found.length > shown.length;
      if (options.json) console.log(`{"payments":[${texts.join(',')}],"has_more":${more}}`);
      else {
        console.log(texts.join('\n\n'));
        if (more) console.error(`\nThere are more: counterfoil export, or Payments in the console, has all.`);
      }
    }),
  );
}

type Reader = Parameters<typeof findPayment>[0];

/** Newest first, and one more than is shown if there are so many. Throws `Failure` if there is none. */
async function paymentsOf(database: Reader, which: string, now: number): Promise<Payment[]> {
  if (REQUEST_ID.test(which)) {
    const entries = await entriesOfRequest(database, which);
    const ids = [...new Set(entries.map(({ subject }) => subject).filter(isPaymentId))];
    const found = await Promise.all(ids.slice(0, SHOWN_MAXIMUM + 1).map((id) => findPayment(database, id)));
    if (ids.length > 0) return found.filter((one) => one !== undefined);
    const what = entries.length > 0 ? 'changed no payment' : 'left no entry in the history';
    throw new Failure(`the request ${which} ${what}: counterfoil requests ${which} says what is known of it`);
  }
  if (which.startsWith(PAYMENT_ID_PREFIX)) {
    const payment = isPaymentId(which) ? await findPayment(database, which) : undefined;
    if (payment) return [payment];
  }
  const found = await searchPayments(database, { reference: which }, undefined, SHOWN_MAXIMUM + 1, now);
  if (found.length > 0) return found;
  throw new Failure(`there is no payment with the id or the reference ${JSON.stringify(which)}`);
}

/** The warning above a payment that was changed in the store itself, otherwise empty. */
async function warning(database: Reader, payment: Payment): Promise<string> {
  if (await isPaymentAsRecorded(database, payment)) return '';
  const what = 'Changed outside the service: what stands here is not what the history says.';
  return `${what} Pay nothing out on it. Run counterfoil audit verify.\n`;
}

function told(payment: Payment, items: readonly TimelineItem[], timeZone: string): string {
  const words = momentsIn(timeZone);
  const { id, status, status_reason, merchant_name, merchant_id, mode, merchant_reference } = payment;
  const rows = [
    ['Status', status_reason === null ? status : `${status} (${status_reason})`],
    ['Amount', `${formatAmount(payment.amount_minor)} ${payment.currency}`],
    ['Merchant', `${merchant_name} (${merchant_id}), ${mode}`],
    ['Reference', merchant_reference ?? 'none'],
    ['Received', `${formatAmount(receivedMinor(payment))} ${payment.currency}`],
    ['Created', words.moment(payment.created_at)],
    ['Pay by', words.day(payment.pay_by)],
    ['Expires', words.moment(payment.expires_at)],
  ];
  const story = items.map(({ at, sentence, number, request_id }) => [
    words.moment(at),
    sentence,
    `entry ${number}${request_id === null ? '' : `, ${request_id}`}`,
  ]);
  return `${id}\n${columns(rows)}\n\n${counted(items.length, 'entry', 'entries')}:\n${columns(story)}`;
}
