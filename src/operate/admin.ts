// Everything under /admin: the token first, then whether there is such an endpoint, then whether the role allows it.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type AdminParts, authenticator, requirePermission } from '../administrators/admin/authenticate.ts';
import { type AuditEntry, factsTold, type Seal } from '../journal/audit-entry.ts';
import { statement } from '../journal/checkpoint.ts';
import { entriesAfter, newestSeal, sealHolding } from '../journal/queries.ts';
import { OperationalError } from '../lib/errors.ts';
import { formatTimestamp } from '../lib/time.ts';
import type { Offer } from '../payments/methods/offer.ts';
import { decisionEndpoints, paymentReads } from '../review/admin/payments.ts';
import { statementImports } from '../statements/admin/imports.ts';
import { statementReads } from '../statements/admin/statements.ts';
import type { MatchSettings } from '../statements/matching/propose.ts';
import {
  type ApiEndpoint,
  addEndpoints,
  described,
  endpoint,
  parameter,
  type Surface,
} from '../web/endpoint.ts';
import { notFound } from '../web/errors.ts';
import { API_HEADERS } from '../web/headers.ts';
import { ALWAYS, type Description } from '../web/openapi.ts';
import { webhookActs, webhookReads } from '../webhooks/admin/webhooks.ts';

interface Admin extends AdminParts, MatchSettings {
  offer: Offer;
}

/** Registers the administrators' interface on `app` under its prefix. */
export async function adminApi(app: FastifyInstance, parts: Admin): Promise<void> {
  const authenticate = authenticator(parts.database, parts.refuse, parts.clock);
  app.decorateRequest('principal');
  app.addHook('onRequest', async (request) => {
    await authenticate(request);
    if (request.is404) throw notFound();
    requirePermission(request);
  });
  app.addHook('preHandler', async (_request, reply) => void reply.headers(API_HEADERS));
  app.setNotFoundHandler(() => {
    throw notFound();
  });
  addEndpoints(app, ADMIN_SURFACE, endpointsOf(parts));
}

/** What the endpoints under /admin have in common. */
const ADMIN_SURFACE: Surface = {
  prefix: '/admin',
  security: [{ administratorToken: [] }],
  errors: [...ALWAYS, 'unauthorized', 'rate_limited'],
  headers: {},
};

const endpointsOf = (parts: Admin): ApiEndpoint[] => [
  ...paymentReads(parts),
  ...decisionEndpoints(parts),
  ...auditEndpoints(parts),
  ...webhookReads(parts),
  ...webhookActs(parts),
  ...statementReads(parts),
  ...statementImports(parts),
];

/** What the OpenAPI document says of /admin. Nothing is called of what the endpoints close over. */
export const adminDescription = (parts: Admin): Description => ({
  ...described(ADMIN_SURFACE, endpointsOf(parts)),
  securitySchemes: {
    administratorToken: {
      type: 'http',
      scheme: 'bearer',
      description: "An administrator's token, `cfa_…`; for programs that administrators run.",
    },
  },
});

const ENTRIES = { default: 100, maximum: 1000 };

const entrySchema = z
  .strictObject({
    number: z.int().describe('Counts from 1 without a gap.'),
    at: z.string().describe('ISO 8601 with a numeric UTC offset.'),
    at_ms: z.int().describe('The same in milliseconds since 1970, as it is sealed.'),
    actor: z.string(),
    action: z.string(),
    subject: z.string(),
    request_id: z.string().nullable(),
    facts: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
  })
  .meta({ id: 'AuditEntry' });

const sealSchema = z
  .strictObject({
    number: z.int(),
    first_entry: z.int(),
    last_entry: z.int(),
    at: z.string().describe('ISO 8601 with a numeric UTC offset.'),
    at_ms: z.int().describe('The same in milliseconds since 1970, as it is sealed.'),
    hash: z.string().describe('SHA-256 over the seal before and the entries.'),
  })
  .meta({ id: 'Seal' });

const entryListSchema = z.strictObject({
  data: z.array(entrySchema),
  has_more: z.boolean().describe('Whether there are more behind the last.'),
  next_after: z.int().nullable().describe('Hand in as `after` for what comes next.'),
});

const entryAnswerSchema = z.strictObject({
  data: entrySchema.extend({ seal: sealSchema.describe('The seal that closes the entry.') }),
});

const sealAnswerSchema = z.strictObject({ data: sealSchema });

const checkpointAnswerSchema = z.strictObject({
  data: z.strictObject({
    seal: z.int(),
    last_entry: z.int(),
    hash: z.string(),
    signed_at: z.string().describe('ISO 8601 with a numeric UTC offset.'),
    key: z.string().describe('Names the public key.'),
    signature: z.string().describe('Ed25519 over `statement`, base64url.'),
    statement: z.string().describe('The text that is signed.'),
    line: z.string().describe('The checkpoint as a line of the checkpoint file.'),
  }),
});

const none = (what: string) => new OperationalError('not_found', `There is no ${what}.`);

const afterParameter = parameter(
  { type: 'integer', minimum: 0, default: 0 },
  'Only those with a higher number.',
  (reader) => reader.integer('after', 0, Number.MAX_SAFE_INTEGER) ?? 0,
);
const entriesParameter = parameter(
  { type: 'integer', minimum: 1, maximum: ENTRIES.maximum, default: ENTRIES.default },
  'How many at most.',
  (reader) => reader.integer('limit', 1, ENTRIES.maximum) ?? ENTRIES.default,
);

/** The endpoints of the history. */
const auditEndpoints = ({ database, checkpoints }: AdminParts): ApiEndpoint[] => [
  endpoint('GET /admin/audit/entries', {
    id: 'listAuditEntries',
    summary: 'Entries of the history by their numbers',
    may: 'read',
    query: { after: afterParameter, limit: entriesParameter },
    answers: { 200: { body: ['AuditEntryList', entryListSchema] } },
    errors: ['validation_failed'],
    async handle({ query: { after, limit } }) {
      const found = await entriesAfter(database, after, limit + 1);
      const page = found.slice(0, limit);
      const next = found.length > limit ? page.at(-1)!.number : null;
      return JSON.stringify({ data: page.map(presentEntry), has_more: next !== null, next_after: next });
    },
  }),
  endpoint('GET /admin/audit/entries/{number}', {
    id: 'readAuditEntry',
    summary: 'One entry of the history, and the seal that closes it',
    may: 'read',
    path: { number: { type: 'integer', minimum: 1 } },
    answers: { 200: { body: ['AuditEntryAnswer', entryAnswerSchema] } },
    errors: ['not_found'],
    async handle({ request }) {
      const { number } = request.params;
      if (!/^[1-9]\d{0,14}$/.test(number)) throw none('such entry');
      const [entry] = await entriesAfter(database, Number(number) - 1, 1);
      const seal = entry?.number === Number(number) ? await sealHolding(database, entry.number) : undefined;
      if (!entry || !seal) throw none('such entry');
      return JSON.stringify({ data: { ...presentEntry(entry), seal: presentSeal(seal) } });
    },
  }),
  endpoint('GET /admin/audit/seal', {
    id: 'readNewestSeal',
    summary: 'The newest seal of the history',
    may: 'read',
    answers: { 200: { body: ['SealAnswer', sealAnswerSchema] } },
    errors: [],
    async handle() {
      const seal = await newestSeal(database);
      return JSON.stringify({ data: presentSeal(seal!) }); // there is one, or whose token would this be
    },
  }),
  endpoint('GET /admin/audit/checkpoint', {
    id: 'readNewestCheckpoint',
    summary: 'The newest checkpoint that this node signed',
    may: 'read',
    answers: { 200: { body: ['CheckpointAnswer', checkpointAnswerSchema] } },
    errors: ['not_found'],
    async handle() {
      const checkpoint = await checkpoints.newest();
      if (!checkpoint) throw none('checkpoint yet: one is signed every minute in which something changed');
      const line = JSON.stringify(checkpoint);
      return JSON.stringify({ data: { ...checkpoint, statement: statement(checkpoint).toString(), line } });
    },
  }),
];

function presentEntry(entry: AuditEntry): object {
  const { number, at, actor, action, subject, request_id } = entry;
  const moments = { at: formatTimestamp(at), at_ms: at };
  return { number, ...moments, actor, action, subject, request_id, facts: factsTold(entry) };
}

function presentSeal({ number, first_entry, last_entry, at, hash }: Seal): object {
  return { number, first_entry, last_entry, at: formatTimestamp(at), at_ms: at, hash };
}
