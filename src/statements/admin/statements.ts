// Bank statements under /admin: a file is imported, and what was imported is listed with what became of each line.
import { z } from 'zod';
import { ENCODINGS, FILE_BYTES_MAXIMUM, type PartialLayout, parseChoices } from '#bank-statements';
import { administratorActOf } from '../../administrators/admin/authenticate.ts';
import type { AdminParts } from '../../administrators/admin/parts.ts';
import { validationFailed } from '../../lib/errors.ts';
import { formatAmount } from '../../lib/money.ts';
import { dayBounds, formatTimestamp } from '../../lib/time.ts';
import type { Offer } from '../../payments/methods/offer.ts';
import {
  type ApiEndpoint,
  endpoint,
  flagParameter,
  idCursorParameter,
  limitParameter,
  parameter,
  shortParameter,
  textParameter,
  wordParameter,
} from '../../web/endpoint.ts';
import { listSchema, listText, pageOf, type QueryReader } from '../../web/list.ts';
import { checkFile, importFile, layoutsOf } from '../import-file.ts';
import { isLineId, isStatementId, type KeptLine, type KeptStatement, LINE_STATES } from '../kept.ts';
import { findLine, listLines, listStatements } from '../line-queries.ts';
import { MATCH_LEVELS, type Proposal } from '../matching/judge-line.ts';
import { bankLine } from '../matching/line-evidence.ts';
import { openLines } from '../matching/open-lines.ts';
import { readBeside } from '../read-beside.ts';
import { readingOptions } from '../remembered.ts';

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
const statementListSchema = listSchema(statementSchema);

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
const lineListSchema = listSchema(lineSchema);

const importAnswerSchema = z.strictObject({
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

const OTHERS = 'A parameter that is none of these is an error.';
const dayParameter = (description: string) =>
  textParameter(
    description,
    (text) => (dayBounds(text, 'UTC') ? undefined : 'Must be a date like 2026-11-20.'),
    { format: 'date' },
  );

/** The endpoints that list. */
export const statementReads = ({ database, clock, timeZone }: AdminParts): ApiEndpoint[] => [
  endpoint('GET /admin/statements', {
    id: 'listStatements',
    summary: 'Bank statements',
    description: `The newest import first. ${OTHERS}`,
    may: 'read',
    query: {
      account: shortParameter('Only those of this account.'),
      limit: limitParameter,
      cursor: idCursorParameter(isStatementId),
    },
    refusesOthers: true,
    answers: { 200: { body: ['StatementList', statementListSchema] } },
    errors: ['validation_failed'],
    async handle({ query: { account, limit, cursor } }) {
      const found = await listStatements(database, account, cursor, limit + 1);
      const { page, next } = pageOf(found, limit);
      const items = page.map((one) => JSON.stringify(presentStatement(one)));
      return listText(items, next);
    },
  }),
  endpoint('GET /admin/statement_lines', {
    id: 'listStatementLines',
    summary: 'Lines of bank statements',
    description: `The newest day first. ${OTHERS}`,
    may: 'read',
    query: {
      statement_id: shortParameter('Only those that this statement brought first.'),
      account: shortParameter('Only those of this account.'),
      state: wordParameter(LINE_STATES, 'Only those in this state.'),
      direction: wordParameter(DIRECTIONS, 'Only credits, or only debits.'),
      from: dayParameter('From this day on.'),
      to: dayParameter('Up to this day.'),
      limit: limitParameter,
      cursor: idCursorParameter(isLineId),
    },
    refusesOthers: true,
    answers: { 200: { body: ['StatementLineList', lineListSchema] } },
    errors: ['validation_failed'],
    async handle({ query: { limit, cursor, ...filter } }) {
      const after = cursor === undefined ? undefined : await findLine(database, cursor);
      const found = await listLines(database, filter, after, limit + 1);
      const { page, next } = pageOf(found, limit);
      const open = page.filter(({ state }) => state === 'open');
      const how = { now: clock.now(), timeZone };
      const judged = open.length > 0 ? await openLines(database, how, { also: open }) : [];
      const proposals = new Map(judged.map((one) => [one.line.id, one.proposals]));
      const items = page.map((one) => JSON.stringify(presentLine(one, proposals.get(one.id) ?? [])));
      return listText(items, next);
    },
  }),
];

function readChoices(reader: QueryReader, name: string): PartialLayout | undefined {
  let choices: PartialLayout | undefined;
  reader.text(name, (text) => {
    const read = parseChoices(text.split('|'));
    if (typeof read === 'string') return read;
    choices = read;
    return undefined;
  });
  return choices;
}

/** The endpoint that imports. `offer`: the ways to pay, which name the accounts that statements are of. */
export const statementImport = ({ database, journal, offer }: AdminParts & { offer: Offer }): ApiEndpoint =>
  endpoint('POST /admin/statements', {
    id: 'importStatements',
    summary: 'Import a file of bank statements',
    description:
      'The body is the file as the bank gives it: CAMT.052, 053 or 054, MT940, MT942, OFX or CSV, also in a ZIP archive, at most 64 MB. It is imported whole or not at all. ' +
      '422 `validation_failed` says what is wrong, by line. What is known already adds nothing, so a repeated call is harmless. ' +
      '403 `forbidden`: the role of the token is auditor. 409 `conflict`: one of its lines was changed at the same moment; send it again.',
    may: 'decide',
    query: {
      file: shortParameter('The name of the file, for people.'),
      despite_faults: flagParameter('Import what is right although something is not.'),
      account: shortParameter('The account of a CSV file that does not name its own.'),
      csv: parameter(
        { type: 'string', maxLength: 255 },
        'How a CSV file is read, as the option `--csv` of the command says it, separated by `|`: `dates=dmy|sign=signed`.',
        readChoices,
      ),
      confirm: flagParameter(
        'Whether a person has looked how a CSV file is read. A file of an export that is not known by its columns needs it once for each account.',
      ),
      encoding: wordParameter(
        ENCODINGS,
        'The encoding of a file that does not name its own. Without it the bytes tell.',
      ),
    },
    refusesOthers: true,
    file: FILE_BYTES_MAXIMUM,
    answers: { 201: { description: 'Imported.', body: ['StatementImportAnswer', importAnswerSchema] } },
    errors: ['forbidden', 'payload_too_large', 'validation_failed', 'conflict'],
    async handle({ request, reply, bytes, query }) {
      const { file = 'statement', despite_faults, account, csv: choices, confirm = false, encoding } = query;
      const known = await readingOptions(database, offer.settings);
      const csv = {
        ...known,
        ...(encoding && { encoding }),
        ...(choices && { choices }),
        ...(account !== undefined && { account }),
      };
      const read = await readBeside(bytes, file, csv);
      const checked = checkFile(read, offer.settings, confirm, csv);
      if (confirm) checked.confirmed?.push(...layoutsOf(read, checked.statements));
      const imported = await importFile(journal, checked, administratorActOf(request), {
        despiteFaults: despite_faults === true,
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
    },
  });

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
