// Bank statements under /admin: what was imported is listed with what became of each line.
import { z } from 'zod';
import type { AdminParts } from '../../administrators/admin/authenticate.ts';
import { formatAmount } from '../../lib/money.ts';
import { dayBounds, formatTimestamp } from '../../lib/time.ts';
import {
  type ApiEndpoint,
  endpoint,
  idCursorParameter,
  limitParameter,
  shortParameter,
  textParameter,
  wordParameter,
} from '../../web/endpoint.ts';
import { listSchema, listText, pageOf } from '../../web/list.ts';
import {
  exactMinor,
  isLineId,
  isStatementId,
  type KeptLine,
  type KeptStatement,
  LINE_STATES,
  signedText,
} from '../kept.ts';
import { findLine, listLines, listStatements } from '../line-queries.ts';
import { MATCH_LEVELS, type Proposal } from '../matching/judge-line.ts';
import { bankLine } from '../matching/line-evidence.ts';
import { openLines } from '../matching/open-lines.ts';
import type { MatchSettings } from '../matching/propose.ts';

const DIRECTIONS = ['credit', 'debit'] as const;

export const faultSchema = z
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

const signed = (minor: number | null) => (minor === null ? null : signedText(minor));

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
    amount: Number(formatAmount(exactMinor(row))),
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
export const statementReads = ({
  database,
  clock,
  timeZone,
  calendar,
  prefixes,
}: AdminParts & MatchSettings): ApiEndpoint[] => [
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
      const how = { now: clock.now(), timeZone, calendar, prefixes };
      const judged = open.length > 0 ? await openLines(database, how, { also: open }) : [];
      const proposals = new Map(judged.map((one) => [one.line.id, one.proposals]));
      const items = page.map((one) => JSON.stringify(presentLine(one, proposals.get(one.id) ?? [])));
      return listText(items, next);
    },
  }),
];
