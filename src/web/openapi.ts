// The OpenAPI 3.1 document, of the words in which the surfaces describe themselves: each noun stands once.
import { z } from 'zod';
import { type ErrorCode, STATUS_OF_CODE } from '../lib/errors.ts';
import { errorSchema } from './errors.ts';

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

/** What operations are about, by the beginning of their paths; the first that fits. */
const TAGS = [
  [/^\/health/, 'Health', 'Whether the service works.'],
  [/^\/register/, 'Registration', 'How merchants get their first key.'],
  [/^\/v1\/test\//, 'Trying out', 'Moves of test payments that a test key makes without a person.'],
  [
    /^\/v1\/(?:events|payments\/[^/]+\/events)/,
    'Events',
    'What became of payments, in the order of commits.',
  ],
  [/^\/v1\/payments/, 'Payments', 'Payment requests of a merchant, and their links to checkout.'],
  [/^\/v1\/api_keys/, 'API keys', 'Keys of a merchant.'],
  [
    /^\/v1\/(?:webhook_endpoints|deliveries)/,
    'Webhooks',
    "Where a merchant's events are sent, and what came of it.",
  ],
  [/^\/admin\/payments/, 'Review', 'Payments of all merchants, and what administrators decide.'],
  [/^\/admin\/audit/, 'History', 'Entries, seals and checkpoints.'],
  [/^\/admin\/statement/, 'Bank statements', 'Files of banks and their lines.'],
  [/^\/admin\//, "Merchants' webhooks", 'Webhook endpoints of all merchants, for administrators.'],
] as const;
const tagOf = (path: string): string => TAGS.find(([begin]) => begin.test(path))![1];

interface Operation {
  summary: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; in: string }[];
  responses: Record<string, { description: string; headers?: Record<string, object> }>;
}

interface OpenApiSite {
  baseUrl: string;
  /** An e-mail address or the address of a page. */
  contact: string | undefined;
  version: string;
}

/** Builds the document for a service from what its surfaces say of themselves. */
export function openApiDocument(site: OpenApiSite, parts: readonly Description[]): object {
  const { baseUrl, contact = baseUrl, version } = site;
  const all = (name: keyof Description): Record<string, object> =>
    Object.assign({}, ...parts.map((part) => part[name]));
  const components = new Components();
  const withTags = (items: Record<string, object>, tag: (path: string) => string) =>
    Object.fromEntries(
      Object.entries(items).map(([path, item]) => [
        path,
        Object.fromEntries(
          Object.entries(item).map(([method, operation]) => [
            method,
            method === 'servers' ? operation : completed(operation, tag(path), components),
          ]),
        ),
      ]),
    );
  const paths = withTags(all('paths'), tagOf);
  const webhooks = withTags(all('webhooks'), () => 'Webhooks');
  return {
    openapi: '3.1.1',
    info: {
      title: 'Counterfoil',
      version,
      description: 'Payment requests with a hosted checkout. Card data is never accepted by this interface.',
      contact: contact.includes('@')
        ? { name: 'The operator of this service', email: contact }
        : { name: 'The operator of this service', url: contact },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: TAGS.map(([, name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes: all('securitySchemes'),
      schemas: withNouns({ ...all('schemas'), Error: jsonSchema(errorSchema, 'output') }),
      ...components.shared,
    },
  };
}

/** An operation with its tag and a description, which refers to what it has in common with others. */
function completed(operation: Operation, tag: string, components: Components): Operation {
  const { description = `${operation.summary}.`, parameters, responses, ...rest } = operation;
  const shared = parameters?.map((one) => components.share('parameters', one.name, one));
  const answers = Object.entries(responses).map(([status, response]) => {
    const headers = Object.entries(response.headers ?? {}).map(([name, header]) => [
      name,
      components.share('headers', name, header),
    ]);
    const answer = { ...response, ...(response.headers && { headers: Object.fromEntries(headers) }) };
    const codes = [...response.description.matchAll(/`(\w+)`/g)].map(([, code]) => code).join(' or ');
    const isError = /^[45]/.test(status) && response.description.startsWith('`');
    return [status, isError ? components.share('responses', codes, answer) : answer];
  });
  return {
    ...rest,
    description,
    tags: [tag],
    ...(shared && { parameters: shared }),
    responses: Object.fromEntries(answers),
  };
}

/** Parts of operations by their names in the document. A part that several operations share stands once. */
class Components {
  readonly shared: Record<'parameters' | 'headers' | 'responses', Record<string, object>> = {
    parameters: {},
    headers: {},
    responses: {},
  };
  readonly #references = new Map<string, object>();

  /** A reference to the part, which stands under a name like `name`. */
  share<T extends object>(kind: keyof Components['shared'], name: string, part: T): T {
    const text = `${kind} ${JSON.stringify(part)}`;
    let reference = this.#references.get(text);
    if (reference === undefined) {
      const stem = name.replace(/(?:^|[^a-zA-Z0-9]+)(\w)/g, (_, first: string) => first.toUpperCase());
      let free = stem;
      for (let count = 2; free in this.shared[kind]; count++) free = `${stem}${count}`;
      this.shared[kind][free] = part;
      reference = { $ref: `#/components/${kind}/${free}` };
      this.#references.set(text, reference);
    }
    return reference as T;
  }
}

/** The schemas, and beside them the nouns in them, each once. */
function withNouns(schemas: Record<string, object>): Record<string, object> {
  const nouns: Record<string, object> = {};
  const named: Record<string, object> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const { $defs = {}, ...rest } = schema as { $defs?: Record<string, object> };
    Object.assign(nouns, $defs);
    if (!(name in $defs)) named[name] = rest;
  }
  return JSON.parse(JSON.stringify({ ...named, ...nouns }).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
