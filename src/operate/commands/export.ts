// counterfoil export: writes payments as CSV or NDJSON, for spreadsheets and programs.

import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { counted } from '../../lib/counted.ts';
import { dayBounds, systemClock } from '../../lib/time.ts';
import { MERCHANT_ID_PREFIX, type Mode } from '../../merchants/merchant.ts';
import { Offer } from '../../payments/methods/offer.ts';
import { STATUSES, type Status } from '../../payments/payment.ts';
import { paymentsAfter } from '../../payments/queries.ts';
import { exportPayments } from '../../review/export.ts';
import { EXPORT_FORMATS, type ExportFormat, SEPARATOR_NAMES, type Separator } from '../../web/row-writer.ts';
import type { Configuration } from '../config.ts';
import { parseId } from './arguments.ts';
import { configured, type StoreOptions, withDatabase } from './store.ts';
import { shownPath, withProgressBar, writeLines } from './terminal.ts';
import { CONFIG_OPTION, JSON_NEEDS_OUTPUT, newCommand, UsageError } from './usage.ts';

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

export function command(): Command {
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
