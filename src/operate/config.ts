// The configuration as the program uses it: read from its file, checked, with the environment over it.
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { newSecret } from '../lib/secrets.ts';
import {
  DEVELOPMENT_KEY,
  KEY_PREFIX,
  keyDigest,
  keyId,
  type MerchantWithKeys,
  type Mode,
} from '../merchants/merchant.ts';
import { logoFrom, type Particulars } from '../merchants/particulars.ts';
import type { PaymentTerms } from '../payments/pay-by.ts';
import type { MatchSettings } from '../statements/matching/propose.ts';
import { hostsFault } from '../store/connection-string.ts';
import { plainPeers } from '../web/host-name.ts';
import { addressForLog } from '../web/network.ts';
import { type Installation, isDecisive, lineOf, type WhereWritten } from './checks/check.ts';
import { READ_CHECKS } from './checks/settings-checks.ts';
import { type Environment, environment } from './environment.ts';
import { explainIssue, explainSyntax, settingName } from './settings/config-fault.ts';
import { endpointsOf } from './settings/merchants.ts';
import { metricsSchema } from './settings/operation.ts';
import { placesOf } from './settings/places.ts';
import { configurationSchema, namesAt, type Settings } from './settings/settings.ts';

/** Sysexits' EX_CONFIG: the configuration is at fault, and starting again will not help. */
export const EXIT_CONFIGURATION = 78;

/** The settings as the program uses them. Files and folders are absolute, keys are digests, URLs end without a slash. */
export interface Configuration extends Omit<Settings, 'merchants' | 'rate_limits' | 'registration'> {
  rate_limits: Settings['rate_limits'] & { enabled: boolean };
  registration: Settings['registration'] & { mode: 'open' | 'invite' | 'closed' };
  file: string;
  /** `COUNTERFOIL_SECRETS_KEY`. */
  secrets_keys: string | null;
  /** `COUNTERFOIL_MAIL_PASSWORD`. */
  mail_password: string | null;
  /** Set by `PORT`: a taken port is then an error, not a reason to look for another. */
  portIsFixed: boolean;
  merchants: MerchantWithKeys[];
  endpoints: ReturnType<typeof endpointsOf>;
  /** The place of each setting in the file. What production refuses is reported with its place. */
  written: WhereWritten;
}

/** One line: which file, which line of it, what is wrong there. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Where the configuration is: `--config`, then `COUNTERFOIL_CONFIG`, then `counterfoil.yaml` here. */
export function configurationFile(option: string | undefined, env: Environment = environment): string {
  return resolve(option || env.COUNTERFOIL_CONFIG || 'counterfoil.yaml');
}

/** Reads and checks a configuration file. Throws `ConfigurationError`. */
export function readConfiguration(
  file: string,
  env: Environment = environment,
  rule: ReadingRule = {},
): Configuration {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code!;
    throw new ConfigurationError(`${shown(file)}: ${UNREADABLE[code] ?? `cannot be read (${code})`}`);
  }
  if (!isUtf8(bytes)) throw new ConfigurationError(`${shown(file)}: is not UTF-8 text`);
  return parseConfiguration(bytes.toString(), file, env, rule);
}

/** How a configuration is read. `unfinished`: without what production refuses, for the commands that help to finish it. */
interface ReadingRule {
  unfinished?: boolean;
}

const UNREADABLE: Record<string, string> = {
  ENOENT:
    'does not exist; name the configuration with --config or COUNTERFOIL_CONFIG, or write one with counterfoil init',
  EISDIR: 'is a folder; name the file in it',
  EACCES: 'may not be read by this account; run the command as the account that serves',
};

/** A path as messages show it: relative if that is shorter. */
function shown(file: string): string {
  return file.startsWith(`${process.cwd()}/`) ? file.slice(process.cwd().length + 1) : file;
}

type Fail = (path: readonly PropertyKey[], problem: string) => ConfigurationError;

/** Checks a configuration's text; `file` is where it stands or is about to. Throws `ConfigurationError`. */
export function parseConfiguration(
  text: string,
  file: string,
  env: Environment = environment,
  { unfinished = false }: ReadingRule = {},
): Configuration {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const place: WhereWritten['place'] = (path) =>
    `${shown(file)}:${lines.linePos(positionOf(document, path)).line}`;
  const fail: Fail = (path, problem) =>
    new ConfigurationError(`${place(path)}: ${`${settingName(path)} ${problem}`.trim()}`);
  const [syntax] = document.errors;
  if (syntax) {
    const problem = explainSyntax(syntax, text.slice(syntax.pos[0]));
    throw new ConfigurationError(`${shown(file)}:${lines.linePos(syntax.pos[0]).line}: ${problem}`);
  }
  let values: unknown;
  try {
    values = document.toJS() ?? {};
  } catch {
    throw fail([], 'uses a YAML alias (*name) that leads nowhere');
  }
  if (!isMap(document.contents) && document.contents !== null && values !== '')
    throw fail([], 'must hold settings, one `name: value` on each line');

  const parsed = configurationSchema.safeParse(withoutEmpty(values), { reportInput: true });
  if (!parsed.success) {
    // A misspelt name explains the right one's being missing.
    const { issues } = parsed.error;
    const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!;
    const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : issue.path;
    throw fail(path, explainIssue(issue, namesAt(issue.path)));
  }
  const settings = parsed.data;
  const over = overrides(env, settings);
  const development = settings.environment === 'development';
  const { rate_limits, registration, tls, backups, statements, mail } = settings;
  const beside = (path: string) => resolve(dirname(file), path);
  const configuration: Configuration = {
    ...settings,
    merchants: merchantsOf(settings, fail, beside),
    endpoints: endpointsOf(settings, fail),
    written: { keys: writtenKeys(settings, place), place },
    rate_limits: { ...rate_limits, enabled: rate_limits.enabled ?? !development },
    registration: { ...registration, mode: registration.mode ?? (development ? 'open' : 'closed') },
    tls: tls && { certificate: beside(tls.certificate), key: beside(tls.key) },
    backups: backups && beside(backups),
    statements: { ...statements, folder: statements.folder && beside(statements.folder) },
    secrets_key_file: settings.secrets_key_file && beside(settings.secrets_key_file),
    secrets_keys: env.COUNTERFOIL_SECRETS_KEY || null,
    mail: mail && { ...mail, ...(mail.password_file && { password_file: beside(mail.password_file) }) },
    mail_password: env.COUNTERFOIL_MAIL_PASSWORD || null,
    file,
    portIsFixed: over.port !== undefined,
    storage: beside(settings.storage),
    ...over,
  };
  const refusal = unfinished ? undefined : readingRefusal(installationOf(configuration, env));
  if (refusal) throw new ConfigurationError(refusal);
  return configuration;
}

/** An installation as checks look at it. `port`: the one listened on instead of the configured one. */
export function installationOf(
  configuration: Configuration,
  env: Environment = environment,
  port = configuration.port,
): Installation {
  const { baseUrls, checkoutBaseUrl, listeners } = placesOf(configuration, port);
  return { settings: configuration, env, urls: { ...baseUrls, checkout: checkoutBaseUrl }, listeners };
}

/** Where the deepest part of a path stands that the file has: what is missing has no place, its parent does. */
function positionOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const holder = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const pair = isMap(holder)
      ? holder.items.find(({ key }) => isScalar(key) && String(key.value) === String(path[length - 1]))
      : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function merchantsOf(settings: Settings, fail: Fail, beside: (path: string) => string): MerchantWithKeys[] {
  const seen = new Map<string, string>();
  const methods = settings.methods.map(({ id }) => id);
  for (const [m, one] of settings.merchants.entries()) {
    const unknown = one.methods?.findIndex((id) => !methods.includes(id)) ?? -1;
    if (unknown !== -1)
      throw fail(
        ['merchants', m, 'methods', unknown],
        `is no id of a method; there are ${methods.join(', ') || 'none'}`,
      );
  }
  return settings.merchants.map((one, m) => ({
    id: one.id,
    name: one.name,
    ...{ website: one.website ?? null, support: one.support ?? null, triesOut: one.try_out },
    email: one.email ?? null,
    particulars: particularsOf(one, beside, (problem) => fail(['merchants', m, 'logo'], problem)),
    ...{ privacy_url: one.privacy_url, terms_url: one.terms_url, colour: one.colour },
    methods: one.methods ?? null,
    limits: one.rate_limits ?? {},
    keys: one.keys.map((entry, k) => {
      const place = ['merchants', m, 'keys', k];
      const digest = entry.key_sha256 ?? keyDigest(entry.key!);
      const path = [...place, entry.key === undefined ? 'key_sha256' : 'key'];
      const twin = seen.get(digest);
      if (twin) throw fail(path, `is the same key as ${twin}: a key names one merchant, once`);
      seen.set(digest, settingName(path));
      const written: Mode = entry.key?.startsWith(KEY_PREFIX.live) ? 'live' : entry.mode;
      return {
        id: keyId(digest),
        digest,
        mode: settings.environment === 'development' ? ('test' as const) : written,
        expires_at: entry.expires_at === undefined ? null : Date.parse(entry.expires_at),
        ...(entry.name !== undefined && { name: entry.name }),
      };
    }),
  }));
}

function particularsOf(
  { legal_name, address, tax_id, logo, language, letters_off, remind_days }: Settings['merchants'][number],
  beside: (path: string) => string,
  fail: (problem: string) => ConfigurationError,
): Particulars {
  const said = { legal_name, address, tax_id, language, letters_off, remind_days };
  if (logo === undefined) return said;
  try {
    return { ...said, logo: logoFrom(readFileSync(beside(logo))) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw fail(code === undefined ? message : `names a file that cannot be read (${code})`);
  }
}

function writtenKeys({ merchants }: Settings, place: WhereWritten['place']): WhereWritten['keys'] {
  return merchants.flatMap(({ keys }, m) =>
    keys.map(({ key, key_sha256 }, k) => {
      const path = ['merchants', m, 'keys', k, key === undefined ? 'key_sha256' : 'key'];
      const digest = key_sha256 ?? keyDigest(key!);
      const isDevelopmentKey = digest === keyDigest(DEVELOPMENT_KEY);
      return { name: settingName(path), where: place(path), isPlain: key !== undefined, isDevelopmentKey };
    }),
  );
}

/** What a variable of the environment says of a port; undefined if it is unset or empty. Throws `ConfigurationError`. */
function portIn(env: Environment, name: keyof Environment, least: number): number | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535 || Number(text) < least)
    throw new ConfigurationError(
      `${name} must be a port number, ${least} to 65535, not ${JSON.stringify(text)}`,
    );
  return Number(text);
}

/** The address to listen on, as `PREFIX_HOST` and `PREFIX_PORT` have it; undefined if both are unset. */
function listenerIn(env: Environment, prefix: 'CONSOLE' | 'ADMIN' | 'METRICS') {
  const host = env[`${prefix}_HOST`] || undefined;
  const port = portIn(env, `${prefix}_PORT`, 1);
  return host === undefined && port === undefined
    ? undefined
    : { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
}

function overrides(
  env: Environment,
  { console, admin, metrics }: Settings,
): Partial<
  Pick<Configuration, 'host' | 'port' | 'database_url' | 'storage' | 'console' | 'admin' | 'metrics'>
> {
  const { DATABASE_URL, COUNTERFOIL_STORAGE, LISTEN_HOST } = env;
  const port = portIn(env, 'PORT', 0);
  const [ofConsole, ofAdmin, ofMetrics] = (['CONSOLE', 'ADMIN', 'METRICS'] as const).map((prefix) =>
    listenerIn(env, prefix),
  );
  const fault = DATABASE_URL && hostsFault(DATABASE_URL);
  if (fault) throw new ConfigurationError(`DATABASE_URL in the environment ${fault}`);
  return {
    ...(LISTEN_HOST && { host: LISTEN_HOST }),
    ...(port !== undefined && { port }),
    ...(ofConsole && { console: { ...console, ...ofConsole } }),
    ...(ofAdmin && { admin: { ...admin, ...ofAdmin } }),
    ...(ofMetrics && { metrics: { ...metricsSchema.parse(metrics ?? {}), ...ofMetrics } }),
    ...(DATABASE_URL && { database_url: DATABASE_URL }),
    ...(COUNTERFOIL_STORAGE && { storage: resolve(COUNTERFOIL_STORAGE) }),
  };
}

/** Why no command takes a configuration for production as it is written, in one line; undefined where all do. */
function readingRefusal(subject: Installation): string | undefined {
  for (const check of READ_CHECKS) {
    if (!isDecisive(check, subject)) continue;
    const verdict = check.look(subject);
    if (verdict.is === 'failed') return lineOf(verdict);
  }
  return undefined;
}

/** Settings without the lists that nothing is left of: YAML reads `merchants:` with no line below it as null. */
function withoutEmpty(values: unknown): unknown {
  if (typeof values !== 'object' || values === null) return values;
  const { merchants, methods, ...others } = values as Record<string, unknown>;
  const list = Array.isArray(merchants) ? merchants.map(withoutEmptyKeys) : merchants;
  return { ...others, ...(list != null && { merchants: list }), ...(methods != null && { methods }) };
}

function withoutEmptyKeys(merchant: unknown): unknown {
  const { keys, webhooks, ...others } = (merchant ?? {}) as Record<string, unknown>;
  if (keys !== null && webhooks !== null) return merchant;
  return { ...others, ...(keys != null && { keys }), ...(webhooks != null && { webhooks }) };
}

/** The settings that new payments are created with. */
export const termsOf = (configuration: Configuration): PaymentTerms => ({
  lifetimeS: configuration.payment_lifetime_s,
  timeZone: configuration.time_zone,
  calendar: configuration.calendar,
  graceDays: configuration.pay_by_grace_days,
});

/** The settings that bank lines are matched by. */
export const matchSettingsOf = (configuration: Configuration): MatchSettings => ({
  timeZone: configuration.time_zone,
  calendar: configuration.calendar,
  prefixes: configuration.statements.prefixes,
});

/** The settings that surfaces go by. */
export function surfaceSettings(configuration: Configuration) {
  const { registration, rate_limits, trust_proxy } = configuration;
  const httpsOnly = configuration.environment === 'production';
  return {
    terms: termsOf(configuration),
    httpsOnly,
    docs: configuration.docs,
    ...matchSettingsOf(configuration),
    storage: configuration.storage,
    /** Minor units by currency above which a second administrator must confirm. */
    fourEyesAbove: configuration.review.four_eyes_above,
    /** How many forms of signing in to the console one network address may send in 15 minutes. */
    signInForms: configuration.sign_in_forms_per_address,
    limits: {
      perPayment: configuration.checkout_forms_per_payment,
      perAddress: configuration.checkout_forms_per_address,
    },
    rateLimits: rate_limits.enabled ? { ...rate_limits, nodes: configuration.nodes } : null,
    registration: {
      mode: registration.mode,
      contact: registration.contact,
      limits: { perAddress: registration.per_address, perHour: registration.per_hour },
    },
    security: configuration.security,
    loggedAddress: addressForLog(configuration.log_addresses, newSecret('')),
    trustProxy: trust_proxy,
    /** Who may speak plain HTTP, where https alone is promised and a proxy speaks it; undefined where all may. */
    mayComePlain: httpsOnly && !configuration.tls ? plainPeers(trust_proxy) : undefined,
  };
}

export type SurfaceSettings = ReturnType<typeof surfaceSettings>;
