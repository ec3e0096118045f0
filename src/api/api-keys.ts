// The API keys' endpoints under /v1: a merchant lists its keys, makes another, replaces one and revokes one.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Database } from '../database/database.ts';
import { API_HEADERS } from '../http/headers.ts';
import { bodyOf, ignoreBody, takeJson } from '../http/json-body.ts';
import { fromCursor, LIMIT, listText, QueryReader, toCursor } from '../http/list.ts';
import { prefersStrictHandling, STRICT_APPLIED } from '../http/prefer.ts';
import type { Journal } from '../journal/journal.ts';
import { type ErrorDetails, OperationalError, validationFailed } from '../lib/errors.ts';
import { parseJson } from '../lib/json.ts';
import { type Clock, DAY_MS, SECOND_MS } from '../lib/time.ts';
import {
  changeKeys,
  issueKey,
  KEY_NAME_MAXIMUM,
  type KeyAct,
  keyNameFault,
  OVERLAPS_MS,
  revokeKey,
  rotateKey,
} from '../merchants/api-keys.ts';
import type { Directory } from '../merchants/directory.ts';
import { keyById, keysOf } from '../merchants/follow.ts';
import type { KeyUses } from '../merchants/key-uses.ts';
import type { KnownKey } from '../merchants/known-key.ts';
import type { StoredKey } from '../merchants/stored-key.ts';
import { presentApiKey } from './present-api-key.ts';

/** For how long keys that are over are still listed. */
const TOLD_FOR_MS = 30 * DAY_MS;
const EXPIRES_IN = { minimum: 60, maximum: 315_360_000 }; // ten years
const OVERLAPS_S = Object.values(OVERLAPS_MS).map((ms) => ms / SECOND_MS);
const ONE_OVERLAP = `Must be one of ${OVERLAPS_S.join(', ')}.`;

const name = z
  .string('Must be a string.')
  .check(({ value, issues }) => {
    const fault = keyNameFault(value);
    if (fault) issues.push({ code: 'custom', message: fault, input: value });
  })
  .meta({ maxLength: KEY_NAME_MAXIMUM })
  .nullish()
  .describe('What the key is for, in your words. The history keeps no copy of it.');

/** `POST /v1/api_keys`. `null` counts as left out. */
export const apiKeyRequestSchema = z.object(
  {
    name,
    expires_in: z
      .int('Must be a whole number.')
      .min(EXPIRES_IN.minimum, `Must be at least ${EXPIRES_IN.minimum}.`)
      .max(EXPIRES_IN.maximum, `Must be at most ${EXPIRES_IN.maximum}.`)
      .nullish()
      .describe(
        'Seconds until the key stops working, 60 to 315360000. Without it, it works until it is revoked.',
      ),
  },
  'Must be a JSON object.',
);

/** `POST /v1/api_keys/{id}/rotate`. `null` counts as left out. */
export const rotationRequestSchema = z.object(
  {
    overlap_seconds: z
      .literal(OVERLAPS_S, ONE_OVERLAP)
      .nullish()
      .describe('For how long the key that is replaced works on. Default: 86400, a day.'),
    name,
  },
  'Must be a JSON object.',
);

export interface ApiKeyRoutes {
  database: Database;
  journal: Journal;
  directory: Directory;
  keyUses: KeyUses;
  clock: Clock;
  baseUrl: string;
}

type WithId = { Params: { key_id: string } };

/** Adds the routes to `app`, whose requests carry a caller by now. A key manages those of its own merchant and mode. */
export function addApiKeyRoutes(app: FastifyInstance, parts: ApiKeyRoutes): void {
  const { database, directory, keyUses, clock, baseUrl } = parts;

  const lastUsed = (keys: readonly KnownKey[]) =>
    keyUses.lastUsed(
      database,
      keys.map(({ id }) => id),
    );

  async function list(request: FastifyRequest, reply: FastifyReply) {
    const { limit, after } = parseListQuery(request.query);
    const { merchant, key: own } = request.caller;
    const now = clock.now();
    const all = await keysOf(database, directory, merchant.id, now - TOLD_FOR_MS);
    const rest = all.filter((key) => key.mode === own.mode && (!after || isBehind(key, after)));
    const page = rest.slice(0, limit);
    const uses = await lastUsed(page);
    reply.headers(API_HEADERS);
    return listText(
      page.map((key) => JSON.stringify(presentApiKey(key, uses.get(key.id), now))),
      rest.length > limit ? cursorOf(page.at(-1)!) : null,
    );
  }

  /** A key of the caller's merchant and mode. Raises `not_found`, in the same words whatever is wrong with the id. */
  async function found(request: FastifyRequest<WithId>): Promise<KnownKey> {
    const { merchant, key: own } = request.caller;
    const { key_id } = request.params;
    const key = /^key_[0-9a-f]{16}$/.test(key_id) ? await keyById(database, directory, key_id) : undefined;
    if (key?.merchant_id !== merchant.id || key.mode !== own.mode)
      throw new OperationalError('not_found', 'There is no such API key.');
    return key;
  }

  const actOf = ({ caller, id }: FastifyRequest): KeyAct => ({
    actor: caller.actor,
    request_id: id,
    key: caller.key.id,
  });
  const shown = (row: StoredKey, used?: number) =>
    presentApiKey(directory.key(row.digest)!, used, clock.now());
  /** Answers 201 with a new key, the only time it is told. */
  function created(reply: FastifyReply, key: string, row: StoredKey, more: object = {}) {
    reply.code(201).headers(API_HEADERS);
    reply.header('location', `${baseUrl}/v1/api_keys/${row.id}`);
    return JSON.stringify({ data: { ...shown(row), key }, ...more });
  }

  async function create(request: FastifyRequest, reply: FastifyReply) {
    const { name, expires_in } = checked(apiKeyRequestSchema, bodyOf(request), request, reply);
    const { merchant, key: own } = request.caller;
    const { key, row } = await changeKeys(parts, merchant.id, (transaction) => {
      const expires_at = expires_in == null ? null : transaction.now + expires_in * SECOND_MS;
      const wish = { merchantId: merchant.id, mode: own.mode, name: name ?? null, expires_at };
      return issueKey(transaction, wish, actOf(request));
    });
    return created(reply, key, row);
  }

  async function rotate(request: FastifyRequest<WithId>, reply: FastifyReply) {
    const bytes = bodyOf(request);
    const wanted = bytes.length === 0 ? {} : checked(rotationRequestSchema, bytes, request, reply);
    const overlapMs = (wanted.overlap_seconds ?? DAY_MS / SECOND_MS) * SECOND_MS;
    const before = await found(request);
    const { key, row, old } = await changeKeys(parts, before.id, (transaction) =>
      rotateKey(transaction, before, { overlapMs, name: wanted.name ?? null }, actOf(request)),
    );
    const used = (await lastUsed([before])).get(before.id);
    return created(reply, key, row, { replaced: shown(old, used) });
  }

  async function revoke(request: FastifyRequest<WithId>, reply: FastifyReply) {
    const key = await found(request);
    const { row } = await changeKeys(parts, key.id, (transaction) =>
      revokeKey(transaction, key, actOf(request)),
    );
    const used = (await lastUsed([key])).get(key.id);
    reply.headers(API_HEADERS);
    return JSON.stringify({ data: shown(row, used) });
  }

  async function read(request: FastifyRequest<WithId>, reply: FastifyReply) {
    const key = await found(request);
    const used = (await lastUsed([key])).get(key.id);
    reply.headers(API_HEADERS);
    return JSON.stringify({ data: presentApiKey(key, used, clock.now()) });
  }

  app.get('/api_keys', list);
  app.get('/api_keys/:key_id', read);
  app.register(async (scope) => {
    takeJson(scope);
    scope.post('/api_keys', create);
  });
  app.register(async (scope) => {
    takeJson(scope, { mayBeMissing: true });
    scope.post('/api_keys/:key_id/rotate', rotate);
  });
  app.register(async (scope) => {
    ignoreBody(scope);
    scope.post('/api_keys/:key_id/revoke', revoke);
  });
}

/**
 * Reads a body. `Prefer: handling=strict` refuses fields that there are not, and the answer says so. Raises `invalid_json`, and
 * `validation_failed` with every fault.
 */
function checked<S extends z.ZodObject>(
  schema: S,
  bytes: Uint8Array,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): z.infer<S> {
  const strict = prefersStrictHandling(headers);
  const body = parseJson(bytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw validationFailed({ body: 'Must be a JSON object.' });
  const parsed = (strict ? schema.strict() : schema).safeParse(body);
  if (!parsed.success) {
    const faults: ErrorDetails = Object.create(null); // names come from outside: none may be inherited
    for (const issue of parsed.error.issues) {
      if (issue.code === 'unrecognized_keys')
        for (const name of issue.keys) faults[name] = 'Is not a known field.';
      else faults[issue.path.join('.')] ??= issue.message;
    }
    throw validationFailed(faults);
  }
  if (strict) reply.headers(STRICT_APPLIED);
  return parsed.data as z.infer<S>;
}

/** Where a page ended: behind a key of that age and id. Keys of unknown age come last, as if made in 1970. */
interface PageEnd {
  created_at: number;
  id: string;
}

function isBehind({ created_at, id }: KnownKey, end: PageEnd): boolean {
  const at = created_at ?? 0;
  return at < end.created_at || (at === end.created_at && id > end.id);
}

const cursorOf = ({ created_at, id }: KnownKey) => toCursor(`${created_at ?? 0}-${id}`);

function endOf(cursor: string): PageEnd | undefined {
  const parts = /^(\d{1,15})-(key_[0-9a-f]{16})$/.exec(fromCursor(cursor) ?? '');
  return parts ? { created_at: Number(parts[1]), id: parts[2]! } : undefined;
}

/** Checks the list's query. Raises `validation_failed` with every fault; parameters it does not know are ignored. */
function parseListQuery(query: unknown): { limit: number; after: PageEnd | undefined } {
  const reader = new QueryReader(query);
  const limit = reader.integer('limit', 1, LIMIT.maximum) ?? LIMIT.default;
  const after = reader.cursor(endOf);
  reader.end();
  return { limit, after };
}
