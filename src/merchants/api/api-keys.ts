// The API keys' endpoints under /v1: a merchant lists its keys, makes another, replaces one and revokes one.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Journal } from '../../journal/journal.ts';
import { OperationalError } from '../../lib/errors.ts';
import { type Clock, DAY_MS, SECOND_MS } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import { bodyOf, ignoreBody, takeJson } from '../../web/json-body.ts';
import { fromCursor, listText, pageOf, QueryReader } from '../../web/list.ts';
import type { KeyAct } from '../acting-key.ts';
import { changeKeys, issueKey, revokeKey, rotateKey } from '../api-keys.ts';
import type { Directory } from '../directory.ts';
import { keyById } from '../follow.ts';
import type { KeyUses } from '../key-uses.ts';
import type { KnownKey } from '../known-key.ts';
import { listKeys, type PageEnd } from '../list-keys.ts';
import { keysMadeBy } from '../queries.ts';
import type { StoredKey } from '../stored-key.ts';
import { apiKeyRequestSchema, checked, rotationRequestSchema } from './api-key-requests.ts';
import { presentApiKey } from './present-api-key.ts';

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
  const { database, directory, clock } = parts;

  async function list(request: FastifyRequest) {
    const { limit, after } = parseListQuery(request.query);
    const { merchant, key: own } = request.caller;
    const now = clock.now();
    const wanted = { merchantId: merchant.id, mode: own.mode, now, after, limit: limit + 1 };
    const found = await listKeys(database, directory, wanted);
    const { page, next } = pageOf(found, limit, ({ created_at, id }) => `${created_at ?? 0}-${id}`);
    const uses = await lastUsed(parts, page);
    return listText(
      page.map((key) => JSON.stringify(presentApiKey(key, uses.get(key.id), now))),
      next,
    );
  }

  async function read(request: FastifyRequest<WithId>) {
    const key = await found(parts, request);
    const used = (await lastUsed(parts, [key])).get(key.id);
    return JSON.stringify({ data: presentApiKey(key, used, clock.now()) });
  }

  app.get('/api_keys', list);
  app.get('/api_keys/:key_id', read);
  addChangingRoutes(app, parts);
}

/** The routes that make, replace and revoke. */
function addChangingRoutes(app: FastifyInstance, parts: ApiKeyRoutes): void {
  const { directory, clock, baseUrl } = parts;

  const shown = (row: StoredKey, used?: number) => presentApiKey(directory.keyOf(row), used, clock.now());

  /** Answers 201 with a new key. Only this answer shows the key. */
  function created(reply: FastifyReply, key: string, row: StoredKey, more: object = {}) {
    reply.code(201);
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
    const before = await found(parts, request);
    const { key, row, old } = await changeKeys(parts, before.merchant_id, (transaction) =>
      rotateKey(transaction, before, { overlapMs, name: wanted.name ?? null }, actOf(request)),
    );
    const used = (await lastUsed(parts, [before])).get(before.id);
    return created(reply, key, row, { replaced: shown(old, used) });
  }

  async function revoke(request: FastifyRequest<WithId>) {
    const key = await found(parts, request);
    const { row } = await changeKeys(parts, key.merchant_id, (transaction) =>
      revokeKey(transaction, key, actOf(request)),
    );
    const used = (await lastUsed(parts, [key])).get(key.id);
    const made = await keysMadeBy(parts.database, key, clock.now());
    return JSON.stringify({ data: shown(row, used), keys_made: made.map(({ id }) => id) });
  }

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

const actOf = ({ caller, id }: FastifyRequest): KeyAct => ({
  actor: caller.actor,
  request_id: id,
  key: caller.key,
});

function lastUsed({ database, keyUses }: ApiKeyRoutes, keys: readonly KnownKey[]) {
  const ids = keys.map(({ id }) => id);
  return keyUses.lastUsed(database, ids);
}

/** A key of the caller's merchant and mode. Throws `not_found`, in the same words whatever is wrong with the id. */
async function found(
  { database, directory }: ApiKeyRoutes,
  request: FastifyRequest<WithId>,
): Promise<KnownKey> {
  const { merchant, key: own } = request.caller;
  const { key_id } = request.params;
  const key = /^key_[0-9a-f]{16}$/.test(key_id) ? await keyById(database, directory, key_id) : undefined;
  if (key?.merchant_id !== merchant.id || key.mode !== own.mode)
    throw new OperationalError('not_found', 'There is no such API key.');
  return key;
}

function endOf(cursor: string): PageEnd | undefined {
  const parts = /^(\d{1,15})-(key_[0-9a-f]{16})$/.exec(fromCursor(cursor) ?? '');
  return parts ? { created_at: Number(parts[1]), id: parts[2]! } : undefined;
}

/** Checks the list's query. Throws `validation_failed` with every fault; parameters it does not know are ignored. */
function parseListQuery(query: unknown): { limit: number; after: PageEnd | undefined } {
  const reader = new QueryReader(query);
  const limit = reader.limit();
  const after = reader.cursor(endOf);
  reader.end();
  return { limit, after };
}
