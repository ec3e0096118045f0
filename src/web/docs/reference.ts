// The reference of the API as Markdown, written from its OpenAPI document: each operation and each field with an anchor.

/** JSON Schema, as far as the document uses it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  description?: string;
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
}
interface Parameter {
  name: string;
  in: string;
  description?: string;
  required?: boolean;
  schema: Schema;
}
interface Content {
  content?: Record<string, { schema: Schema }>;
}
interface Operation {
  summary: string;
  description: string;
  tags: string[];
  parameters?: { $ref: string }[];
  requestBody?: Content;
  responses: Record<string, { $ref?: string; description: string } & Content>;
}
export interface ApiDocument {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    responses: Record<string, { description: string }>;
  };
}

/** What administrators' programs call is no part of an integration. */
const IS_OURS = /^\/(v1|register|health)\b/;
const last = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);
/** `PaymentDetails` as the anchor of its section: `payment_details`. */
const anchorOf = (name: string) => name.replaceAll(/(?<!^)([A-Z])/g, '_$1').toLowerCase();
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

/** The anchor of an operation, such as `payments.create`: what its path is about and what it does there. */
function anchorOfOperation(method: string, path: string): string {
  const [, , ...rest] = path.startsWith('/v1/') ? path.split('/') : ['', '', ...path.slice(1).split('/')];
  const words = rest.filter((part) => !part.startsWith('{'));
  const isTest = words[0] === 'test';
  const [noun = '', verb] = isTest ? [`test_${words[1]}`, words[2]] : words;
  if (verb !== undefined) return `${noun}.${verb}`;
  const isOne = path === '/health' || rest.at(-1)!.startsWith('{');
  return `${noun}.${{ get: isOne ? 'read' : 'list', post: 'create', patch: 'change', delete: 'delete' }[method]}`;
}

class Reference {
  readonly #document: ApiDocument;
  /** Names of the objects that answers refer to, in the order in which they are met. */
  readonly #objects = new Set<string>();
  /** Codes that every operation has. */
  readonly #common: readonly string[];

  constructor(document: ApiDocument) {
    this.#document = document;
    const keyed = this.#operations().filter(({ path }) => path.startsWith('/v1/'));
    const each = keyed.map(({ operation }) => this.#codesOf(operation));
    this.#common = each[0]!.filter((code) => each.every((codes) => codes.includes(code)));
  }

  #operations() {
    return Object.entries(this.#document.paths)
      .filter(([path]) => IS_OURS.test(path))
      .flatMap(([path, item]) =>
        Object.entries(item)
          .filter(([method]) => method !== 'servers')
          .map(([method, operation]) => ({ method, path, operation })),
      );
  }

  #codesOf({ responses }: Operation): string[] {
    return Object.values(responses)
      .map(({ $ref, description }) =>
        $ref ? this.#document.components.responses[last($ref)]!.description : description,
      )
      .filter((text) => text.startsWith('`'))
      .flatMap((text) => [...text.matchAll(/`(\w+)`/g)].map(([, code]) => code!));
  }

  text(): string {
    const operations = this.#operations();
    const tags = this.#document.tags.toSorted((one, other) => rank(one.name) - rank(other.name));
    const groups = tags.map(({ name, description }) => {
      const own = operations.filter(({ operation }) => operation.tags[0] === name);
      return own.length === 0
        ? []
        : [`## ${name}`, description, ...own.flatMap((one) => this.#operation(one))];
    });
    const objects = [];
    for (const name of this.#objects) objects.push(...this.#object(name)); // it grows meanwhile
    return [
      '# API reference',
      'Every endpoint and field, written from what the service checks. `/openapi.json` says the same to programs (OpenAPI 3.1).',
      'Requests with a body and answers are JSON. A field of a request that is `null` counts as left out. Each endpoint under `/v1` wants the header `Authorization: Bearer <key>`.',
      `Any request under \`/v1\` may be answered with ${this.#common.map(errorLink).join(', ')}. Further codes stand at each endpoint.`,
      ...groups.flat(),
      '## Objects',
      'What answers are made of.',
      ...objects,
    ].join('\n\n');
  }

  #operation({ method, path, operation }: { method: string; path: string; operation: Operation }): string[] {
    const anchor = anchorOfOperation(method, path);
    const { summary, description, parameters = [], requestBody, responses } = operation;
    const given = parameters.map(({ $ref }) => this.#document.components.parameters[last($ref)]!);
    const body = requestBody?.content?.['application/json']?.schema;
    const rows = [
      ...given.map((one) => [
        `\`${one.name}\``,
        PLACES[one.in]!,
        this.#type(one.schema),
        one.description ?? '',
      ]),
      ...(body
        ? this.#fields(body, '').map(([name, type, meaning]) => [
            name!,
            'body',
            type!.replace(' or null', ''),
            meaning!,
          ])
        : []),
    ];
    const own = this.#codesOf(operation).filter((code) => !this.#common.includes(code));
    return [
      `### ${summary} {#${anchor}}`,
      `\`${method.toUpperCase()} ${path}\``,
      ...(description === `${summary}.` ? [] : [description]),
      ...(rows.length === 0 ? [] : [table(['Field', 'In', 'Type', 'What it is'], rows)]),
      ...Object.entries(responses)
        .filter(([status]) => /^[23]/.test(status))
        .map(([status, answer]) => this.#answer(status, answer)),
      ...(own.length === 0 ? [] : [`Errors: ${own.map(errorLink).join(', ')}.`]),
    ];
  }

  #answer(status: string, { content }: Content): string {
    const [type, schema] =
      Object.entries(content ?? {}).map(([name, one]) => [name, one.schema] as const)[0] ?? [];
    if (schema?.$ref === undefined)
      return `Answers \`${status}\`${type ? ` as \`${type}\`` : ' without a body'}.`;
    const { properties = {} } = this.#schema(schema);
    const members = Object.entries(properties).map(([name, one]) => `\`${name}\` (${this.#type(one)})`);
    return `Answers \`${status}\` with ${members.join(', ')}.`;
  }

  #object(name: string): string[] {
    const rows = this.#fields({ $ref: `/${name}` }, '');
    return [`### ${name} {#${anchorOf(name)}}`, table(['Field', 'Type', 'What it is'], rows)];
  }

  #schema(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : this.#document.components.schemas[last(schema.$ref)]!;
  }

  /** Rows of a schema's fields: name, type, meaning. Fields of objects without a name stand below them, as `customer.name`. */
  #fields(schema: Schema, prefix: string): string[][] {
    const { properties = {}, required = [] } = this.#schema(schema);
    return Object.entries(properties).flatMap(([name, one]) => {
      const inner = one.properties ? one : one.anyOf?.find((each) => each.properties);
      const must =
        prefix === '' && required.includes(name) && !('additionalProperties' in this.#schema(schema));
      const meaning = one.description ?? one.anyOf?.[0]?.description ?? '';
      const row = [`\`${prefix}${name}\``, this.#type(one) + (must ? ', **required**' : ''), meaning];
      return [row, ...(inner ? this.#fields(inner, `${prefix}${name}.`) : [])];
    });
  }

  #type(schema: Schema): string {
    if (schema.$ref !== undefined) {
      const name = last(schema.$ref);
      this.#objects.add(name);
      return `[${name}](#${anchorOf(name)})`;
    }
    if (schema.anyOf) return schema.anyOf.map((one) => this.#type(one)).join(' or ');
    if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
    if (schema.enum) return schema.enum.map((one) => `\`${one}\``).join(', ');
    const type = [schema.type ?? 'any'].flat().join(' or ');
    const { minimum, maximum, maxLength, items, format } = schema;
    if (type === 'array' && items) return `list of ${this.#type(items)}`;
    if (minimum !== undefined && maximum !== undefined) return `${type}, ${minimum} to ${maximum}`;
    const named = format === undefined ? type : type.replace('string', FORMATS[format] ?? format);
    return maxLength === undefined ? named : `${named}, at most ${maxLength} characters`;
  }
}

/** Payments first; what an integration needs least last. */
const FIRST = ['Payments', 'Events', 'Webhooks', 'API keys', 'Trying out', 'Registration', 'Health'];
const rank = (tag: string) => FIRST.indexOf(tag);

const PLACES: Record<string, string> = { path: 'path', query: 'query', header: 'header' };
const FORMATS: Record<string, string> = { 'date-time': 'moment', date: 'day', uri: 'address' };
const errorLink = (code: string) => `[\`${code}\`](errors.md#${code})`;

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The reference of what merchants' programs call. */
export function referenceText(document: ApiDocument): string {
  return new Reference(document).text();
}
