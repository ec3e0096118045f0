// Writes what is made from the program: pages of settings, commands and matching, lists in docs/, and the types of packages/client.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { z } from 'zod';
import { commandLine } from '../src/operate/commands/counterfoil.ts';
import { ROUTINE_ACTS } from '../src/operate/rooms.ts';
import { configurationSchema } from '../src/operate/settings/settings.ts';
import { clientTypes } from './client-types.ts';
import { matchingPage } from './matching-page.ts';

const root = new URL('../', import.meta.url);

/** A setting as JSON Schema tells it. */
interface Property {
  type?: string | string[];
  check?: string;
  enum?: string[];
  anyOf?: Property[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  description?: string;
  items?: Property;
  properties?: Record<string, Property>;
  required?: string[];
}

/** A complete configuration for production, with every setting; a test parses it. */
export const EXAMPLE = `environment: production
host: 127.0.0.1
port: 8080
base_url: https://pay.example/api
checkout_base_url: https://pay.example
storage: /var/lib/counterfoil
database_url: postgres://counterfoil@db.internal/counterfoil
payment_lifetime_s: 604800
time_zone: Europe/Zurich
calendar: CH
pay_by_grace_days: 3
checkout_forms_per_payment: 30
checkout_forms_per_address: 300
registration:
  mode: invite
  contact: payments@shop.example
  per_address: 5
rate_limits:
  enabled: true
  writes_per_second: 50
  reads_per_second: 200
  refused_keys_per_minute: 20
console:
  base_url: https://review.shop.example
  host: 127.0.0.1
  port: 8081
admin:
  base_url: https://review.shop.example
  host: 127.0.0.1
  port: 8081
metrics:
  host: 127.0.0.1
  port: 9464
# Where no proxy speaks https:
# tls:
#   certificate: ./tls/fullchain.pem
#   key: ./tls/privkey.pem
mail:
  host: smtp.shop.example
  port: 587
  tls: starttls
  user: counterfoil
  password_file: ./mail-password
  from: payments@shop.example
security:
  contact: security@shop.example
  policy: https://shop.example/security
  languages: [en, de]
nodes: 1
secrets_key_file: /run/secrets/counterfoil_keys
backups: ./backups
allow_root: false
review:
  four_eyes_above:
    EUR: 1000
    CHF: 1000
trust_proxy: [10.0.0.0/8]
statements:
  keep_days: 400
  prefixes: [INV-]
webhooks:
  allowed_networks: [10.1.0.0/16]
  ports: [8443]
  proxy: http://10.0.0.3:4750
log_level: info
log_addresses: network

methods:
  - type: bank_transfer
    accounts:
      - currency: EUR
        holder: Corner Shop GmbH
        iban: DE75 5121 0800 1245 1261 99
        bic: SOGEDEFFXXX
      - currency: CHF
        holder: Corner Shop AG
        iban: CH93 0076 2011 6238 5295 7
        address:
          street: Bahnhofstrasse
          building: "1"
          postal_code: "8001"
          city: Zürich
          country: CH
      - currency: INR
        holder: Corner Shop Pvt Ltd
        upi_id: cornershop@okaxis
      - currency: BRL
        holder: Corner Shop Ltda
        pix_key: 123e4567-e12b-42d1-a456-426655440000
        city: Brasilia
      - currency: USD
        holder: Corner Shop Inc.
        rows:
          - label: Account number
            value: "000123456789"
          - label: Routing number
            value: "021000021"
  - id: cash
    type: manual
    name: Cash on delivery
    instructions: |
      Pay the courier when the parcel arrives.
    currencies: [EUR, CHF]
  - type: details
  - type: test_card

merchants:
  - id: mer_corner_shop
    name: Corner Shop
    website: https://corner.example
    support: help@corner.example
    email: owner@corner.example
    legal_name: Corner Shop GmbH
    address: |
      Bahnhofstrasse 1
      8001 Zürich
    tax_id: CHE-123.456.789 MWST
    letters_off: [needs_attention]
    remind_days: 2
    methods: [bank_transfer, cash, test_card]
    webhooks:
      - id: shop
        url: https://corner.example/hooks/payments
        mode: live
        types: [payment.approved, payment.rejected]
    rate_limits:
      writes_per_second: 100
      reads_per_second: 400
    keys:
      # Written by: counterfoil keys create --merchant mer_corner_shop --live --expires 365d
      - key_sha256: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
        mode: live
        expires_at: 2027-11-21T00:00:00+00:00
      # A second key for trying things out beside the first
      - key_sha256: fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9
        mode: test
`;

function typeOf(property: Property): string {
  if (property.enum) return 'choice';
  const type = property.anyOf?.find((one) => one.type !== 'null')?.type ?? [property.type].flat()[0]!;
  return { array: 'list', integer: 'whole number', string: 'text', object: 'group' }[`${type}`] ?? `${type}`;
}

function checkOf(property: Property): string {
  if (property.enum) return property.enum.map((value) => `\`${value}\``).join(', ');
  if (property.maximum !== undefined) return `${property.minimum} to ${property.maximum}`;
  return property.check ?? (property.properties ? '' : 'see below');
}

function defaultOf(property: Property, required: boolean): string {
  if (property.default === undefined) return required ? 'required' : '–';
  if (property.default === null) return '–';
  if (property.properties) return '–';
  const written = typeof property.default === 'object' ? JSON.stringify(property.default) : property.default;
  return `\`${written}\``;
}

function table(group: Property, withEnvironment: boolean): string {
  const holder = group.properties ? group : group.anyOf!.find((one) => one.properties)!;
  const head = withEnvironment
    ? '| Setting | What it is | Type | Check | Default | Environment |\n|---|---|---|---|---|---|'
    : '| Setting | What it is | Type | Check | Default |\n|---|---|---|---|---|';
  const rows = Object.entries(holder.properties!).map(([name, property]) => {
    const [, meaning, variable] = /^(.*?)(?: Environment: (`\w+`)\.)?$/s.exec(property.description!)!;
    const required = holder.required?.includes(name) ?? false;
    const cells = [
      `\`${name}\``,
      meaning,
      typeOf(property),
      checkOf(property),
      defaultOf(property, required),
    ];
    return `| ${[...cells, ...(withEnvironment ? [variable ?? ''] : [])].join(' | ')} |`;
  });
  return [head, ...rows].join('\n');
}

/** The text of docs/configuration.md. */
export function configurationPage(): string {
  const schema = z.toJSONSchema(configurationSchema, { io: 'input', unrepresentable: 'any' }) as Property;
  const merchant = schema.properties!.merchants!.items!;
  const key = merchant.properties!.keys!.items!;
  const method = schema.properties!.methods!.items!;
  const account = method.properties!.accounts!.items!;
  return `# Configuration

<!-- Written by npm run docs from src/settings/; change it there. -->

One YAML file holds every setting. It is the one named by \`--config\`, else by the environment's \`COUNTERFOIL_CONFIG\`,
else \`counterfoil.yaml\` in the current folder. Every setting has a default but those marked required; an empty file is a
production configuration that lacks its \`base_url\`.

What is wrong with a file is told in one line, with the file, the line and the setting, and the exit code is 78:

    counterfoil: counterfoil.yaml:3: prot is not a setting; did you mean port?

## Settings

${table(schema, true)}

The environment goes over the file; a variable that is empty counts as unset. \`PORT=0\` takes any free port. With \`PORT\` set,
a port that is taken is an error; without it, a server in development takes the next free one and says so. \`LISTEN_HOST\` goes over \`host\`,
and \`CONSOLE_HOST\`, \`CONSOLE_PORT\`, \`ADMIN_HOST\`, \`ADMIN_PORT\`, \`METRICS_HOST\` and \`METRICS_PORT\` go over \`host\` and \`port\` of \`console\`, \`admin\` and
\`metrics\`, so that two nodes of one machine share one file, each with a \`COUNTERFOIL_STORAGE\` of its own. Base URLs are where a proxy is reached, the same for both. A relative
\`storage\` is taken from the configuration file's folder, a relative \`COUNTERFOIL_STORAGE\` from the current one.

Base URLs may carry a path (\`https://shop.example/pay\`). In production they must be https.

## review

${table(schema.properties!.review!, false)}

An approval above the amount is recorded, and the payment stays under review until another administrator confirms it. In a currency
that is not listed one is enough.

## registration

${table(schema.properties!.registration!, false)}

Where it is \`closed\`, /register says so, and the operator adds merchants. What registers has a test key, unless its invitation says
otherwise: live keys are made by \`counterfoil keys create --live\`.

## rate_limits

${table(schema.properties!.rate_limits!, false)}

Every answer under /v1 then says in \`RateLimit\` and \`RateLimit-Policy\` what is left, and one too many is 429 with \`Retry-After\`:
[limits.md](limits.md).

## console, admin

${table(schema.properties!.console!, false)}

The pages lie at \`/console\` and the endpoints at \`/admin\` below the address, wherever it is. With a port or host to listen on, they are
there and nowhere else, with \`/health\` and \`/health/ready\` and nothing besides. With the host name of a \`base_url\` alone they share the port:
that name finds them and nothing else, any other name does not find them. The name is that of \`Host\`, or of \`X-Forwarded-Host\` from
\`trust_proxy\`. In production a port of its own needs a \`base_url\` too, unless \`tls\` is set.

## metrics

${table(schema.properties!.metrics!, false)}

## statements

${table(schema.properties!.statements!, false)}

## webhooks

${table(schema.properties!.webhooks!, false)}

## mail

${table(schema.properties!.mail!, false)}

How letters arrive, come back and are sent again: [mail.md](mail.md).

## security

Where somebody who finds a weakness reads whom to tell: \`/.well-known/security.txt\` of the API's, the console's and the administrators' host name.
It ends half a year after the day it is read.

${table(schema.properties!.security!, false)}

## tls

${table(schema.properties!.tls!, false)}

TLS 1.2 and 1.3 are spoken, nothing older, with suites that have forward secrecy. On SIGHUP both files are read again: new connections
are shown the new certificate, open ones go on, and one that cannot be used changes nothing but the log. A certificate that has
expired, or is not that of the key, keeps the service from starting.

## merchants

${table(merchant, false)}

No two merchants may have the same id.

## merchants[].keys

${table(key, false)}

Each key has either \`key_sha256\` or \`key\`. \`counterfoil keys create\` makes a key, shows it once and adds its digest here,
comments and all else left as they are. No key may stand in the file twice. A plain \`key\`, and the development key in any form,
are refused in production. In development every key makes test payments, whatever its mode.

## merchants[].webhooks

${table(merchant.properties!.webhooks!.items!, false)}

The store takes these over at a start and on SIGHUP, and makes the secret: the merchant gets it by \`rotate_secret\`. A merchant can disable and
enable such an endpoint, and cannot change or delete it. One that leaves the file is disabled, and goes on where it stopped when it comes back. In development every
endpoint gets the events of test payments, whatever its mode ([webhooks](integrate/webhooks.md)).

## merchants[].rate_limits

${table(merchant.properties!.rate_limits!, false)}

## methods

${table(method, false)}

A customer is offered the methods that fit the payment, in this order, the first one opened. \`test_card\` is offered for test
payments alone and takes the test numbers alone: no setting makes Counterfoil take real cards. Where no method fits, the customer
is asked for contact details, as by \`details\`.

## methods[].accounts

${table(account, false)}

Each transfer has a reference of its own, an ISO 11649 creditor reference (RF…) or, with a Swiss QR-IBAN, a QR reference. The account
shows as a QR code where there is one for its currency: EPC069-12 for EUR, the Swiss QR-bill for CHF, UPI for INR, PIX for BRL.

## methods[].accounts[].rows

${table(account.properties!.rows!.items!, false)}

## methods[].accounts[].address

${table(account.properties!.address!, false)}

## SIGHUP

The server reads \`merchants\`, their \`webhooks\` and \`methods\` again on SIGHUP. A file that is wrong by then changes nothing: the log says what is
wrong, and all stays as it was. All other settings are read at the start only. Customers who have sent their form go on seeing the
account they were shown.

## A complete example

\`\`\`yaml
${EXAMPLE}\`\`\`

Keep the file readable by the service's account alone (\`chmod 600\`), or production does not start: \`database_url\` may hold a password.
What else production refuses: [doctor.md](doctor.md). \`counterfoil init\` writes such a file.
`;
}

/** Each decision's title as a link from docs/. */
function decisions(): string {
  const files = globSync('docs/decisions/*.md', { cwd: fileURLToPath(root) }).sort();
  const titleOf = (file: string) => /^# (.+)\n/.exec(readFileSync(new URL(file, root), 'utf8'))?.[1];
  return files.map((file) => `- [${titleOf(file)}](decisions/${basename(file)})`).join('\n');
}

/** `page` with `text` between the comments that open with `name` and end it. Throws if they are not there. */
function between(page: string, name: string, text: string): string {
  const parts = new RegExp(`^([^]*<!-- ${name}: [^>]*-->\\n)[^]*(<!-- end of ${name} -->[^]*)$`).exec(page);
  if (!parts) throw new Error(`A page lacks its comments for "${name}".`);
  return `${parts[1]}${text}\n${parts[2]}`;
}

/** docs/README.md with the decisions that are there now. */
export const indexPage = (page: string) => between(page, 'decisions', decisions());

const LEAST_ROLE = { read: 'auditor', decide: 'reviewer', administer: 'administrator' };

/** The routine acts as a table: who may do each, and where it is found. */
function actsTable(): string {
  const rows = ROUTINE_ACTS.flatMap(({ thing, page, command, admin, acts }) =>
    acts.map(({ name, may, endpoint, command: { description } }) => [
      thing,
      description,
      LEAST_ROLE[may],
      `\`/console${page.replace(/:\w+/, '…')}/${name}\``,
      `\`${command} ${name}\``,
      endpoint ? `\`POST ${admin!.replace(/\{\w+\}/, '{id}')}/${name}\`` : '',
    ]),
  );
  return [
    '| To what | What it does | Least role | Page | Command | Request |',
    '|---|---|---|---|---|---|',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}

/** docs/reviewing.md with its table of acts as the program has them. */
export const reviewingPage = (page: string) => between(page, 'acts', actsTable());

/** Where more is written about a command and those below it. */
const MORE: Readonly<Record<string, string>> = {
  'accept-clock': '[when](operating/runbook.md#the-clock-was-stepped)',
  'administrators token': '[more](admin-api.md)',
  'audit acknowledge': '[when](operating/runbook.md#audit-verify-is-red)',
  'audit export': '[more](audit.md)',
  'audit restored': '[when](operating/runbook.md#restored-to-yesterday)',
  backup: '[how](operating/backup-and-move.md#back-up-and-restore)',
  doctor: '[more](doctor.md)',
  erase: '[more](erasure.md)',
  export: '[more](export.md)',
  invites: '[more](registration.md)',
  keys: '[more](keys.md)',
  listen: '[how](integrate/events.md#on-your-own-machine)',
  mail: '[more](mail.md)',
  move: '[how](operating/backup-and-move.md#move-up-to-postgresql-and-back)',
  requests: '[more](logging.md)',
  'secrets backup': '[how](operating/backup-and-move.md#the-keys)',
  'secrets lost': '[when](operating/runbook.md#a-key-is-lost)',
  'secrets rotate': '[how](operating/upgrade.md#rotate)',
  statements: '[more](statements.md)',
  webhooks: '[more](integrate/webhooks.md)',
};

/** A row for each command below one, as `--help` tells of it. */
function commandRows(above: Command, path = '', more?: string): string[] {
  return above.commands.flatMap((command) => {
    const name = `${path}${command.name()}`;
    const link = MORE[name] ?? more;
    if (command.commands.length > 0) return commandRows(command, `${name} `, link);
    const usage = `${name} ${command.usage()}`.replace(' [options]', '').trim();
    return `| \`${usage}\` | ${command.description()}${link ? ` (${link})` : ''} |`;
  });
}

/** docs/commands.md with the commands that there are. */
export const commandsPage = async (page: string) =>
  between(
    page,
    'commands',
    ['| Command | What it does |', '|---|---|', ...commandRows(await commandLine())].join('\n'),
  );

if (import.meta.main) {
  const reviewing = new URL('docs/reviewing.md', root);
  writeFileSync(reviewing, reviewingPage(readFileSync(reviewing, 'utf8')));
  writeFileSync(new URL('docs/configuration.md', root), configurationPage());
  writeFileSync(new URL('docs/matching.md', root), matchingPage());
  for (const [file, text] of Object.entries(clientTypes()))
    writeFileSync(new URL(`packages/client/src/${file}`, root), text);
  const commands = new URL('docs/commands.md', root);
  writeFileSync(commands, await commandsPage(readFileSync(commands, 'utf8')));
  const index = new URL('docs/README.md', root);
  writeFileSync(index, indexPage(readFileSync(index, 'utf8')));
}
