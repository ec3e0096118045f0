// counterfoil init: writes a production configuration, each setting with a comment, where nothing is lost, and looks whether it may start.
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import { randomId } from '../../lib/ids.ts';
import { newSecret } from '../../lib/secrets.ts';
import { KEY_PREFIX, keyDigest } from '../../merchants/merchant.ts';
import { lineOf } from '../checks/check.ts';
import { CHECKS, type Finding } from '../checks/checks.ts';
import { ConfigurationError, configurationFile, parseConfiguration, readConfiguration } from '../config.ts';
import { environment } from '../environment.ts';
import { inspect } from './doctor.ts';
import type { StoreOptions } from './store.ts';
import { Failure, shownPath } from './terminal.ts';
import { newCommand, parseEmail } from './usage.ts';

/** The checks that a new file can fail. No service runs yet, and the user is seldom the account that serves. */
const CHECKED = CHECKS.filter(
  ({ id, stage }) => (stage !== 'later' && id !== 'root') || id === 'certificate_file',
);

interface InitOptions extends StoreOptions {
  baseUrl: string;
  proxy: string;
  certificate?: string;
  key?: string;
  databaseUrl?: string;
  storage?: string;
  registration: 'open' | 'invite' | 'closed';
  merchant?: string;
  support?: string;
  iban?: string;
  holder?: string;
  currency?: string;
  administrator?: string;
  allowRoot?: boolean;
  force?: boolean;
}

/** Flags that say more about another, and have no use without it. */
const NEEDS = [
  ['key', 'certificate'],
  ['certificate', 'key'],
  ['support', 'merchant'],
  ['holder', 'iban'],
  ['iban', 'holder'],
  ['currency', 'iban'],
] as const;

export function command(): Command {
  return newCommand('init', 'write a configuration for production, with a comment on each setting', [
    'init --base-url https://pay.example',
    `init --config /etc/counterfoil/counterfoil.yaml --base-url https://pay.example \\
    --merchant "Corner Shop" --iban "DE75 5121 0800 1245 1261 99" --holder "Corner Shop GmbH"`,
  ])
    .option('--config <file>', 'file to write (default: COUNTERFOIL_CONFIG, else counterfoil.yaml)')
    .option('--base-url <url>', 'https URL where it will be reached', 'https://pay.example')
    .addOption(
      new Option('--proxy <addresses>', 'proxies that speak https, with commas between them')
        .default('127.0.0.1')
        .conflicts('certificate'),
    )
    .option('--certificate <file>', 'certificate, to speak https without a proxy')
    .option('--key <file>', 'its private key')
    .option('--database-url <url>', 'PostgreSQL connection string (default: SQLite)')
    .option(
      '--storage <folder>',
      'private folder, relative to the file (default: COUNTERFOIL_STORAGE, else ./storage)',
    )
    .addOption(
      new Option('--registration <mode>', 'who may register')
        .choices(['open', 'invite', 'closed'])
        .default('closed'),
    )
    .option('--merchant <name>', 'business name of a first merchant, who gets a live key')
    .option('--support <contact>', 'where its customers get help: e-mail, phone or https address')
    .option('--iban <iban>', 'account for bank transfers (default: contact details alone)')
    .option('--holder <name>', 'its holder, spelled exactly as the bank has it')
    .option('--currency <code>', 'its currency (default: EUR, CHF for an account in Switzerland)')
    .option('--administrator <email>', 'who shall review payments first', parseEmail)
    .option('--allow-root', 'let the service run as root; it does not need root')
    .option('--force', 'write over a file that is there, which is kept as FILE.old, or FILE.old.2 and so on')
    .action(init);
}

async function init(options: InitOptions, command: Command): Promise<void> {
  const file = configurationFile(options.config);
  if (existsSync(file) && !options.force)
    throw new Failure(
      `${shownPath(file)} is there already: name another with --config, or write over it with --force`,
    );
  for (const [flag, other] of NEEDS)
    if (options[flag] && !options[other]) command.error(`error: --${flag} has no use without --${other}`);
  const name = options.merchant;
  const key = name ? newSecret(KEY_PREFIX.live) : null;
  const merchant =
    key === null ? null : { id: randomId('mer_', 20), name: name!, key_sha256: keyDigest(key) };
  const text = configurationText(options, merchant);
  const { storage } = judged(text, file);
  makePrivate(storage); // before the file: what cannot be made must not cost the key that is shown at the end
  write(file, text, options.force === true);

  const wrong = (await inspect(readConfiguration(file, environment, { unfinished: true }), CHECKED)).filter(
    ({ is }) => is === 'failed',
  );
  if (wrong.length > 0) process.exitCode = 1;
  const next = nextSteps(file, storage, options);
  if (options.json) {
    const told = wrong.map(({ id, where, says, fix }) => ({
      id,
      where: where ?? null,
      says,
      fix: fix ?? null,
    }));
    const commands = [...(next.own ? [next.own] : []), next.start, ...next.beside];
    console.log(
      JSON.stringify({ file, storage, merchant: merchant?.id ?? null, key, failed: told, next: commands }),
    );
    return;
  }
  if (key !== null) console.log(key);
  console.error(report(file, merchant, wrong, next));
}

/** The configuration as the program reads it. Throws `Failure` if it does not take what a flag says. */
function judged(text: string, file: string) {
  try {
    // Without the environment: what goes over the file must not hide what is wrong in it.
    return parseConfiguration(text, file, {});
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    // Without the place, which is of a file that is not there yet.
    throw new Failure(`${error.message.replace(/^.*?:\d+: /, '')}; nothing was written`);
  }
}

/** Writes the file, readable by its owner alone. The file before is replaced whole, or not at all, and kept as FILE.old, FILE.old.2 … */
function write(file: string, text: string, overwrites: boolean): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!overwrites) {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
    return;
  }
  if (existsSync(file)) {
    let old = `${file}.old`;
    for (let count = 2; existsSync(old); count++) old = `${file}.old.${count}`;
    copyFileSync(file, old, constants.COPYFILE_EXCL);
    chmodSync(old, 0o600);
  }
  const beside = `${file}.new`;
  rmSync(beside, { force: true });
  writeFileSync(beside, text, { mode: 0o600, flag: 'wx' });
  renameSync(beside, file);
}

/** Makes the folder; one that is there stays as it is, and the checks say what is wrong with it. Throws `Failure`. */
function makePrivate(folder: string): void {
  if (existsSync(folder)) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(
      `${shownPath(folder)} cannot be made (${code}), and nothing was written: make it yourself, or name another with --storage`,
    );
  }
}

function report(
  file: string,
  merchant: { id: string; name: string } | null,
  wrong: readonly Finding[],
  { own, start, beside }: ReturnType<typeof nextSteps>,
): string {
  const key = merchant
    ? `\nAbove is the live key of ${merchant.name} (${merchant.id}). Copy it now: it is shown only this once; the file holds its digest.`
    : '';
  const verdict =
    wrong.length === 0
      ? `Nothing in it keeps the service from starting${own ? ', as an account that is not root' : ''}.`
      : `Before it starts:\n${wrong.map((one) => `  ${lineOf(one)}`).join('\n')}`;
  return `
${shownPath(file)} is written.${key}
${verdict}
Next:
${own ? `  ${own}\nThen as that account, the one that shall serve:\n` : ''}  ${start}
And while it serves, in another terminal:
${beside.map((one) => `  ${one}`).join('\n')}`;
}

/** Installations whose service reads `COUNTERFOIL_CONFIG`; `COUNTERFOIL_RUN_BY` names which (deploy/counterfoil, Dockerfile). */
const INSTALLED: Readonly<Record<string, { start: string; command: string; writing?: string }>> = {
  systemd: { start: 'sudo systemctl enable --now counterfoil', command: 'sudo counterfoil' },
  compose: {
    // Nodes only read the configuration: `writing` is what may write it.
    start: 'docker compose up --detach --build --wait',
    command: 'docker compose exec node-a counterfoil',
    writing: 'docker compose run --rm tools',
  },
};

/** Commands to paste: `own` gives the files to the account that serves, where that is another; then the start; then the rest. */
function nextSteps(
  file: string,
  storage: string,
  { administrator, allowRoot, merchant }: InitOptions,
): { own: string | undefined; start: string; beside: string[] } {
  const installed = INSTALLED[environment.COUNTERFOIL_RUN_BY ?? ''];
  const isClone = !installed && existsSync(join(process.cwd(), 'bin/counterfoil.js'));
  const isInPath = basename(process.argv[1]!) === 'counterfoil';
  const path = `${quoted(process.execPath)} ${quoted(process.argv[1]!)}`;
  const command = installed?.command ?? (isClone ? 'npx counterfoil' : isInPath ? 'counterfoil' : path);
  const { COUNTERFOIL_CONFIG: served } = environment;
  const isTheService = installed !== undefined && served !== undefined && file === resolve(served);
  const config = isTheService ? '' : ` --config ${quoted(file)}`;
  const email = administrator || 'you@example.org';
  const person = ` --email ${quoted(email)} --name ${quoted(email.split('@')[0]!)} --role administrator`;
  const isRoot = process.getuid?.() === 0 && !allowRoot;
  return {
    own: isRoot ? `chown -R counterfoil: ${quoted(file)} ${quoted(storage)}` : undefined,
    start: isTheService ? installed.start : isClone ? `npm start --${config}` : `${command} serve${config}`,
    beside: [
      `${command} administrators create${config}${person}`,
      // The key is printed once. A server that runs takes it over on SIGHUP, as the command says.
      ...(merchant
        ? []
        : [`${installed?.writing ?? command} keys create${config} --merchant "Corner Shop" --live`]),
      `${command} doctor${config}`,
    ],
  };
}

/** A word as a shell takes it. */
const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The first merchant, with the SHA-256 of its key. */
type FirstMerchant = { id: string; name: string; key_sha256: string } | null;

/** A value as YAML writes it in one line, quoted where it must be. */
const value = (one: string) => stringify(one, { lineWidth: 0, defaultStringType: 'PLAIN' }).trim();

function configurationText(options: InitOptions, merchant: FirstMerchant): string {
  const parts = [
    `# Counterfoil's configuration. Every setting: docs/configuration.md. Whether all is well: counterfoil doctor.
environment: production`,
    `# Where merchants reach the API, customers checkout, and reviewers the console.
base_url: ${value(options.baseUrl)}`,
    httpsText(options),
    storeText(options),
    `# Who may register as a merchant at /register: everyone (open), those with an invitation (invite), or no one (closed).
registration:
  mode: ${options.registration}`,
    methodsText(options),
    merchantsText(merchant, options),
    ...(options.allowRoot
      ? [
          '# It needs root for nothing: an account of its own is better wherever there can be one.\nallow_root: true',
        ]
      : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function httpsText({ baseUrl, proxy, certificate, key }: InitOptions): string {
  if (!certificate) {
    const proxies = proxy.split(',').map((one) => JSON.stringify(one.trim()));
    return `# The proxies in front, which speak https: they alone are believed when they say who calls.
trust_proxy: [${proxies.join(', ')}]`;
  }
  // A value that is no address is reported by its own check.
  const port = URL.canParse(baseUrl) ? new URL(baseUrl).port : '';
  return `# The certificate and key to speak https with, PEM. Read again on SIGHUP.
tls:
  certificate: ${value(certificate)}
  key: ${value(key!)}

# Listens on every address of this machine. Ports below 1024 need a permission: docs/operating/install.md.
host: 0.0.0.0
port: ${port || 443}`;
}

function storeText({ storage, databaseUrl }: InitOptions): string {
  // The environment goes over the file, so the file says the same.
  const fromEnvironment = environment.COUNTERFOIL_STORAGE && resolve(environment.COUNTERFOIL_STORAGE);
  const folder = `# Private: ${databaseUrl ? '' : 'the database, and '}the key that signs the history. No web server may hand it out.
storage: ${value(storage || fromEnvironment || './storage')}`;
  if (!databaseUrl) return folder;
  return `${folder}

# The database. DATABASE_URL in the environment goes over it, where its password shall not stand here.
database_url: ${value(databaseUrl)}`;
}

function methodsText({ iban, holder, currency }: InitOptions): string {
  const head =
    '# How customers can pay, in this order. Other ways: docs/configuration.md, "methods".\nmethods:\n';
  if (!iban)
    return `${head}  # Contact details alone: you arrange the rest with each customer.\n  - type: details`;
  return `${head}  - type: bank_transfer
    accounts:
      - currency: ${value(currency ?? (/^(CH|LI)/i.test(iban) ? 'CHF' : 'EUR'))}
        holder: ${value(holder!)}
        iban: ${value(iban)}`;
}

function merchantsText(merchant: FirstMerchant, { support }: InitOptions): string {
  if (merchant === null)
    return `# Who may create payments. The first: counterfoil keys create --merchant "Corner Shop" --live
merchants: []`;
  return `# Who may create payments. Further keys: counterfoil keys create --merchant ${merchant.id} --live
merchants:
  - id: ${merchant.id}
    name: ${value(merchant.name)}${support ? `\n    support: ${value(support)}` : ''}
    keys:
      - key_sha256: ${value(merchant.key_sha256)}
        mode: live`;
}
