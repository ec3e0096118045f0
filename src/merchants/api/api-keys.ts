// The API keys' endpoints under /v1: a merchant lists its keys, makes another, replaces one and revokes one.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Journal } from '../../journal/journal.ts';
import { OperationalError } from '../../lib/errors.ts';
import { optional, soundText } from '../../lib/faults.ts';
import { type Clock, DAY_MS, SECOND_MS, timestampOrNull } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import { type ApiEndpoint, cursorParameter, endpoint, limitParameter } from '../../web/endpoint.ts';
import { fromCursor, listSchema, listText, pageOf } from '../../web/list.ts';
import {
  changeKeys,
  issueKey,
  KEY_NAME_MAXIMUM,
  type KeyAct,
  keyNameFault,
  OVERLAPS_MS,
  revokeKey,
  rotateKey,
} from '../api-keys.ts';
import type { Directory } from '../directory.ts';
import { keyById } from '../follow.ts';
import type { KeyUses } from '../key-uses.ts';
import { listKeys, type PageEnd } from '../list-keys.ts';
import { KEY_PREFIX, type KnownKey, keyStatus, type StoredKey } from '../merchant.ts';
import { keysMadeBy } from '../queries.ts';

export interface ApiKeyRoutes {
  database: Database;
  journal: Journal;
  directory: Directory;
  keyUses: KeyUses;
  clock: Clock;
  baseUrl: string;
}

type WithId = { Params: { key_id: string } };

const LOCATION = {
  Location: { schema: { type: 'string' }, description: 'The new key, without its secret.' },
};
const NOT_KEPT =
  'No `Idempotency-Key` is heeded: a key is told once and kept nowhere, so there is no answer to give again.';
const REPLACED =
  'A key that was replaced reads, and creates payments, until its end. Everything else is 403, but that it may revoke itself.';

/** The endpoints of API keys. A key manages those of its own merchant and mode. */
export function apiKeyEndpoints(parts: ApiKeyRoutes): ApiEndpoint[] {
  const { database, directory, clock } = parts;
  return [
    endpoint('GET /v1/api_keys', {
      id: 'listApiKeys',
      summary: "List the merchant's API keys of the same mode, newest first",
      description: 'A key that is over is listed for 30 days after its end.',
      query: { limit: limitParameter, cursor: cursorParameter(endOf) },
      answers: { 200: { description: 'A page of keys.', body: ['ApiKeyList', apiKeyListSchema] } },
      errors: ['validation_failed'],
      async handle({ request, query: { limit, cursor: after } }) {
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
      },
    }),
    endpoint('GET /v1/api_keys/{key_id}', {
      id: 'readApiKey',
      summary: 'Read an API key, without its secret',
      answers: { 200: { description: 'The key.', body: ['ApiKeyAnswer', apiKeyAnswerSchema] } },
      errors: ['not_found'],
      async handle({ request }) {
        const key = await found(parts, request);
        const used = (await lastUsed(parts, [key])).get(key.id);
        return JSON.stringify({ data: presentApiKey(key, used, clock.now()) });
      },
    }),
    ...makingEndpoints(parts),
    revokingEndpoint(parts),
  ];
}

function makingEndpoints(parts: ApiKeyRoutes): ApiEndpoint[] {
  const { directory, clock, baseUrl } = parts;

  const shown = (row: StoredKey, used?: number) => presentApiKey(directory.keyOf(row), used, clock.now());

  /** Answers 201 with a new key. Only this answer shows the key. */
  function created(reply: FastifyReply, key: string, row: StoredKey, more: object = {}) {
    reply.code(201);
    reply.header('location', `${baseUrl}/v1/api_keys/${row.id}`);
    return JSON.stringify({ data: { ...shown(row), key }, ...more });
  }

  const create = endpoint('POST /v1/api_keys', {
    id: 'createApiKey',
    summary: 'Make another API key of the same merchant and mode',
    description: `The key stands in this answer alone. It ends with the key it is made with at the latest. ${NOT_KEPT} If the answer is lost, make another and revoke the one that the list shows. ${REPLACED}`,
    body: ['ApiKeyRequest', apiKeyRequestSchema],
    answers: {
      201: {
        description: 'Made. `data.key` is the key.',
        body: ['NewApiKeyAnswer', newApiKeyAnswerSchema],
        headers: LOCATION,
      },
    },
    errors: ['conflict'],
    async handle({ request, reply, body: { name, expires_in } }) {
      const { merchant, key: own } = request.caller;
      const { key, row } = await changeKeys(parts, merchant.id, (transaction) => {
        const expires_at = expires_in == null ? null : transaction.now + expires_in * SECOND_MS;
        const wish = { merchantId: merchant.id, mode: own.mode, name: name ?? null, expires_at };
        return issueKey(transaction, wish, actOf(request));
      });
      return created(reply, key, row);
    },
  });

  const rotate = endpoint('POST /v1/api_keys/{key_id}/rotate', {
    id: 'rotateApiKey',
    summary: 'Make a key in the place of another, which works on for a while',
    description: `The body may be left out. The new key keeps the end of the old one. ${NOT_KEPT} If the answer is lost, the same request again is 409, whose message names the key that was made: rotate that one with another key and \`overlap_seconds\` 0. ${REPLACED}`,
    body: ['RotationRequest', rotationRequestSchema],
    mayBeMissing: true,
    answers: {
      201: {
        description: 'Made. `data.key` is the new key.',
        body: ['RotatedApiKeyAnswer', rotatedApiKeyAnswerSchema],
        headers: LOCATION,
      },
    },
    errors: ['not_found', 'invalid_status', 'conflict'],
    async handle({ request, reply, body }) {
      const overlapMs = (body?.overlap_seconds ?? DAY_MS / SECOND_MS) * SECOND_MS;
      const before = await found(parts, request);
      const { key, row, old } = await changeKeys(parts, before.merchant_id, (transaction) =>
        rotateKey(transaction, before, { overlapMs, name: body?.name ?? null }, actOf(request)),
      );
      const used = (await lastUsed(parts, [before])).get(before.id);
      return created(reply, key, row, { replaced: shown(old, used) });
    },
  });

  return [create, rotate];
}

function revokingEndpoint(parts: ApiKeyRoutes): ApiEndpoint {
  const { directory, clock } = parts;
  return endpoint('POST /v1/api_keys/{key_id}/revoke', {
    id: 'revokeApiKey',
    summary: 'Revoke a key now and for good',
    description: `A key may revoke itself. A request body is ignored. ${REPLACED}`,
    answers: {
      200: {
        description: 'Revoked; every node refuses it within a second.',
        body: ['RevokedApiKeyAnswer', revokedApiKeyAnswerSchema],
      },
    },
    errors: ['not_found', 'invalid_status'],
    async handle({ request }) {
      const key = await found(parts, request);
      const { row } = await changeKeys(parts, key.merchant_id, (transaction) =>
        revokeKey(transaction, key, actOf(request)),
      );
      const used = (await lastUsed(parts, [key])).get(key.id);
      const made = await keysMadeBy(parts.database, key, clock.now());
      return JSON.stringify({
        data: presentApiKey(directory.keyOf(row), used, clock.now()),
        keys_made: made.map(({ id }) => id),
      });
    },
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

const EXPIRES_IN = { minimum: 60, maximum: 315_360_000 }; // ten years
const OVERLAPS_S = Object.values(OVERLAPS_MS).map((ms) => ms / SECOND_MS);
const ONE_OVERLAP = `Must be one of ${OVERLAPS_S.join(', ')}.`;

const name = optional(soundText(KEY_NAME_MAXIMUM, keyNameFault, { trims: true })).describe(
  'What the key is for, in your words. The history keeps no copy of it.',
);

/** `POST /v1/api_keys`. */
const apiKeyRequestSchema = z.object(
  {
    name,
    expires_in: optional(
      z
        .int('Must be a whole number.')
        .min(EXPIRES_IN.minimum, `Must be at least ${EXPIRES_IN.minimum}.`)
        .max(EXPIRES_IN.maximum, `Must be at most ${EXPIRES_IN.maximum}.`),
    ).describe(
      'Seconds until the key stops working, 60 to 315360000. Without it, it works until it is revoked.',
    ),
  },
  'Must be a JSON object.',
);

/** `POST /v1/api_keys/{id}/rotate`. */
const rotationRequestSchema = z.object(
  {
    overlap_seconds: optional(z.literal(OVERLAPS_S, ONE_OVERLAP)).describe(
      'For how long the key that is replaced works on. Default: 86400, a day.',
    ),
    name,
  },
  'Must be a JSON object.',
);

const moment = z.string().describe('ISO 8601 with a numeric UTC offset.').nullable();

const apiKeySchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^key_[0-9a-f]{16}$/)
      .describe('Identifier of the key; no secret.'),
    object: z.literal('api_key'),
    livemode: z.boolean().describe('Whether payments made with it are real.'),
    name: z.string().nullable().describe('What it is for, in its maker’s words.'),
    prefix: z.enum([KEY_PREFIX.test, KEY_PREFIX.live]).describe('What the key begins with.'),
    last_four: z
      .string()
      .nullable()
      .describe("The key's last four characters; null for one that the configuration file holds."),
    created_at: moment.describe('Null for a key that the configuration file holds.'),
    last_used_at: moment.describe('To the minute, up to a minute late; null while it was not used yet.'),
    expires_at: moment.describe('When it stops working; null where it goes on until it is revoked.'),
    revoked_at: moment,
    replaced_by: z.string().nullable().describe('The id of the key that was made in its place.'),
    created_by: z
      .string()
      .nullable()
      .describe(
        'The id of the key it was made with; `operator` or `administrator` for one that was made for the merchant; null for its first and for one of the configuration file.',
      ),
    status: z
      .enum(['active', 'expired', 'revoked'])
      .describe('A key that is replaced is `active` until it ends.'),
  })
  .meta({ id: 'ApiKey' });

const secret = z.string().describe('The key itself. It is told in this answer alone, and kept nowhere.');

const apiKeyAnswerSchema = z.strictObject({ data: apiKeySchema });
const newApiKeyAnswerSchema = z.strictObject({
  data: apiKeySchema.extend({ key: secret }).meta({ id: 'NewApiKey' }),
});
const rotatedApiKeyAnswerSchema = newApiKeyAnswerSchema.extend({
  replaced: apiKeySchema.describe('The key that the new one takes the place of, with the moment it ends.'),
});
const revokedApiKeyAnswerSchema = apiKeyAnswerSchema.extend({
  keys_made: z
    .array(z.string())
    .describe(
      'The ids of the keys that were made with it, or with one of those, and still work. After a leak, revoke each that you did not make.',
    ),
});
const apiKeyListSchema = listSchema(apiKeySchema);

/** A key as the API shows it at `now`; `lastUsed` in milliseconds since 1970, undefined where it never was. */
function presentApiKey(
  key: KnownKey,
  lastUsed: number | undefined,
  now: number,
): z.infer<typeof apiKeySchema> {
  const { id, mode, name, last_four, created_at, expires_at, revoked_at, replaced_by, made_by } = key;
  return {
    id,
    object: 'api_key',
    livemode: mode === 'live',
    name,
    prefix: KEY_PREFIX[mode],
    last_four,
    created_at: timestampOrNull(created_at),
    last_used_at: timestampOrNull(lastUsed === undefined ? null : Math.min(lastUsed, now)),
    expires_at: timestampOrNull(expires_at),
    revoked_at: timestampOrNull(revoked_at),
    replaced_by,
    created_by: made_by,
    status: keyStatus(key, now),
  };
}
