// counterfoil payments, requests and export: shows a payment with its story or what is known of a request, and writes payments out.
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type AuditEntry, factsTold } from '../../journal/audit-entry.ts';
import { lastVerification } from '../../journal/background-verification.ts';
import { CheckpointLookup } from '../../journal/checkpoint.ts';
import { entriesOfRequest } from '../../journal/search.ts';
import { type Moments, momentsIn } from '../../lib/moments.ts';
import { formatAmount } from '../../lib/money.ts';
import { counted, jsonOr } from '../../lib/text.ts';
import { dayBounds, formatTimestamp, systemClock } from '../../lib/time.ts';
import { MERCHANT_ID_PREFIX, type Mode } from '../../merchants/merchant.ts';
import { Offer } from '../../payments/methods/offer.ts';
import {
  asOf,
  isPaymentId,
  PAYMENT_ID_PREFIX,
  type Payment,
  receivedMinor,
  STATUSES,
  type Status,
} from '../../payments/payment.ts';
import { findPayment, paymentsAfter } from '../../payments/queries.ts';
import { isPaymentAsRecorded } from '../../payments/transition.ts';
import { wholePayment } from '../../review/admin/present.ts';
import { exportPayments } from '../../review/export.ts';
import { searchPayments } from '../../review/search-queries.ts';
import { type TimelineItem, timelineOf } from '../../review/timeline.ts';
import { EXPORT_FORMATS, type ExportFormat, SEPARATOR_NAMES, type Separator } from '../../web/row-writer.ts';
import type { Configuration } from '../config.ts';
import { placesOf } from '../settings/places.ts';
import { configured, type StoreOptions, withDatabase } from './store.ts';
import { columns, Failure, shownPath, withProgressBar, writeLines } from './terminal.ts';
import {
  CONFIG_OPTION,
  JSON_NEEDS_OUTPUT,
  newCommand,
  parseId,
  parseRequestId,
  REQUEST_ID,
  UsageError,
} from './usage.ts';

/** References are not unique: more payments than this are not printed. */
const SHOWN_MAXIMUM = 10;

const COMMANDS: Readonly<Record<string, () => Command>> = {
  payments: paymentsCommand,
  requests: requestsCommand,
  export: exportCommand,
};
export const command = (name: string): Command => COMMANDS[name]!();

function paymentsCommand(): Command {
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

/** A request has a handful of lines. */
const LINES_MAXIMUM = 100;

interface Options extends StoreOptions {
  log?: string;
}

type LogLine = Record<string, unknown>;

function requestsCommand(): Command {
  return new Command('requests')
    .description('say what is known of one request: its entries in the history, and its lines in the log')
    .argument('<id>', 'the X-Request-Id of its answer: req_…', parseRequestId)
    .option('--log <file>', 'the log of the server, or - for standard input')
    .addHelpText(
      'after',
      `
Examples:
  counterfoil requests req_7hm2k4q9x0w3v5b8
  journalctl --unit counterfoil --output cat | counterfoil requests req_7hm2k4q9x0w3v5b8 --log -

A request that was refused or only read leaves no entry: the log has its line. It reads only: the server may run.`,
    )
    .action(tell);
}

async function tell(id: string, { log, config, json }: Options): Promise<void> {
  const lines = log === undefined ? [] : await linesOf(log, id);
  const configuration = configured(config);
  const entries = await withDatabase(configuration, (database) => entriesOfRequest(database, id));
  if (json) {
    const shown = entries.map((entry) => ({
      ...entry,
      at: formatTimestamp(entry.at),
      facts: factsTold(entry),
    }));
    console.log(JSON.stringify({ request_id: id, log: lines, entries: shown }));
    return;
  }
  if (lines.length + entries.length === 0)
    throw new Failure(
      log === undefined
        ? `the request ${id} left no entry in the history: it changed nothing, or never arrived; its line in the log says which: keep what the server prints, as in npm start > FILE, and name it with --log FILE`
        : `the request ${id} left neither an entry in the history nor a line in ${log === '-' ? 'the log' : shownPath(log)}: look in the log of the node that answered it, or in the proxy's`,
    );
  const words = momentsIn(configuration.time_zone);
  const parts = [
    lines.map((line) => toldLine(line, words)).join('\n'),
    entries.length > 0 ? toldEntries(entries, words) : 'It left no entry in the history: it changed nothing.',
  ];
  console.log(parts.filter((part) => part !== '').join('\n\n'));
}

/** The lines of a log that are about a request, oldest first. What stands before the JSON of a line is left out. */
async function linesOf(log: string, id: string): Promise<LogLine[]> {
  const input = log === '-' ? process.stdin : createReadStream(log);
  const found: LogLine[] = [];
  const reading = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  // An error of the file is thrown by the loop: readline itself does not pass it on.
  const failed = new Promise<never>((_, reject) => input.once('error', reject));
  const read = (async () => {
    for await (const line of reading) {
      if (!line.includes(id) || found.length === LINES_MAXIMUM) continue;
      // A line may be cut off, or not of the server.
      const fields = jsonOr(line.slice(line.indexOf('{'))) as LogLine | undefined;
      if (fields?.request_id === id) found.push(fields);
    }
  })();
  await Promise.race([read, failed]);
  return found;
}

function toldLine({ time, level: _, msg, request_id: __, ...fields }: LogLine, words: Moments): string {
  const toldRequest = Object.entries(fields).map(([name, value]) => [
    `  ${name}`,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return `${words.within(String(time))}  ${msg}\n${columns(toldRequest)}`;
}

function toldEntries(entries: readonly AuditEntry[], words: Moments): string {
  return columns(
    entries.map(({ number, at, actor, action, subject }) => [
      `entry ${number}`,
      words.moment(at),
      actor,
      action,
      subject,
    ]),
  );
}

interface ExportOptions extends StoreOptions {
  format: ExportFormat;
  separator?: Separator;
  status?: Status;
  merchant?: string;
  mode?: Mode;
  from?: string;
  to?: string;
  output?: string;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/;

function exportCommand(): Command {
  return newCommand(
    'export',
    'write payments, newest first, as CSV for spreadsheets or NDJSON for programs',
    [
      'export --status approved --from 2026-11-01 --to 2026-11-30 --output november.csv',
      'export --separator semicolon --output november-for-excel.csv',
      'export --merchant mer_development --format ndjson | gzip > payments.ndjson.gz',
    ],
    `It holds personal data: the file is readable by its owner alone.`,
  )
    .addOption(new Option('--format <format>', 'what to write').choices(EXPORT_FORMATS).default('csv'))
    .addOption(
      new Option('--separator <name>', 'CSV for a spreadsheet, with this between cells').choices(
        SEPARATOR_NAMES,
      ),
    )
    .addOption(new Option('--status <status>', 'only payments in this status').choices(STATUSES))
    .option(
      '--merchant <id>',
      'only payments of this merchant: mer_…',
      parseId(MERCHANT_ID_PREFIX, 'counterfoil merchants list'),
    )
    .addOption(new Option('--mode <mode>', 'only payments of this mode').choices(['live', 'test']))
    .option(
      '--from <date>',
      'created from this day on (time_zone of the configuration), or moment',
      parseTime,
    )
    .option('--to <date>', 'created up to this day, itself included, or before this moment', parseTime)
    .option('--output <file>', 'into a file, put in place when it is whole (default: standard output)')
    .option(...CONFIG_OPTION)
    .option('--json', 'print one JSON document, with --output')
    .action(writePayments);
}

function parseTime(text: string): string {
  const isDay = DAY.test(text) && dayBounds(text, 'UTC') !== undefined;
  if (isDay || (MOMENT.test(text) && Number.isFinite(Date.parse(text)))) return text;
  throw new InvalidArgumentError('It is no day (2026-11-20) and no moment (2026-11-20T14:00:00+00:00).');
}

/** A day's beginning or end, or a moment, in milliseconds since 1970. */
function timeOf(
  text: string | undefined,
  side: 'from' | 'to',
  { time_zone }: Configuration,
): number | undefined {
  if (text === undefined) return undefined;
  return dayBounds(text, time_zone)?.[side] ?? Date.parse(text);
}

async function writePayments(options: ExportOptions): Promise<void> {
  const { format, separator, status, merchant, mode, output, json } = options;
  if (json && output === undefined) throw new UsageError(JSON_NEEDS_OUTPUT);
  if (separator !== undefined && format !== 'csv') throw new UsageError('--separator is for --format csv');
  const configuration = configured(options.config);
  const from = timeOf(options.from, 'from', configuration);
  const to = timeOf(options.to, 'to', configuration);
  if (from !== undefined && to !== undefined && from >= to)
    throw new UsageError('--from is after --to: nothing lies between them');
  const choices = new Map(configuration.merchants.map(({ id, methods }) => [id, methods]));
  const methodsOf = (id: string) => choices.get(id) ?? null;
  const offer = new Offer(configuration.methods, { methodsOf });
  const filter = { status, merchant_id: merchant, mode, from, to };
  const count = await withProgressBar('exporting', (told) =>
    withDatabase(configuration, (database) =>
      database.snapshot(async (view) => {
        const oldest = Math.max((await paymentsAfter(view, undefined, 1))[0]?.created_at ?? 0, from ?? 0);
        let newest: number | undefined;
        const lines = exportPayments(view, {
          format,
          separator,
          filter,
          timeZone: configuration.time_zone,
          now: systemClock.now(),
          offer,
          // Newest first: how far it has come in time says how much is left, and nothing has to be counted.
          onProgress(_done, created_at) {
            newest ??= created_at;
            told(newest - created_at, newest - oldest);
          },
        });
        return writeLines(lines, output);
      }),
    ),
  );
  if (count === 0) console.error('counterfoil: no payment fits these options');
  if (output === undefined || count === undefined) return;
  console.log(
    json
      ? JSON.stringify({ file: resolve(output), format, payments: count })
      : `Exported ${counted(count, 'payment')} to ${shownPath(resolve(output))}.`,
  );
}
