// Makes one OpenAPI 3.1 document of what the surfaces describe: each noun and each part that comes twice stands once, and is referred to.
import { errorSchema } from './errors.ts';
import { type Description, jsonSchema } from './openapi.ts';

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

/** Parts of operations by the names that they have in the document: what is the same stands once. */
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
