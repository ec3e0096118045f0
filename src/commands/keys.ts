// counterfoil keys: makes keys and lists them; the file keeps digests, the screen shows a key once.
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { configurationFile, environment, parseConfiguration, readConfiguration } from '../config.ts';
import { randomId } from '../lib/ids.ts';
import { newSecret } from '../lib/secrets.ts';
import { DAY_MS, formatTimestamp, HOUR_MS, systemClock } from '../lib/time.ts';
import { KEY_PREFIX, keyDigest, keyId, type Merchant, type Mode } from '../merchants/merchant.ts';
import { columns, Failure, shownPath } from './terminal.ts';

interface CreateOptions {
  merchant: string;
  test?: boolean;
  live?: boolean;
  expires?: number;
  config?: string;
  json?: boolean;
}

export function keysCommand(): Command {
  return new Command('keys')
    .description('API keys of merchants in the configuration file')
    .addHelpText(
      'after',
      '\nExamples:\n  counterfoil keys create --merchant "Corner Shop"\n  counterfoil keys list',
    )
    .addCommand(
      new Command('create')
        .description('make a key, print it once, and write its digest into the configuration')
        .requiredOption('--merchant <name>', 'business name or id; a merchant that is not there is added')
        .option('--test', 'a key for test payments (default)')
        .option('--live', 'a key for real payments')
        .option('--expires <when>', 'a moment with an offset, or a time from now: 12h, 90d', parseExpiry)
        .option('--config <file>', 'configuration file')
        .option('--json', 'print one JSON document')
        .addHelpText(
          'after',
          '\nExamples:\n  counterfoil keys create --merchant "Corner Shop"\n  counterfoil keys create --merchant mer_corner_shop --live --expires 365d\n\nA running server takes the key over on SIGHUP.',
        )
        .action(create),
    )
    .addCommand(
      new Command('list')
        .description('list keys: their ids, modes and ends, never the keys')
        .option('--config <file>', 'configuration file')
        .option('--json', 'print one JSON document')
        .addHelpText('after', '\nExample:\n  counterfoil keys list --json')
        .action(list),
    );
}

/** `90d`, `12h` or an ISO 8601 moment → milliseconds since 1970. */
function parseExpiry(text: string): number {
  const span = /^(\d{1,5})([hd])$/.exec(text);
  const moment = span
    ? systemClock.now() + Number(span[1]) * (span[2] === 'h' ? HOUR_MS : DAY_MS)
    : Date.parse(text);
  if (Number.isNaN(moment) || (!span && !/(?:Z|[+-]\d\d:\d\d)$/.test(text))) {
    throw new InvalidArgumentError(
      'It is neither a time from now such as 90d nor a moment such as 2027-01-31T00:00:00+00:00.',
    );
  }
  if (moment <= systemClock.now()) throw new InvalidArgumentError('It lies in the past.');
  return moment;
}

/** A configuration may lack the very key that is about to be made, or hold the one that it replaces. */
const UNFINISHED = { unfinished: true };

function create(options: CreateOptions, command: Command): void {
  if (options.test && options.live) command.error('error: --test and --live exclude one another');
  const mode: Mode = options.live ? 'live' : 'test';
  const file = realpathSync(existing(configurationFile(options.config)));
  const configuration = readConfiguration(file, environment, UNFINISHED);
  if (mode === 'live' && configuration.environment === 'development') {
    throw new Failure('in development all keys make test payments; a live key needs environment: production');
  }
  const merchant = merchantNamed(options.merchant, configuration.merchants);
  const key = newSecret(KEY_PREFIX[mode]);
  const digest = keyDigest(key);
  const entry = {
    key_sha256: digest,
    mode,
    ...(options.expires === undefined ? {} : { expires_at: formatTimestamp(options.expires) }),
  };
  writeKey(file, merchant, entry);

  const id = keyId(digest);
  if (options.json) {
    console.log(JSON.stringify({ key, id, mode, merchant, expires_at: entry.expires_at ?? null, file }));
    return;
  }
  console.log(key);
  console.error(`
Key ${id} of ${merchant.name} (${merchant.id}), for ${mode} payments${entry.expires_at ? ` until ${entry.expires_at}` : ''}.
Copy it now: it is shown only this once. ${shownPath(file)} holds its digest.
Next: restart the server or send it SIGHUP (kill -HUP PID), and it takes the key over.`);
}

/** `file` itself; says what is missing where there is none. Raises `ConfigurationError`. */
function existing(file: string): string {
  if (!existsSync(file)) readConfiguration(file);
  return file;
}

/** The merchant of that id or business name; a name that is not there makes a new one. Raises `Failure`. */
function merchantNamed(wanted: string, merchants: readonly Merchant[]): { id: string; name: string } {
  const found = merchants.filter(({ id, name }) => id === wanted || name === wanted);
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    throw new Failure(
      `${found.length} merchants are called ${JSON.stringify(wanted)}: name one by its id (${ids})`,
    );
  }
  if (found[0]) return { id: found[0].id, name: found[0].name };
  if (/^mer_/.test(wanted)) {
    const ids = merchants.map(({ id }) => id).join(', ');
    throw new Failure(
      `there is no merchant ${wanted}; there ${ids ? `are: ${ids}` : 'is none yet: give a business name'}`,
    );
  }
  return { id: randomId('mer_', 20), name: wanted };
}

/** Adds a key to the file, everything else in it left as it is, comments too. Raises `ConfigurationError`. */
function writeKey(file: string, merchant: { id: string; name: string }, entry: object): void {
  const document = parseDocument(readFileSync(file, 'utf8'));
  const sequenceAt = (holder: YAMLMap, name: string): YAMLSeq => {
    if (!isSeq(holder.get(name))) holder.set(name, document.createNode([]));
    const sequence = holder.get(name) as YAMLSeq;
    sequence.flow = false;
    return sequence;
  };
  if (!isMap(document.contents))
    document.contents = document.createNode({}) as unknown as typeof document.contents;
  const merchants = sequenceAt(document.contents as unknown as YAMLMap, 'merchants');
  let holder = merchants.items.find((item): item is YAMLMap => isMap(item) && item.get('id') === merchant.id);
  if (!holder) {
    holder = document.createNode({ ...merchant, keys: [] }) as YAMLMap;
    merchants.add(holder);
  }
  sequenceAt(holder, 'keys').add(document.createNode(entry));
  const text = document.toString({ lineWidth: 0 });
  parseConfiguration(text, file, environment, UNFINISHED);
  replaceFile(file, text);
}

/** Writes beside and moves over: a crash leaves the old file or the new one, never half of either. Owner and mode stay. */
function replaceFile(file: string, text: string): void {
  const { mode, uid, gid } = statSync(file);
  const beside = `${file}.new`;
  rmSync(beside, { force: true });
  const descriptor = openSync(beside, 'wx', 0o600);
  try {
    writeFileSync(descriptor, text);
    fchownSync(descriptor, uid, gid);
    fchmodSync(descriptor, mode & 0o777);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  renameSync(beside, file);
}

function list(options: { config?: string; json?: boolean }): void {
  const configuration = readConfiguration(configurationFile(options.config));
  const keys = configuration.merchants.flatMap(({ id: merchant_id, name, keys }) =>
    keys.map(({ id, mode, expires_at }) => ({
      id,
      merchant_id,
      merchant_name: name,
      mode,
      expires_at: expires_at === null ? null : formatTimestamp(expires_at),
    })),
  );
  if (options.json) {
    console.log(JSON.stringify({ keys }));
    return;
  }
  if (keys.length === 0) {
    console.log('There are no keys. Make one: counterfoil keys create --merchant "Corner Shop"');
    return;
  }
  const now = systemClock.now();
  const end = (at: string | null) =>
    at === null ? 'does not expire' : `${Date.parse(at) <= now ? 'expired' : 'expires'} ${at}`;
  const rows = keys.map((key) => [key.id, key.mode, key.merchant_name, key.merchant_id, end(key.expires_at)]);
  console.log(columns(rows));
}
