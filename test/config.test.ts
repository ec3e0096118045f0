// The configuration: its page is true, its defaults hold, and every mistake is told in one line that names file, line and setting.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { configurationPage, EXAMPLE } from '../scripts/write-docs.ts';
import { VERSION } from '../src/lib/version.ts';
import {
  ConfigurationError,
  configurationFile,
  parseConfiguration,
  readConfiguration,
} from '../src/operate/config.ts';
import type { Environment } from '../src/operate/environment.ts';
import { KEY, LIVE_KEY, OTHER_KEY } from './support/harness.ts';
import { digestOf } from './support/keys.ts';

const FILE = '/etc/counterfoil.yaml';
const PRODUCTION = 'environment: production\nbase_url: https://pay.example\ntrust_proxy: [127.0.0.1]\n';
const DEVELOPMENT = 'environment: development\n';

const parse = (text: string, env: Environment = {}) => parseConfiguration(text, FILE, env);

/** What is said of a wrong text; fails the test when nothing is, or more than a line. */
function fault(text: string, env: Environment = {}): string {
  try {
    parse(text, env);
  } catch (error) {
    assert.ok(error instanceof ConfigurationError, String(error));
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  return assert.fail(`nothing is said of:\n${text}`);
}

/** A merchant with the given lines under its keys. */
function merchant(...keys: string[]): string {
  return `merchants:\n  - id: mer_one\n    name: One\n    keys:\n${keys.map((key) => `      - ${key}\n`).join('')}`;
}

test('docs/configuration.md is what npm run docs writes', () => {
  const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8');
  assert.equal(page, configurationPage(), 'run: npm run docs');
});

test('lists that nothing is left of are empty, and a key keeps its name', () => {
  const read = (text: string) => parseConfiguration(`environment: development\n${text}`, FILE, {});
  const bare = read('merchants:\nmethods:\n');
  assert.deepEqual([bare.merchants, bare.methods], [[], []]);
  assert.deepEqual(read('merchants:\n  - id: mer_a\n    name: A\n    keys:\n').merchants[0]!.keys, []);
  const [merchant] = read(
    `merchants:\n  - {id: mer_a, name: A, keys: [{key_sha256: ${'a'.repeat(64)}, name: Till}]}\n`,
  ).merchants;
  assert.equal(merchant!.keys[0]!.name, 'Till');
});

test('the complete example of the page parses', () => {
  const { merchants, base_url, port } = parse(EXAMPLE);
  assert.deepEqual([base_url, port], ['https://pay.example/api', 8080]);
  assert.deepEqual(
    merchants[0]!.keys.map(({ mode, expires_at }) => [mode, expires_at]),
    [
      ['live', Date.parse('2027-11-21T00:00:00Z')],
      ['test', null],
    ],
  );
});

test('an empty file is a production configuration that lacks its address', () => {
  const said =
    '/etc/counterfoil.yaml:1: base_url is missing: production, which is the default environment, needs an https URL';
  assert.equal(fault(''), said);
  assert.equal(fault('# nothing\n'), said);
});

const WRONG: [said: string, text: string][] = [
  ['1: port must be a number, not text', 'port: 80a'],
  ['1: port must be a number, not text (leave the quotes out)', 'port: "8080"'],
  ['1: port must be a whole number, not a fraction', 'port: 80.5'],
  ['1: port must be at least 1', 'port: 0'],
  ['1: port must be at most 65535', 'port: 65536'],
  ['1: port has no value: it must be a number', 'port:'],
  ['1: environment must be development or production, not "prod"', 'environment: prod'],
  ['1: host must be text, not a number (put it in quotes)', 'host: 5'],
  ['1: host must not be empty', 'host: ""'],
  ['1: storage must be text, not a list', 'storage: [a]'],
  ['1: payment_lifetime_s must be at least 300', 'payment_lifetime_s: 299'],
  ['1: payment_lifetime_s must be at most 15552000', 'payment_lifetime_s: 15552001'],
  ['1: log_level must be error, warn, info or debug, not "loud"', 'log_level: loud'],
  ['1: database_url must begin with postgres://', 'database_url: mysql://root:secret@db/x'],
  ['1: base_url must be an http or https URL, without a user name, ? or #', 'base_url: shop.example'],
  ['1: base_url must be an http or https URL, without a user name, ?', 'base_url: https://x.example?a=1'],
  ['1: base_url must be an http or https URL, without a user name, ?', 'base_url: https://u:p@x.example'],
  ...['/caf%C3%A9', '/café', '/a:b', '/a*b', '/a(b)', '/a//b', '/./a', '/a/..', '/%2e%2e', '/a;b'].map(
    (path): [string, string] => [
      '1: base_url must have a path of the characters A-Z a-z 0-9 . _ ~ - alone, without empty, . and .. segments',
      `base_url: https://x.example${path}`,
    ],
  ),
  ...['RF', '', ' INV-', '2026-', `${'x'.repeat(21)}`].map((prefix): [string, string] => [
    '1: statements.prefixes[0] must have 1 to 20 characters, a letter among them and no white space at its ends; not RF, with which transfer references begin',
    `statements: {prefixes: ["${prefix}"]}`,
  ]),
  ['1: statements.prefixes must be a list, not text', 'statements: {prefixes: INV-}'],
  ['1: prot is not a setting; did you mean port?', 'prot: 8080'],
  ['1: Base-URL is not a setting; did you mean base_url?', 'Base-URL: https://x.example'],
  [`1: xxlarge is not a setting of version ${VERSION} (docs/configuration.md lists them`, 'xxlarge: true'],
  [`1: __proto__ is not a setting of version ${VERSION} (docs/configuration.md lists them`, '__proto__: 1'],
  ['3: merchants[0].kyes is not a setting; did', 'merchants:\n  - {id: mer_a, name: A,\n     kyes: []}'],
  ['1: merchants must be a list, not text', 'merchants: none'],
  ['2: merchants[0] must be a group of `name: value` lines, not text', 'merchants:\n  - Corner Shop'],
  ['2: merchants[0].id is missing', 'merchants:\n  - name: A'],
  ['3: merchants[0].id must be mer_ and up to 40 of 0-9, a-z and _', 'merchants:\n  - name: A\n    id: A'],
  ['2: merchants[0].name is missing', 'merchants:\n  - id: mer_a'],
  ['3: merchants[0].name must be text, not a number (put it in', 'merchants:\n  - id: mer_a\n    name: 7'],
  ['3: merchants[0].name must be at most 120', `merchants:\n  - id: mer_a\n    name: ${'x'.repeat(121)}`],
  ['1: must hold settings, one `name: value` on each line', '- a'],
  ['1: must hold settings, one `name: value` on each line', 'just text'],
  ['1: not YAML: two colons in one line; put the value in quotes', 'a: b: c'],
  ['2: not YAML: indent with spaces, not tabs', 'merchants:\n\t- id: mer_a'],
  ['2: port is set twice', 'port: 1\nport: 2'],
  ['3: a second YAML document begins here; the file must be one', '---\nport: 1\n---\nport: 2'],
  ['1: uses a YAML alias (*name) that leads nowhere', 'port: *x'],
];

describe('a wrong file is told in one line', () => {
  for (const [said, text] of WRONG) {
    test(`${JSON.stringify(text.slice(0, 60))}: ${said}`, () =>
      assert.ok(fault(text).startsWith(`${FILE}:${said}`), fault(text)));
  }
});

test('an address that no browser could reach is refused', () => {
  for (const host of '1 0x7f000001 127.1 127.0.0.01 1.2.3.4. -a.example a-.example a.-b'.split(' ')) {
    assert.match(fault(`base_url: https://${host}/`), /:1: base_url must be an http or https URL/, host);
  }
  for (const host of [
    '127.0.0.1:80',
    '10.0.0.1',
    '[::1]:80',
    'a-b.example',
    'xn--bcher-kva.example',
    'bücher.example',
  ])
    assert.equal(parse(`${DEVELOPMENT}base_url: http://${host}`).base_url, `http://${host}`);
});

describe('a wrong key is told in one line', () => {
  const wrong: [said: string, text: string][] = [
    ['6: merchants[0].keys[0].key must be a whole key as', merchant(`key: ${OTHER_KEY.slice(0, -1)}`)],
    ['6: merchants[0].keys[0].key_sha256 must be 64 lower-case hexadecimal', merchant('key_sha256: abc')],
    ['6: merchants[0].keys[0] must have either key_sha256 or key, one of the two', merchant('mode: test')],
    ['6: merchants[0].keys[0] must be a group of `name: value` lines, not text', merchant(OTHER_KEY)],
    ['6: merchants[0].keys[0].mode must be live or test,', merchant(`{ key: ${OTHER_KEY}, mode: real }`)],
    ['7: merchants[0].keys[1].key is the same key as', merchant(`key: ${OTHER_KEY}`, `key: ${OTHER_KEY}`)],
  ];
  for (const moment of ['2027-01-31', '2027-01-31T00:00:00', '2027-13-31T00:00:00Z', 'tomorrow']) {
    wrong.push([
      '6: merchants[0].keys[0].expires_at must be a moment with an offset, such as 2027-01-31T00:00:00+00:00',
      merchant(`{ key: ${OTHER_KEY}, expires_at: ${moment.includes(':') ? `"${moment}"` : moment} }`),
    ]);
  }
  for (const [said, text] of wrong)
    test(said, () => assert.ok(fault(DEVELOPMENT + text).startsWith(`${FILE}:${said}`)));
});

test('a value that may be a secret is never repeated', () => {
  for (const text of [
    `database_url: mysql://root:${OTHER_KEY}@db/x`,
    DEVELOPMENT + merchant(`key: ${OTHER_KEY}x`),
    DEVELOPMENT + merchant(OTHER_KEY),
    DEVELOPMENT + merchant(`key: ${OTHER_KEY}`, `key: ${OTHER_KEY}`),
  ]) {
    assert.doesNotMatch(fault(text), new RegExp(OTHER_KEY));
  }
});

test('two merchants with one id, or one key between them, are refused', () => {
  const second = (id: string, key: string) => `  - id: ${id}\n    name: Two\n    keys:\n      - ${key}\n`;
  const first = DEVELOPMENT + merchant(`key: ${OTHER_KEY}`);
  assert.match(fault(first + second('mer_one', `key: ${LIVE_KEY}`)), /:7: merchants\[1\]\.id is used twice$/);
  assert.match(
    fault(first + second('mer_two', `key_sha256: ${digestOf(OTHER_KEY)}`)),
    /:10: merchants\[1\]\.keys\[0\]\.key_sha256 is the same key as merchants\[0\]\.keys\[0\]\.key: /,
  );
});

const https =
  'must be an https URL in production: write the one that the proxy answers at, or the service itself with tls';

test('production refuses plain keys, the development key in any form, and addresses without https', () => {
  const plain = 'is a plain key, which only development allows: put its SHA-256 under key_sha256';
  const known =
    'is the development key, which everybody knows: make another with `counterfoil keys create` and remove this one';
  const at = `${FILE}:8: merchants[0].keys[0]`;
  assert.equal(fault(PRODUCTION + merchant(`key: ${LIVE_KEY}`)), `${at}.key ${plain}`);
  assert.equal(fault(PRODUCTION + merchant(`key: ${KEY}`)), `${at}.key ${known}`);
  const digest = digestOf(KEY);
  assert.equal(fault(PRODUCTION + merchant(`key_sha256: ${digest}`)), `${at}.key_sha256 ${known}`);
  assert.equal(
    fault('environment: production\nbase_url: http://pay.example'),
    `${FILE}:2: base_url ${https}`,
  );
  assert.equal(
    fault(`${PRODUCTION}checkout_base_url: http://pay.example`),
    `${FILE}:4: checkout_base_url ${https}`,
  );
  assert.equal(
    fault('environment: production\nbase_url: https://pay.example'),
    `${FILE}:1: trust_proxy is missing: list the address of the proxy that speaks https, 127.0.0.1 where it runs on this machine; or set tls, to speak https without one`,
  );
  assert.equal(parse(PRODUCTION).checkout_base_url, null, 'base_url serves for checkout too');
});

test('production trusts no network that strangers are in', () => {
  const trusting = (networks: string) => PRODUCTION.replace('[127.0.0.1]', `[127.0.0.1, "${networks}"]`);
  for (const wide of ['0.0.0.0/1', '128.0.0.0/7', '::/1', '::/8', '2000::/3', '::ffff:0:0/96'])
    assert.equal(
      fault(trusting(wide)),
      `${FILE}:3: trust_proxy[1] is so large that strangers are in it, who could claim any address: name the proxies alone`,
    );
  for (const own of ['10.0.0.0/8', 'fc00::/7', '2001:db8::/32', '::1', '::ffff:10.0.0.0/104'])
    assert.equal(parse(trusting(own)).trust_proxy[1], own);
});

test('production reaches the console and /admin by https alone, wherever they are', () => {
  assert.equal(
    fault(`${PRODUCTION}console: { base_url: http://ops.example }`),
    `${FILE}:4: console.base_url ${https}`,
  );
  assert.equal(
    fault(`${PRODUCTION}admin: { port: 9000 }`),
    `${FILE}:4: admin needs a base_url in production: the https URL that the proxy passes on to its port`,
  );
  assert.equal(parse(`${PRODUCTION}admin: { port: 9000, base_url: https://ops.example }`).admin.port, 9000);
});

test('in development every key makes test payments, in production each as it says', () => {
  const keys = merchant(
    `{ key_sha256: ${digestOf(LIVE_KEY)}, mode: live }`,
    `key_sha256: ${digestOf(OTHER_KEY)}`,
  );
  const modes = (text: string) => parse(text).merchants[0]!.keys.map(({ mode }) => mode);
  assert.deepEqual(modes(DEVELOPMENT + keys), ['test', 'test']);
  assert.deepEqual(modes(PRODUCTION + keys), ['live', 'test']);
});

test('a base URL loses the slashes at its end and keeps its path', () => {
  assert.equal(
    parse(`${DEVELOPMENT}base_url: https://pay.example/api//`).base_url,
    'https://pay.example/api',
  );
  assert.equal(parse(`${DEVELOPMENT}base_url: HTTPS://pay.example/`).base_url, 'HTTPS://pay.example');
  const unusual = 'https://pay.example:8443/~shop/v1.2/...a_b-C';
  assert.equal(parse(`${DEVELOPMENT}checkout_base_url: ${unusual}`).checkout_base_url, unusual);
});

test('the environment goes over the file', () => {
  const text = `${DEVELOPMENT}port: 1000\nstorage: ./from-file\ndatabase_url: postgres://from-file/x\n`;
  const { port, portIsFixed, storage, database_url } = parse(text, {
    PORT: '2000',
    COUNTERFOIL_STORAGE: '/from/environment',
    DATABASE_URL: 'postgresql://from-environment/x',
  });
  assert.deepEqual(
    { port, portIsFixed, storage, database_url },
    {
      port: 2000,
      portIsFixed: true,
      storage: '/from/environment',
      database_url: 'postgresql://from-environment/x',
    },
  );
  const unset = parse(text, { PORT: '', COUNTERFOIL_STORAGE: '', DATABASE_URL: '' });
  assert.deepEqual([unset.port, unset.portIsFixed, unset.storage], [1000, false, '/etc/from-file']);
  assert.equal(parse(DEVELOPMENT, { COUNTERFOIL_STORAGE: 'here' }).storage, join(process.cwd(), 'here'));
});

test('two nodes on one machine share a file: the environment gives each its ports', () => {
  const text = `${DEVELOPMENT}metrics: {host: 127.0.0.2, port: 9000}\nconsole: {port: 9001}\n`;
  const ports = { PORT: '1', METRICS_PORT: '2', CONSOLE_PORT: '3', ADMIN_PORT: '4' };
  const { port, metrics, console, admin } = parse(text, ports);
  assert.deepEqual([port, metrics, console.port, admin.port], [1, { host: '127.0.0.2', port: 2 }, 3, 4]);
  const unset = parse(text, { METRICS_PORT: '', CONSOLE_PORT: '', ADMIN_PORT: '' });
  assert.deepEqual([unset.metrics?.port, unset.console.port, unset.admin.port], [9000, 9001, undefined]);
  assert.deepEqual(parse(DEVELOPMENT, ports).metrics, { host: '127.0.0.1', port: 2 });
  const hosts = { LISTEN_HOST: '::1', METRICS_HOST: '::2', CONSOLE_HOST: '::3', ADMIN_HOST: '::4' };
  const listening = parse(text, hosts);
  assert.deepEqual([listening.host, listening.metrics], ['::1', { host: '::2', port: 9000 }]);
  assert.deepEqual([listening.console, listening.admin], [{ host: '::3', port: 9001 }, { host: '::4' }]);
  assert.equal(parse(text, { LISTEN_HOST: '', ...{ HOST: '::5' } }).host, '127.0.0.1');
});

test('a wrong environment variable is named', () => {
  for (const PORT of ['abc', '70000', '-1', '80.5', '0x50', ' 80']) {
    const said = `PORT must be a port number, 0 to 65535, not ${JSON.stringify(PORT)}`;
    assert.equal(fault(DEVELOPMENT, { PORT }), said);
    for (const name of ['METRICS_PORT', 'CONSOLE_PORT', 'ADMIN_PORT'])
      assert.equal(
        fault(DEVELOPMENT, { [name]: PORT }),
        `${name} must be a port number, 1 to 65535, not ${JSON.stringify(PORT)}`,
      );
  }
  const said = fault(DEVELOPMENT, { DATABASE_URL: 'sqlite:secret' });
  assert.equal(said, 'DATABASE_URL in the environment must begin with postgres://');
});

test('the file is the one of --config, then of COUNTERFOIL_CONFIG, then counterfoil.yaml here', () => {
  const env = { COUNTERFOIL_CONFIG: '/from/environment.yaml' };
  assert.equal(configurationFile('/from/option.yaml', env), '/from/option.yaml');
  assert.equal(configurationFile(undefined, env), '/from/environment.yaml');
  assert.equal(
    configurationFile(undefined, { COUNTERFOIL_CONFIG: '' }),
    join(process.cwd(), 'counterfoil.yaml'),
  );
});

describe('a file that cannot be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-test-'));
  after(() => rmSync(folder, { recursive: true }));
  const said = (file: string) => {
    try {
      readConfiguration(file, {});
    } catch (error) {
      return (error as Error).message.replace(folder, '…');
    }
    return assert.fail('it was read');
  };

  test('says that it is not there and how to name another', () => {
    const problem =
      'does not exist; name the configuration with --config or COUNTERFOIL_CONFIG, or write one with counterfoil init';
    assert.equal(said(join(folder, 'none.yaml')), `…/none.yaml: ${problem}`);
  });

  test('says that it is a folder', () => {
    assert.equal(said(folder), '…: is a folder; name the file in it');
  });

  test('says that it is not text', () => {
    writeFileSync(join(folder, 'bytes.yaml'), Buffer.from([0xff, 0xfe, 0x00]));
    assert.equal(said(join(folder, 'bytes.yaml')), '…/bytes.yaml: is not UTF-8 text');
  });
});

test('a misspelt name is told before the right one, which it leaves missing', () => {
  const text = `${DEVELOPMENT}methods:
  - type: bank_transfer
    accounts:
      - currency: EUR
        hodler: Shop
        iban: DE89370400440532013000
`;
  assert.match(fault(text), /hodler is not a setting; did you mean holder\?$/);
});
