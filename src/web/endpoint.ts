// Endpoints of an API as values: each says what it takes, gives and does; its route, its checks and its part of OpenAPI are made of it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ErrorCode } from '../lib/errors.ts';
import { parsedBy } from '../lib/faults.ts';
import { textFault } from '../lib/text.ts';
import { prefersStrictHandling, STRICT_APPLIED } from './headers.ts';
import { bodyOf, ignoreBody, objectIn, readBytes, takeJson } from './json-body.ts';
import { LIMIT, QueryReader } from './list.ts';
import {
  BODY_CODES,
  type Description,
  failures,
  json,
  jsonSchema,
  PREFER_STRICT,
  REQUEST_ID_HEADER,
  ref,
} from './openapi.ts';

/** What a role allows. `operate/` and `administrators/` check it; merchants' keys have none. */
export type Permission = 'read' | 'decide' | 'administer';

declare module 'fastify' {
  interface FastifyContextConfig {
    may?: Permission;
  }
}

/** A schema by its name in the document. */
type Named<S extends z.ZodType = z.ZodType> = readonly [name: string, schema: S];

interface QueryParameter<T> {
  described: object;
  read(reader: QueryReader, name: string): T;
}
type Query = Record<string, QueryParameter<unknown>>;
type QueryOf<Q extends Query> = { [name in keyof Q]: ReturnType<Q[name]['read']> };

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

interface AnswerSaid {
  /** Default: the summary. */
  description?: string;
  /** The body as JSON. Without it the answer has none, or `content` says what it is. */
  body?: Named;
  content?: object;
  headers?: object;
}

interface Said<Path extends string, S extends z.ZodType, Body, Q extends Query> {
  /** The `operationId`. */
  id: string;
  summary: string;
  description?: string;
  /** The permission that the caller's role must allow. */
  may?: Permission;
  /** The schemas of parts of the path, where they are not texts. */
  path?: Partial<Record<NamesIn<Path>, object>>;
  query?: Q;
  /** Parameters behind the question mark that are none of `query` are refused. Default: they are ignored. */
  refusesOthers?: boolean;
  /** JSON. Its schema is strict where the client prefers it. Without it a body is not even read. */
  body?: Named<S>;
  /** Takes the bytes of a file instead, at most so many. */
  file?: number;
  /** Reads the body by rules of its own; `strict`: the client prefers that unknown fields are refused. */
  parse?(values: Record<string, unknown>, strict: boolean): Body;
  /** Whether `Prefer: handling=strict` counts. Default: without `parse`. */
  prefers?: boolean;
  /** The body may be left out; then it is undefined. */
  mayBeMissing?: boolean;
  /** An `Idempotency-Key` counts: the handler answers through `answerOnce`. */
  once?: boolean;
  /** Headers of the request beside `Idempotency-Key` and `Prefer`. */
  headers?: object[];
  answers: Record<number, AnswerSaid>;
  /** Beside those that every request can come to, and those of a body and of an `Idempotency-Key`. */
  errors: readonly ErrorCode[];
  handle(asked: Asked<Path, Body, Q>): Promise<unknown> | unknown;
}

export interface Asked<Path extends string = string, Body = unknown, Q extends Query = Query> {
  request: FastifyRequest<{ Params: Record<NamesIn<Path>, string> }>;
  reply: FastifyReply;
  query: QueryOf<Q>;
  body: Body;
  /** The body as it came. */
  bytes: Buffer;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface ApiEndpoint {
  method: Method;
  /** `/v1/api_keys/{key_id}`. */
  path: string;
  said: Said<string, z.ZodType, unknown, Query>;
}

/** An endpoint by its method and path, such as `GET /v1/api_keys/{key_id}`. */
export function endpoint<
  const Path extends string,
  S extends z.ZodType = z.ZodUndefined,
  Body = z.output<S>,
  Q extends Query = Record<never, never>,
>(route: `${Method} ${Path}`, said: Said<Path, S, Body, Q>): ApiEndpoint {
  const [method, path] = route.split(' ') as [Method, Path];
  return { method, path, said: said as unknown as ApiEndpoint['said'] };
}

/** What the endpoints of a surface have in common. */
export interface Surface {
  prefix: string;
  security: object[];
  /** What any request can come to. */
  errors: readonly ErrorCode[];
  /** Headers of each answer, and of 429. */
  headers: object;
  /** Checks the `Idempotency-Key` of a request together with what `check` finds. Throws `validation_failed`. */
  checkedOnce?<T>(request: FastifyRequest, check: () => T): T;
}

/** Adds the routes to `app`, which is registered under the prefix of the surface. */
export function addEndpoints(
  app: FastifyInstance,
  surface: Surface,
  endpoints: readonly ApiEndpoint[],
): void {
  for (const [kind, some] of Map.groupBy(endpoints, bodyKind))
    app.register(async (scope) => {
      if (kind === 'file') readBytes(scope);
      if (kind === 'json' || kind === 'optional') takeJson(scope, { mayBeMissing: kind === 'optional' });
      if (kind === 'ignored') ignoreBody(scope);
      for (const one of some) addRoute(scope, surface, one);
    });
}

function bodyKind({ method, said }: ApiEndpoint): 'file' | 'optional' | 'json' | 'none' | 'ignored' {
  if (said.file !== undefined) return 'file';
  if (said.body) return said.mayBeMissing ? 'optional' : 'json';
  return method === 'GET' ? 'none' : 'ignored';
}

function addRoute(scope: FastifyInstance, surface: Surface, one: ApiEndpoint): void {
  const { method, path, said } = one;
  const url = path.slice(surface.prefix.length).replaceAll(/\{(\w+)\}/g, ':$1');
  scope.route({
    ...{ method, url, handler: handlerOf(surface, one) },
    ...(said.may !== undefined && { config: { may: said.may } }),
    ...(said.file !== undefined && { bodyLimit: said.file }),
  });
}

/** What answers the requests of an endpoint. */
export function handlerOf({ checkedOnce }: Surface, { said }: ApiEndpoint) {
  return (request: FastifyRequest, reply: FastifyReply) => {
    const query = readQuery(said, request.query);
    const bytes = said.body || said.file !== undefined ? bodyOf(request) : Buffer.alloc(0);
    const read = () => readBody(said, bytes, request, reply);
    const body = said.once ? checkedOnce!(request, read) : read();
    return said.handle({ request, reply, query, body, bytes });
  };
}

/** Reads the parameters that an endpoint knows. Throws `validation_failed` with every fault. */
function readQuery(
  { query: parameters, refusesOthers }: ApiEndpoint['said'],
  sent: unknown,
): Record<string, unknown> {
  if (parameters === undefined) return {};
  const reader = new QueryReader(sent);
  const values = Object.entries(parameters).map(([name, { read }]) => [name, read(reader, name)]);
  if (refusesOthers) reader.refuseOthers();
  reader.end();
  return Object.fromEntries(values);
}

/** Throws `invalid_json`, and `validation_failed` with every fault. */
function readBody(
  { body, parse, prefers = !parse, mayBeMissing }: ApiEndpoint['said'],
  bytes: Buffer,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): unknown {
  if (!body || (mayBeMissing && bytes.length === 0)) return undefined;
  const values = objectIn(bytes);
  const [, schema] = body;
  const strict = prefers && prefersStrictHandling(headers);
  const read = parse
    ? parse(values, strict)
    : parsedBy(strict ? (schema as z.ZodObject).strict() : schema, values);
  if (strict) reply.headers(STRICT_APPLIED);
  return read;
}

/** What the OpenAPI document says of the endpoints. */
export function described(surface: Surface, endpoints: readonly ApiEndpoint[]): Description {
  const paths: Record<string, Record<string, object>> = {};
  const schemas: Record<string, object> = {};
  for (const { method, path, said } of endpoints) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(surface, path, said) };
    if (said.body) schemas[said.body[0]] = jsonSchema(said.body[1], 'input');
    for (const { body } of Object.values(said.answers))
      if (body) schemas[body[0]] = jsonSchema(body[1], 'output');
  }
  return { paths, schemas };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a retry safe: the same key with the same request gets the first answer again for 7 days, with `Idempotency-Replayed: true`. Sent at most once.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
};

function operation(surface: Surface, path: string, said: ApiEndpoint['said']): object {
  const {
    id,
    summary,
    description,
    query = {},
    body,
    parse,
    prefers = !parse,
    once,
    headers = [],
    mayBeMissing,
    file,
  } = said;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true, schema: said.path?.[name as never] ?? { type: 'string' } },
  }));
  const parameters = [
    ...inPath,
    ...Object.entries(query).map(([name, one]) => ({ name, in: 'query', ...one.described })),
    ...(once ? [idempotencyKey] : []),
    ...(body && prefers ? [PREFER_STRICT] : []),
    ...headers,
  ];
  const answers = Object.entries(said.answers).map(
    ([status, { description: text = `${summary}.`, body: given, content, headers: more }]) => [
      status,
      {
        description: text,
        headers: { ...REQUEST_ID_HEADER, ...surface.headers, ...more },
        ...(given && json(ref(given[0]))),
        ...(content && { content }),
      },
    ],
  );
  const errors: ErrorCode[] = [
    ...surface.errors,
    ...(body ? BODY_CODES : []),
    ...(once ? (['validation_failed', 'idempotency_key_reused', 'idempotency_in_progress'] as const) : []),
    ...said.errors,
  ];
  return {
    operationId: id,
    summary,
    ...(description && { description }),
    security: surface.security,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: !mayBeMissing, ...json(ref(body[0])) } }),
    ...(file !== undefined && {
      requestBody: { required: true, content: { 'application/octet-stream': {} } },
    }),
    responses: { ...Object.fromEntries(answers), ...failures([...new Set(errors)], surface.headers) },
  };
}

export const parameter = <T>(
  schema: object,
  description: string,
  read: QueryParameter<T>['read'],
  more: object = {},
): QueryParameter<T> => ({ described: { description, schema, ...more }, read });

/** The page size. */
export const limitParameter = parameter(
  { type: 'integer', minimum: 1, maximum: LIMIT.maximum, default: LIMIT.default },
  'How many at most.',
  (reader) => reader.limit(),
);

/** The place where a page before ended; `read` gives undefined for what is no cursor. */
export const cursorParameter = <C>(read: (cursor: string) => C | undefined) =>
  parameter({ type: 'string' }, 'The `next_cursor` of an earlier answer.', (reader) => reader.cursor(read));

/** The same where a cursor stands for an id. */
export const idCursorParameter = (isId: (text: string) => boolean) =>
  parameter({ type: 'string' }, 'The `next_cursor` of an earlier answer.', (reader) => reader.idCursor(isId));

/** A text in which `faultOf` finds no fault. */
export const textParameter = (
  description: string,
  faultOf?: (text: string) => string | undefined,
  schema: object = {},
) => parameter({ type: 'string', ...schema }, description, (reader, name) => reader.text(name, faultOf));

const TEXT_MAXIMUM = 255;

/** A short text of one line. */
export const shortParameter = (description: string) =>
  textParameter(description, (text) => textFault(text, TEXT_MAXIMUM), { maxLength: TEXT_MAXIMUM });

/** `true` or `false`, read as one of two values; undefined if it is not given. */
const eitherParameter = <T, F>(description: string, yes: T, no: F) =>
  parameter({ type: 'string', enum: ['true', 'false'] }, description, (reader, name) => {
    const value = reader.oneOf(name, ['true', 'false']);
    return value && (value === 'true' ? yes : no);
  });

export const flagParameter = (description: string) => eitherParameter(description, true, false);

/** Asks for live rows or test rows alone. */
export const livemodeParameter = (description: string) =>
  eitherParameter(description, 'live' as const, 'test' as const);

/** One of a few words. */
export const wordParameter = <W extends string>(words: readonly W[], description: string) =>
  parameter({ type: 'string', enum: [...words] }, description, (reader, name) => reader.oneOf(name, words));

/** Some of a few words, parted by commas. */
export const wordsParameter = <W extends string>(words: readonly W[], description: string) =>
  parameter(
    { type: 'array', minItems: 1, items: { type: 'string', enum: [...words] } },
    description,
    (reader, name) => reader.someOf(name, words),
    { style: 'form', explode: false },
  );
