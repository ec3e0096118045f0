// Bank statements under /admin: a file is imported, and what was imported is listed with what became of each line.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ENCODINGS, FILE_BYTES_MAXIMUM, type PartialLayout, parseChoices } from '#bank-statements';
import { administratorActOf } from '../../administrators/admin/authenticate.ts';
import type { AdminParts } from '../../administrators/admin/parts.ts';
import { validationFailed } from '../../lib/errors.ts';
import { formatAmount } from '../../lib/money.ts';
import { textFault } from '../../lib/text.ts';
import { dayBounds, formatTimestamp } from '../../lib/time.ts';
import type { Offer } from '../../payments/methods/offer.ts';
import { bodyOf, readBytes } from '../../web/json-body.ts';
import { listSchema, listText, pageOf, QueryReader } from '../../web/list.ts';
import { checkFile, importFile, layoutsOf } from '../import-file.ts';
import { isLineId, isStatementId, type KeptLine, type KeptStatement, LINE_STATES } from '../kept.ts';
import { findLine, listLines, listStatements } from '../line-queries.ts';
import { MATCH_LEVELS, type Proposal } from '../matching/judge-line.ts';
import { bankLine } from '../matching/line-evidence.ts';
import { openLines } from '../matching/open-lines.ts';
import { readBeside } from '../read-beside.ts';
import { readingOptions } from '../remembered.ts';

const TEXT_MAXIMUM = 255;
const DIRECTIONS = ['credit', 'debit'] as const;

const faultSchema = z
  .strictObject({
    file: z.string(),
    line: z.int().describe('The line of text, from 1; 0 if the fault belongs to none.'),
    text: z.string(),
  })
  .meta({ id: 'StatementFault' });
const balanceSchema = z.string().nullable().describe('A decimal number as text, negative if overdrawn.');
const statementSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('statement'),
    account: z.string(),
    currency: z.string().nullable(),
    format: z.string(),
    file: z.string(),
    number: z.string().nullable().describe("The bank's number of the statement."),
    first_day: z.string().nullable(),
    last_day: z.string().nullable(),
    opening: balanceSchema,
    closing: balanceSchema,
    lines: z.int().describe('How many the file shows, those included that were known before.'),
    faults: z.array(faultSchema.omit({ file: true })),
    imported_at: z.string(),
  })
  .meta({ id: 'Statement' });
export const statementListSchema = listSchema(statementSchema);

const lineSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('statement_line'),
    statement_id: z.string(),
    account: z.string(),
    day: z.string().describe('The booking day, else the value day; empty if the bank names none.'),
    amount: z.number(),
    currency: z.string(),
    direction: z.enum(DIRECTIONS),
    booked: z.boolean(),
    reversal: z.boolean(),
    state: z.enum(LINE_STATES),
    payment_id: z.string().nullable(),
    note: z.string().nullable().describe('Why it is ignored.'),
    text: z.string().describe('What the bank wrote; empty once it was erased.'),
    counterparty: z.strictObject({ name: z.string().optional(), account: z.string().optional() }),
    references: z.record(z.string(), z.string()),
    proposals: z
      .array(
        z.strictObject({
          payment_id: z.string(),
          merchant_reference: z.string().nullable(),
          level: z.enum(MATCH_LEVELS),
          case: z.string().describe('The row of docs/matching.md.'),
          sentence: z.string(),
          act: z.string(),
          facts: z.array(z.strictObject({ kind: z.string(), text: z.string(), basis: z.string() })),
        }),
      )
      .describe('The payments that an open line may be for, the best first. Evidence, never a decision.'),
  })
  .meta({ id: 'StatementLine' });
export const lineListSchema = listSchema(lineSchema);

export const importAnswerSchema = z.strictObject({
  data: z.strictObject({
    object: z.literal('statement_import'),
    statements: z.array(
      z.strictObject({
        id: z.string().nullable().describe('Null for a statement that was imported before.'),
        account: z.string(),
        added: z.int().describe('Lines that are new.'),
        booked: z.int().describe('Lines that were pending and are booked now.'),
        known: z.int().describe('Lines that were known.'),
      }),
    ),
    faults: z.array(faultSchema).describe('What was wrong, with `despite_faults`.'),
    notes: z.array(faultSchema).describe('What a person should know although nothing was wrong.'),
  }),
});

const signed = (minor: number | null) =>
  minor === null ? null : `${minor < 0 ? '-' : ''}${formatAmount(Math.abs(minor))}`;

function presentStatement(statement: KeptStatement): z.infer<typeof statementSchema> {
  const { id, account, currency, format, file, number, first_day, last_day, lines } = statement;
  return {
    ...{ id, object: 'statement' as const, account, currency, format, file, number, first_day, last_day },
    opening: signed(statement.opening_minor),
    closing: signed(statement.closing_minor),
    lines,
    faults: statement.faults === null ? [] : JSON.parse(statement.faults),
    imported_at: formatTimestamp(statement.imported_at),
  };
}

function presentLine(row: KeptLine, proposals: readonly Proposal[]): z.infer<typeof lineSchema> {
  const { id, statement_id, account, day, currency, direction, state, payment_id, note } = row;
  const { text, counterparty, references } = bankLine(row);
  return {
    ...{ id, object: 'statement_line' as const, statement_id, account, day },
    amount: Number(formatAmount(row.amount_minor)),
    ...{ currency, direction, booked: row.booked === 1, reversal: row.reversal === 1 },
    ...{ state, payment_id, note, text, counterparty, references: { ...references } },
    proposals: proposals.map(({ payment, level, case: kind, sentence, act, facts }) => ({
      ...{ payment_id: payment.id, merchant_reference: payment.merchant_reference },
      ...{ level, case: kind, sentence, act, facts },
    })),
  };
}

/** Adds the routes that read, to `app`, whose requests carry a principal by now. */
export function addStatementReads(app: FastifyInstance, { database, clock, timeZone }: AdminParts): void {
  app.get('/statements', async (request: FastifyRequest) => {
    const reader = new QueryReader(request.query);
    const account = reader.text('account', (text) => textFault(text, TEXT_MAXIMUM));
    const { limit, place } = reader.lastPage(isStatementId);
    const found = await listStatements(database, account, place, limit + 1);
    const { page, next } = pageOf(found, limit);
    const items = page.map((one) => JSON.stringify(presentStatement(one)));
    return listText(items, next);
  });

  app.get('/statement_lines', async (request: FastifyRequest) => {
    const reader = new QueryReader(request.query);
    const day = (text: string) => (dayBounds(text, 'UTC') ? undefined : 'Must be a date like 2026-11-20.');
    const filter = {
      statement_id: reader.text('statement_id', (text) => textFault(text, TEXT_MAXIMUM)),
      account: reader.text('account', (text) => textFault(text, TEXT_MAXIMUM)),
      state: reader.oneOf('state', LINE_STATES),
      direction: reader.oneOf('direction', DIRECTIONS),
      from: reader.text('from', day),
      to: reader.text('to', day),
    };
    const { limit, place } = reader.lastPage(isLineId);
    const after = place === undefined ? undefined : await findLine(database, place);
    const found = await listLines(database, filter, after, limit + 1);
    const { page, next } = pageOf(found, limit);
    const open = page.filter(({ state }) => state === 'open');
    const how = { now: clock.now(), timeZone };
    const judged = open.length > 0 ? await openLines(database, how, { also: open }) : [];
    const proposals = new Map(judged.map((one) => [one.line.id, one.proposals]));
    const items = page.map((one) => JSON.stringify(presentLine(one, proposals.get(one.id) ?? [])));
    return listText(items, next);
  });
}

/** Adds the route that imports, to `app`, whose requests carry a principal that may decide by now. */
/** `offer`: the ways to pay, which name the accounts that statements are of. */
export function addStatementImport(
  app: FastifyInstance,
  { database, journal, offer }: AdminParts & { offer: Offer },
): void {
  readBytes(app);
  app.post('/statements', { bodyLimit: FILE_BYTES_MAXIMUM }, async (request, reply) => {
    const reader = new QueryReader(request.query);
    const name = reader.text('file', (text) => textFault(text, TEXT_MAXIMUM)) ?? 'statement';
    const despiteFaults = reader.oneOf('despite_faults', ['true', 'false']) === 'true';
    const account = reader.text('account', (text) => textFault(text, TEXT_MAXIMUM));
    let choices: PartialLayout | undefined;
    reader.text('csv', (text) => {
      const read = parseChoices(text.split('|'));
      if (typeof read === 'string') return read;
      choices = read;
      return undefined;
    });
    const isConfirmed = reader.oneOf('confirm', ['true', 'false']) === 'true';
    const encoding = reader.oneOf('encoding', ENCODINGS);
    reader.refuseOthers();
    reader.end();
    const known = await readingOptions(database, offer.settings);
    const csv = {
      ...known,
      ...(encoding && { encoding }),
      ...(choices && { choices }),
      ...(account !== undefined && { account }),
    };
    const read = await readBeside(bodyOf(request), name, csv);
    const checked = checkFile(read, offer.settings, isConfirmed, csv);
    if (isConfirmed) checked.confirmed?.push(...layoutsOf(read, checked.statements));
    const imported = await importFile(journal, checked, administratorActOf(request), {
      despiteFaults,
      dryRun: false,
    });
    if (!imported) throw validationFailed(detailsOfFaults(checked.faults));
    const statements = imported.map(({ id, account, added, booked, known }) => ({
      ...{ id, account, added, booked, known },
    }));
    reply.code(201);
    return JSON.stringify({
      data: { object: 'statement_import', statements, faults: checked.faults, notes: checked.notes },
    });
  });
}

/** Faults that an error tells, by the line of the file. */
const FAULTS_TOLD = 100;

function detailsOfFaults(faults: readonly { line: number; text: string }[]): Record<string, string> {
  const details: Record<string, string> = Object.create(null);
  for (const { line, text } of faults.slice(0, FAULTS_TOLD)) {
    const place = line > 0 ? `line ${line}` : 'file';
    details[place] = details[place] === undefined ? text : `${details[place]} ${text}`;
  }
  return details;
}
