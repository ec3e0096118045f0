// The words in which the surfaces describe themselves for the OpenAPI 3.1 document.
import { z } from 'zod';
import { type ErrorCode, STATUS_OF_CODE } from '../lib/errors.ts';

/** What one surface adds to the document. */
export interface Description {
  paths: Record<string, object>;
  securitySchemes?: Record<string, object>;
  schemas: Record<string, object>;
  /** What the service sends by itself, by the type of the event. */
  webhooks?: Record<string, object>;
}

/** A description whose paths another server has than the document's; the same where that is none. */
export function withServer(server: string | undefined, description: Description): Description {
  if (server === undefined) return description;
  const servers = [{ url: server }];
  const paths = Object.entries(description.paths).map(([path, item]) => [path, { servers, ...item }]);
  return { ...description, paths: Object.fromEntries(paths) };
}

/** Names of fields that hold a moment of RFC 3339, and of those that hold an absolute address. */
const MOMENT = /(?:^|_)at$|^timestamp$|^time$|^since$/;
const ADDRESS = /(?:^|_)url$|^website$/;

/**
 * A schema as JSON Schema 2020-12, as it takes or as it gives, with the format of each field whose name tells it. Nouns, which are schemas
 * with an id, stand in `$defs`.
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
  });
  return withFormats(rest);
}

type Node = { [key: string]: unknown };

/** A copy of a schema in which fields have the formats that their names tell. */
function withFormats(node: Node): Node {
  const within = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(within) : isNode(value) ? withFormats(value) : value;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, within(value)]));
  if (isNode(copy.properties))
    for (const [name, field] of Object.entries(copy.properties)) {
      const format = MOMENT.test(name) ? 'date-time' : ADDRESS.test(name) ? 'uri' : undefined;
      if (format !== undefined) addFormat(field as Node, format);
    }
  return copy;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function addFormat(field: Node, format: string): void {
  if ([field.type].flat().includes('string')) field.format ??= format;
  for (const one of (field.anyOf ?? []) as Node[]) addFormat(one, format);
}

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: object) => ({ content: { 'application/json': { schema } } });
export const REQUEST_ID_HEADER = {
  'X-Request-Id': { schema: { type: 'string' }, description: 'Names this request in logs and history.' },
};

const RETRY_AFTER = {
  'Retry-After': {
    schema: { type: 'integer', minimum: 1 },
    description: 'Seconds to wait before the next try.',
  },
};

/** The headers that tell a key its limits (draft-ietf-httpapi-ratelimit-headers-10). */
export const RATE_LIMIT_HEADERS = {
  'RateLimit-Policy': {
    required: false,
    description:
      'How many requests (`q`) the key may send in how many seconds (`w`); missing where nothing is limited.',
    schema: { type: 'string', examples: ['"write";q=100;w=2'] },
  },
  RateLimit: {
    required: false,
    description: 'How many requests are left (`r`), and in how many seconds there is one more (`t`).',
    schema: { type: 'string', examples: ['"write";r=37;t=1'] },
  },
};

const ALL_CODES = Object.keys(STATUS_OF_CODE) as ErrorCode[];

/** One response for each status among `codes`, listing the codes it may carry. `limits`: headers of 429 beside `Retry-After`. */
export function failures(codes: readonly ErrorCode[], limits: object = {}): Record<string, object> {
  const responses: Record<string, object> = {};
  for (const status of [...new Set(codes.map((code) => STATUS_OF_CODE[code]))]) {
    const names = ALL_CODES.filter((code) => codes.includes(code) && STATUS_OF_CODE[code] === status);
    responses[status] = {
      description: names.map((name) => `\`${name}\``).join(', '),
      headers: names.includes('rate_limited')
        ? { ...REQUEST_ID_HEADER, ...RETRY_AFTER, ...limits }
        : REQUEST_ID_HEADER,
      ...json(ref('Error')),
    };
  }
  return responses;
}

/** What any request can come to. */
export const ALWAYS: ErrorCode[] = [
  'bad_request',
  'uri_too_long',
  'headers_too_large',
  'request_timeout',
  'internal_error',
  'unavailable',
];

export const PREFER_STRICT = {
  name: 'Prefer',
  in: 'header',
  description: '`handling=strict` refuses unknown fields (RFC 7240).',
  schema: { type: 'string' },
};

/** What a body that must be JSON can come to. */
export const BODY_CODES = [
  'unsupported_media_type',
  'payload_too_large',
  'invalid_json',
  'validation_failed',
] as const satisfies ErrorCode[];
