// Writes the types of packages/client from the endpoints' definitions: schemas, queries and routes of /v1, and what webhooks carry.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { v1Description } from '../src/operate/v1.ts';
import type { Schema } from '../src/web/docs/reference.ts';
import { openApiDocument } from '../src/web/openapi.ts';
import { sentDescription } from '../src/webhooks/present.ts';

const ROOT = join(import.meta.dirname, '..');

interface Operation {
  summary: string;
  operationId: string;
  parameters?: { $ref: string }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, { name: string; in: string; description?: string; schema: Schema }>;
  };
}

/** Names for lists of words that several schemas have, and where each is taken from. */
const WORDS = {
  PaymentStatus: ['Payment', 'status'],
  StatusReason: ['Payment', 'status_reason'],
  EventType: ['Event', 'type'],
  DeliveryStatus: ['Delivery', 'status'],
} as const;

const isInput = (name: string) => /Request$|Change$|^Tried|Query$/.test(name);
const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);
const queryName = ({ operationId: [first = '', ...rest] }: Operation) =>
  `${first.toUpperCase()}${rest.join('')}Query`;

/** The generated files of packages/client/src/ by their names. */
export function clientTypes(): Record<string, string> {
  // The endpoints close over what they are served with. None of it is called to describe them.
  const description = v1Description({} as Parameters<typeof v1Description>[0]);
  const site = { baseUrl: 'https://pay.example', contact: undefined, version: '1' };
  const document = openApiDocument(site, [description, sentDescription()]) as Document;
  const writer = new TypeWriter(document);
  const files = new ClientFiles();
  files.add('schemas.ts', 'What the JSON API gives', [
    ...[writer.words(), writer.schemas((name) => !isAnswer(name) && !isInput(name))],
  ]);
  files.add('requests.ts', 'What the JSON API takes', [writer.queries(), writer.schemas(isInput)]);
  files.add('routes.ts', 'The endpoints of the JSON API', [writer.routes(), writer.schemas(isAnswer)]);
  return files.texts;
}

/** Files of types, each of which imports from those before it what it names. */
class ClientFiles {
  readonly texts: Record<string, string> = {};
  readonly #names = new Map<string, string[]>();

  add(file: string, caption: string, parts: readonly string[]): void {
    const body = parts.join('\n');
    const imports = [...this.#names].toSorted().map(([from, names]) => {
      const named = names.filter((name) => new RegExp(`\\b${name}\\b`).test(body));
      return named.length > 0 ? `import type { ${named.join(', ')} } from './${from}';\n` : '';
    });
    const names = [...body.matchAll(/^(?:type|interface) (\w+)/gm)].map(([, name]) => name!).toSorted();
    this.#names.set(file, names);
    const head = `// ${caption}. Written by npm run docs from the definitions of its endpoints; change it there.\n`;
    this.texts[file] = formatted(`${head}${imports.join('')}\n${body}\nexport type { ${names.join(', ')} };`);
  }
}

/** A file's text as the formatter lays it out. */
function formatted(text: string): string {
  return execFileSync(join(ROOT, 'node_modules/.bin/biome'), ['format', '--stdin-file-path=types.ts'], {
    ...{ cwd: ROOT, input: text, encoding: 'utf8' },
  });
}

const isAnswer = (name: string) => /Answer$|List$/.test(name);

class TypeWriter {
  readonly #document: Document;
  readonly #words = new Map<string, string>();

  constructor(document: Document) {
    this.#document = document;
  }

  get #all() {
    return this.#document.components.schemas;
  }

  /** Names the lists of words, which schemas then refer to. */
  words(): string {
    const declared = Object.entries({ ...WORDS, ErrorCode: undefined }).map(([name, place]) => {
      const field = place ? this.#all[place[0]]!.properties![place[1]]! : this.#all.Error!.properties!.error!;
      const { enum: words } = place ? (field.anyOf?.[0] ?? field) : field.properties!.code!;
      this.#words.set(JSON.stringify(words), name);
      return `type ${name} = ${words!.map((word) => JSON.stringify(word)).join(' | ')};`;
    });
    return declared.join('\n');
  }

  /** The parameters of each endpoint that has some. */
  queries(): string {
    return this.#operations()
      .filter(({ query }) => query.length > 0)
      .map(({ operation, query }) => this.#query(queryName(operation), operation.summary, query))
      .join('\n');
  }

  /** What each endpoint takes and gives, by its method and path, and which POST heeds no `Idempotency-Key`. */
  routes(): string {
    const all = this.#operations();
    const rows = all.map(({ route, operation, query }) => {
      const body = operation.requestBody?.content['application/json'].schema;
      const answer = Object.entries(operation.responses).find(([status]) => status < '300')![1];
      const given = answer.content?.['application/json']?.schema;
      const typeOf = (schema: Schema | undefined) => (schema ? this.#type(schema, true) : 'undefined');
      const asked = query.length > 0 ? queryName(operation) : 'undefined';
      return `'${route}': { query: ${asked}; body: ${typeOf(body)}; answer: ${typeOf(given)} };`;
    });
    const unkeyed = all.filter(({ route, isKeyed }) => route.startsWith('POST') && !isKeyed);
    return `/** What each endpoint takes and gives. */
interface Routes {${rows.join('\n')}}

/** The endpoints that make something and heed no \`Idempotency-Key\`: a request whose answer is lost cannot be sent again. */
export const UNKEYED: ReadonlySet<string> = new Set<keyof Routes>([${unkeyed.map(({ route }) => `'${route}'`).join(', ')}]);
`;
  }

  #operations() {
    return Object.entries(this.#document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const parameters = (operation.parameters ?? []).map(
          ({ $ref }) => this.#document.components.parameters[nameOf($ref)]!,
        );
        const isKeyed = parameters.some(({ name }) => name === 'Idempotency-Key');
        const query = parameters.filter((one) => one.in === 'query');
        return { route: `${method.toUpperCase()} ${path}`, operation, query, isKeyed };
      }),
    );
  }

  #query(name: string, summary: string, parameters: Document['components']['parameters'][string][]): string {
    const fields = Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        name,
        { ...schema, ...(description && { description }) },
      ]),
    );
    return `${comment(`Parameters: ${summary}.`)}interface ${name} ${this.#object({ properties: fields }, true)}\n`;
  }

  /** The schemas whose names are wanted. */
  schemas(isWanted: (name: string) => boolean): string {
    return Object.entries(this.#all)
      .filter(([name]) => name !== 'Error' && isWanted(name))
      .map(([name, schema]) => this.#declared(name, schema))
      .join('\n');
  }

  /** An interface, which extends another that has most of its fields. */
  #declared(name: string, schema: Schema): string {
    const fields = schema.properties ?? {};
    const isPart = ([other, { properties = {} }]: [string, Schema]) =>
      other !== name &&
      Object.keys(properties).length > 8 &&
      Object.entries(properties).every(
        ([field, one]) => JSON.stringify(fields[field]) === JSON.stringify(one),
      );
    const above = Object.entries(this.#all).find(isPart);
    const own = Object.entries(fields).filter(([field]) => !above || !(field in above[1].properties!));
    const body = this.#object({ ...schema, properties: Object.fromEntries(own) }, isInput(name));
    return `${comment(schema.description)}interface ${name} ${above ? `extends ${above[0]} ` : ''}${body}\n`;
  }

  #object({ properties = {}, required = [], additionalProperties }: Schema, input: boolean): string {
    const fields = Object.entries(properties).map(([name, field]) => {
      const isOptional = !required.includes(name);
      const type = this.#type(field, input) + (isOptional && input ? ' | undefined' : '');
      return `${comment(field.description)}${name}${isOptional ? '?' : ''}: ${type};`;
    });
    const rest = typeof additionalProperties === 'object' ? ['[name: string]: unknown;'] : [];
    return `{\n${[...fields, ...rest].join('\n')}\n}`;
  }

  #type(schema: Schema, input: boolean): string {
    const { $ref, type, const: only, enum: words, anyOf, items, properties } = schema;
    if ($ref) return nameOf($ref);
    if (anyOf) return [...new Set(anyOf.map((one) => this.#type(one, input)))].join(' | ');
    if (only !== undefined) return JSON.stringify(only);
    if (words)
      return this.#words.get(JSON.stringify(words)) ?? words.map((word) => JSON.stringify(word)).join(' | ');
    if (Array.isArray(type))
      return type.map((one) => this.#type({ ...schema, type: one }, input)).join(' | ');
    if (items)
      return `${input ? 'readonly ' : ''}${this.#type(items, input).replace(/^(.* \| .*)$/, '($1)')}[]`;
    if (properties && Object.keys(properties).length > 0) return this.#object(schema, input);
    if (type === 'object') return 'Record<string, unknown>';
    return type === 'integer' ? 'number' : (type ?? 'unknown');
  }
}

/** A doc comment above what it is about, in lines of at most 120 characters; empty without a text. */
const comment = (text: string | undefined): string => {
  if (!text) return '';
  const lines = text.match(/.{1,114}(?:\s|$)/g)!.map((line) => line.trim());
  return lines.length === 1
    ? `/** ${text} */\n`
    : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
};
