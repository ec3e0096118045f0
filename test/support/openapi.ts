// The parts of an OpenAPI document that the tests look into, and what holds answers against it.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { newSecret } from '../../src/lib/secrets.ts';
import type { Answer, Harness, RequestOptions } from './harness.ts';

/** A merchant that may call once a second, for the answers that say so. */
export const SLOW_KEY = newSecret('cfk_test_');
export const LIMITED = `  - id: mer_slow
    name: Slow Shop
    rate_limits: {writes_per_second: 1, reads_per_second: 1}
    keys:
      - key: ${SLOW_KEY}
rate_limits: {enabled: true}
`;

export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; schema: object }[];
  requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  responses: Record<
    string,
    {
      description: string;
      headers?: Record<string, { required?: boolean }>;
      content: Record<string, { schema: object }>;
    }
  >;
}
export interface Document {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, Partial<Record<(typeof METHODS)[number], Operation>>>;
  webhooks: Record<string, { post?: Operation }>;
  components: { securitySchemes: Record<string, object>; schemas: Record<string, object> };
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Fills in a path's template: ids and numbers that are nobody's, unless one is given. */
export const UNKNOWN_ID = `pay_${'0'.repeat(36)}`;
const filledIn = (template: string, id = UNKNOWN_ID) =>
  template
    .replace('{payment_id}', id)
    .replace('{event_id}', id)
    .replace('/events/stream', `/events/stream?after=evt_${'0'.repeat(34)}_1`) // an answer that ends
    .replace('{key_id}', id.startsWith('key_') ? id : `key_${'0'.repeat(16)}`)
    .replace('{endpoint_id}', id.startsWith('whe_') ? id : `whe_${'0'.repeat(36)}`)
    .replace('{delivery_id}', id.startsWith('dlv_') ? id : `dlv_${'0'.repeat(36)}`)
    .replace('{number}', /^\d+$/.test(id) ? id : '999999999');

export interface HoldOptions extends RequestOptions {
  /** Stands in the path. */
  id?: string;
  query?: string;
}

/** The document with each parameter, header and response in the place where it is referred to. Schemas stay references. */
export function resolved(document: Document): Document {
  const components = document.components as unknown as Record<string, Record<string, object>>;
  const within = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map(within);
    const [, kind, name] =
      /^#\/components\/(parameters|headers|responses)\/(\w+)$/.exec((node as { $ref?: string }).$ref ?? '') ??
      [];
    if (kind !== undefined) return within(components[kind]![name!]);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, within(value)]));
  };
  const { paths, webhooks } = document;
  return { ...document, ...(within({ paths, webhooks }) as Pick<Document, 'paths' | 'webhooks'>) };
}

/** Formats as the tests check them: the words of JSON Schema, by what the platform takes for one. */
const FORMATS = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uri: (text: string) => /^https?:/.test(text) && URL.canParse(text),
};

/** Holds what a service answers against what its document says of that path, method and status. */
export class DocumentedService {
  readonly service: Harness;
  readonly document: Document;
  readonly ajv: Ajv2020;
  /** `GET /health 200` of every answer that was held. */
  readonly seen = new Set<string>();

  constructor(service: Harness, document: Document) {
    this.service = service;
    this.document = resolved(document);
    this.ajv = new Ajv2020({ strict: false, formats: FORMATS, allErrors: true });
    this.ajv.addSchema(this.document, 'https://document.example/');
  }

  static async of(service: Harness): Promise<DocumentedService> {
    return new DocumentedService(service, (await service.request('/openapi.json', { key: null })).json);
  }

  /** Every operation whose path begins with one of `prefixes`. */
  operations(...prefixes: string[]) {
    return Object.entries(this.document.paths)
      .filter(([path]) => prefixes.some((prefix) => path.startsWith(prefix)))
      .flatMap(([path, item]) =>
        METHODS.flatMap((verb) => {
          const method = verb.toUpperCase() as Method;
          return item[verb] ? [{ path, method, operation: item[verb] }] : [];
        }),
      );
  }

  /** Requests a path, filled in from its template, and holds the answer against the document. */
  async hold(method: Method, template: string, options: HoldOptions = {}): Promise<Answer> {
    const { id, query = '', ...rest } = options;
    const answer = await this.service.request(filledIn(template, id) + query, { ...rest, method });
    const status = String(answer.status);
    const response = this.document.paths[template]?.[method.toLowerCase() as 'get']?.responses[status];
    const label = `${method} ${template} ${status}`;
    assert.ok(response, `${label} is not documented`);
    if (response.content) this.#validate(method, template, status, answer.json);
    else assert.equal(answer.text, '', label);
    for (const [header, { required = true }] of Object.entries(response.headers ?? {}))
      if (required) assert.ok(answer.headers.get(header), `${label} ${header}`);
    if (answer.status >= 400 && answer.json.error)
      assert.ok(response.description.includes(answer.json.error.code), label);
    this.seen.add(label);
    return answer;
  }

  /** The errors of an operation that do not depend on what it is for: 400 `bad_request`, 414, 431. */
  async holdSyntaxErrors(method: Method, template: string): Promise<void> {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`x-${i}`, '1']));
    await this.hold(method, template, { headers: many });
    await this.hold(method, template, { headers: { 'x-long': 'x'.repeat(17_000) } });
    await this.hold(method, template, { query: `?${'x'.repeat(8192)}` });
    await this.#holdExpectation(method, template);
  }

  /** 400, by an Expect header, which fetch does not send. */
  async #holdExpectation(method: Method, template: string): Promise<void> {
    const [status, text] = await new Promise<[number, string]>((resolve, reject) => {
      request(
        this.service.origin + filledIn(template),
        { method, headers: { expect: 'nonsense' } },
        async (response) => resolve([response.statusCode!, (await response.toArray()).join('')]),
      )
        .on('error', reject)
        .end();
    });
    assert.equal(status, 400);
    this.#validate(method, template, '400', JSON.parse(text));
    this.seen.add(`${method} ${template} 400`);
  }

  #validate(method: Method, template: string, status: string, json: unknown): void {
    const parts = ['paths', template, method.toLowerCase(), 'responses', status];
    const pointer = [...parts, 'content', 'application/json', 'schema']
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const validate = this.ajv.getSchema(`https://document.example/#/${pointer}`);
    assert.ok(validate, pointer);
    assert.ok(validate(json), `${method} ${template} ${status}: ${JSON.stringify(validate.errors)}`);
  }

  /** What is documented of `operations` and was not seen. */
  unseen(...prefixes: string[]): string[] {
    return this.operations(...prefixes)
      .flatMap(({ path, method, operation }) =>
        Object.keys(operation.responses).map((status) => `${method} ${path} ${status}`),
      )
      .filter((one) => !this.seen.has(one));
  }
}
