// counterfoil requests: prints what is known of one request: its entries in the history, and its lines in the log.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import type { AuditEntry } from '../../journal/audit-entry.ts';
import { entriesOfRequest } from '../../journal/search.ts';
import { type Moments, momentsIn } from '../../lib/moments.ts';
import { jsonOr } from '../../lib/text.ts';
import { formatTimestamp } from '../../lib/time.ts';
import { parseRequestId } from './arguments.ts';
import { configured, type StoreOptions, withDatabase } from './store.ts';
import { columns, Failure, shownPath } from './terminal.ts';
import { CONFIG_OPTION, JSON_OPTION } from './usage.ts';

/** A request has a handful of lines. */
const LINES_MAXIMUM = 100;

interface Options extends StoreOptions {
  log?: string;
}

type LogLine = Record<string, unknown>;

export function command(): Command {
  return new Command('requests')
    .description('say what is known of one request: its entries in the history, and its lines in the log')
    .argument('<id>', 'the X-Request-Id of its answer: req_…', parseRequestId)
    .option('--log <file>', 'the log of the server, or - for standard input')
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
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
    const shown = entries.map(({ at, facts, ...rest }) => ({
      ...rest,
      at: formatTimestamp(at),
      facts: JSON.parse(facts),
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
  const told = Object.entries(fields).map(([name, value]) => [
    `  ${name}`,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return `${words.within(String(time))}  ${msg}\n${columns(told)}`;
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
