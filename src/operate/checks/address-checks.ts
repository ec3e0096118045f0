// Checks that ask others: the installation's own addresses, the hosts of PostgreSQL, the mail server, and the clocks.
import { basename } from 'node:path';
import { SteadyClock } from '../../lib/steady-clock.ts';
import { counted } from '../../lib/text.ts';
import { inTime, MINUTE_MS, SECOND_MS } from '../../lib/time.ts';
import { VERSION } from '../../lib/version.ts';
import { SmtpTransport } from '../../mail/smtp.ts';
import { hostsOf } from '../../store/connection-string.ts';
import { type HostState, hostStates, serverClock, synchronousStandbys } from '../../store/host-states.ts';
import { hasStarted } from '../../store/open.ts';
import { mailServer } from '../settings/operation.ts';
import {
  type Check,
  check,
  checkTable,
  failed,
  notYet,
  ok,
  type Subject,
  skipped,
  storeCheck,
  type Verdict,
  warning,
} from './check.ts';

const FIX = 'start the service, and let the proxy and the names lead to it';
const MEND_NOT_READY = 'it runs: see what /health/ready names under failing, and what else failed here';

/** The beginning of every answer of `/health`, whether payments can be stored or not. */
const IS_HEALTH = /"status":"(ok|unavailable)","version":/;

/** A check that an address answers as this service does. */
function reaches(
  about: string,
  address: (urls: Subject['urls']) => string,
  /** What is wrong with an answer, as a clause. */
  fault: (
    visited: Visited,
    url: string,
    deadlineMs: number,
  ) => string | undefined | Promise<string | undefined>,
  /** What is odd about a right answer, with its fix. */
  odd: (visited: Visited) => readonly [says: string, fix: string] | undefined = () => undefined,
): Omit<Check, 'id'> {
  return {
    about,
    stage: 'later',
    isRemote: true,
    async look({ settings, urls, deadlineMs }) {
      const url = address(urls);
      const visited = await visit(url, deadlineMs);
      const wrong = 'fault' in visited ? visited.fault : await fault(visited, url, deadlineMs);
      if (wrong === undefined) {
        const found = 'fault' in visited ? undefined : odd(visited);
        return found ? warning(...found, url) : ok(`${url} answers`);
      }
      const isSilent = 'fault' in visited || visited.status >= 500;
      if (isSilent && !hasStarted(settings)) return notYet(wrong);
      const fix = fixFor(visited);
      const says = `It does not answer as it should: ${wrong}`;
      // On a machine where one tries things out, the service need not run.
      return settings.environment === 'development' ? warning(says, fix, url) : failed(says, fix, url);
    },
  };
}

function fixFor(visited: Awaited<ReturnType<typeof visit>>): string {
  if ('fault' in visited) return fixOf(visited.fault, FIX);
  return isNotReady(visited) ? MEND_NOT_READY : FIX;
}

/** Whether this service answered that no payment can be stored. */
const isNotReady = ({ status, text }: Visited) => status === 503 && IS_HEALTH.test(text);

const answerOf = ({ status }: Visited) => `the answer is ${status}`;

export const ADDRESS_CHECKS = checkTable({
  reach_api: reaches(
    'The API',
    (urls) => `${urls.public}/health`,
    (visited) => {
      if (!IS_HEALTH.test(visited.text)) return `another program answers (${visited.status})`;
      return visited.status === 200 ? undefined : `${answerOf(visited)}: no payment can be stored`;
    },
    ({ text }) => {
      const [, running] = /"version":"([^"]*)"/.exec(text)!;
      if (running === VERSION) return undefined;
      return [
        `Version ${running} serves there, and this is ${VERSION}`,
        'restart the service, or run the program that it runs',
      ];
    },
  ),
  /** Without a payment it is the page for what is not there, which has the style of all pages. */
  reach_checkout: reaches(
    'Checkout',
    (urls) => `${urls.checkout}/payment.php`,
    async (visited, url, deadlineMs) => {
      const sheet = /<link rel="stylesheet" href="([^"]+)"/.exec(visited.text)?.[1];
      if (visited.status !== 404 || !sheet) return `another program answers (${visited.status})`;
      // Another program may answer there, and say where this one is to call.
      const address = URL.canParse(sheet, url) ? new URL(sheet, url) : undefined;
      if (address?.origin !== new URL(url).origin) return 'its style sheet is at another address';
      const style = await visit(address.href, deadlineMs);
      if ('fault' in style) return `its style sheet is not there: ${style.fault}`;
      return style.status === 200 && style.type.startsWith('text/css')
        ? undefined
        : `${answerOf(style)} for its style sheet`;
    },
  ),
  reach_console: reaches(
    'The console',
    (urls) => `${urls.console}/console/sign-in`,
    (visited) => {
      if (visited.status === 403) return undefined; // a proxy that lets the reviewers' networks in alone
      return visited.status === 200 && visited.type.startsWith('text/html') ? undefined : answerOf(visited);
    },
  ),
  storage_served: check('Private files', ['later', 'isRemote'], async ({ settings, urls, deadlineMs }) => {
    const folders = new Set(['storage', basename(settings.storage)]);
    const files = [
      ...[...folders].flatMap((folder) => [
        `${folder}/counterfoil.sqlite`,
        `${folder}/counterfoil.yaml`,
        `${folder}/checkpoints.jsonl`,
      ]),
      ...new Set(['counterfoil.yaml', basename(settings.file)]),
      '.git/config',
    ];
    const bases = new Set([urls.public, urls.checkout].flatMap((url) => [url, new URL(url).origin]));
    const addresses = [...bases].flatMap((base) => files.map((file) => `${base}/${file}`));
    const answers = await Promise.all(
      addresses.map(async (url) => ({ url, visited: await visit(url, deadlineMs) })),
    );
    return servedVerdict(answers);
  }),
});

/** What the beginnings of our own files look like. */
const OURS =
  /^SQLite format 3|^(environment|base_url|merchants|database_url):|key_sha256:|-----BEGIN [A-Z ]*PRIVATE KEY|^\[core\]|^\{"seal":\d/m;

function servedVerdict(
  answers: readonly { url: string; visited: Awaited<ReturnType<typeof visit>> }[],
): Verdict {
  const given = answers.flatMap(({ url, visited }) =>
    'fault' in visited || visited.status >= 300 ? [] : [{ url, text: visited.text }],
  );
  const ours = given.find(({ text }) => OURS.test(text));
  if (ours)
    return failed(
      'A private file is handed out to anybody',
      'take storage and configuration out of what the web server hands out, and change every key and password in them',
      ours.url,
    );
  if (given[0])
    return warning(
      'Something answers where a private file would lie',
      'see what it is, and let the proxy hand on everything to the service',
      given[0].url,
    );
  if (answers.every(({ visited }) => 'fault' in visited))
    return { is: 'skipped', says: 'No address of the service answers' };
  return ok('Neither storage nor configuration is handed out');
}

export const MAIL_CHECKS = checkTable({
  mail: check('Mail server', ['later', 'isRemote'], async ({ settings, deadlineMs }) => {
    const { mail, mail_password, written, environment } = settings;
    if (!mail)
      return environment === 'development'
        ? skipped('Mail is off: letters lie at /dev/mail')
        : warning(
            'Mail is off: neither customers nor merchants nor administrators are written to',
            'set mail (docs/mail.md)',
          );
    const place = written.place(['mail']);
    const fix = 'see what it answers: counterfoil mail test ADDRESS';
    let server: ReturnType<typeof mailServer>;
    try {
      server = mailServer(mail, mail_password);
    } catch {
      return failed(
        'The file of mail.password_file cannot be read',
        'let the account that serves read it',
        place,
      );
    }
    const late = () => `${mail.host} did not answer in time`;
    const fault = await inTime(deadlineMs, new SmtpTransport(server).look(), late);
    if (fault !== undefined)
      return failed(`${mail.host}:${mail.port}: ${fault.replace(/[.\s]+$/, '')}`, fix, place);
    return ok(`${mail.host} takes letters from ${mail.from}`);
  }),
});

/** Timeout for the answers of all hosts together. */
const ANSWER_MS = 3 * SECOND_MS;

/** How far the service may be aside from the system clock, and from the database's. */
const APART_WARNED_MS = 5 * SECOND_MS;
const APART_MAXIMUM_MS = MINUTE_MS;

export const HOST_CHECKS = checkTable({
  database_hosts: check(
    'Database hosts',
    ['later', 'isRemote'],
    async ({ settings: { database_url }, deadlineMs }) => {
      if (database_url === null) return skipped('SQLite has no hosts');
      if (hostsOf(database_url).length === 1) return skipped('database_url names one host');
      return hostsVerdict(await hostStates(database_url, Math.min(deadlineMs, ANSWER_MS)));
    },
  ),
  standbys: storeCheck('Standbys', 'later', async (database) => {
    const seen = await synchronousStandbys(database);
    if (!seen) return skipped('No commit waits for a standby');
    const { wanted, connected } = seen;
    if (connected === undefined)
      return skipped(
        'Commits wait for a standby, and the server does not tell this account which are connected',
        'grant it pg_read_all_stats',
      );
    const told = `Commits wait for ${counted(wanted, 'standby', 'standbys')}, and ${connected || 'none'} ${connected > 1 ? 'are' : 'is'} connected`;
    if (connected >= wanted) return ok(told);
    return warning(
      `${told}: each write waits until enough are, and is answered 503`,
      "make sure that no standby was promoted in this one's place: if one was, stop this one. Only then start the standby. " +
        "To go on without is the last resort, and only where none was promoted: alter system set synchronous_standby_names = '', then select pg_reload_conf()",
    );
  }),
  system_clock: check('System clock', 'later', ({ clock, verification }) => {
    if (!verification || !(clock instanceof SteadyClock))
      return skipped(
        'Whether the clock was set is known where the service runs',
        'see its health page or its log',
      );
    const { ahead } = clock;
    if (Math.abs(ahead) <= APART_WARNED_MS) return ok('The service goes by the system clock');
    const apart = `${Math.round(Math.abs(ahead) / SECOND_MS)} s ${ahead < 0 ? 'ahead of' : 'behind'}`;
    const told = `The system clock was set, and the service is ${apart} it`;
    const fix = 'see that the clock is right, then restart the service';
    // One that is behind follows within a minute; one that is ahead stays so, ends what others made, and dates what it writes wrongly.
    return ahead < -APART_MAXIMUM_MS ? failed(told, fix) : warning(told, fix);
  }),
  database_clock: storeCheck("The database's clock", 'later', async (database, { clock }) => {
    const theirs = await serverClock(database);
    if (theirs === undefined) return skipped("SQLite has this machine's clock");
    const aside = Math.abs(theirs - clock.now());
    const told = `This machine's clock and the database's are ${Math.round(aside / SECOND_MS)} s apart`;
    const fix = 'let both keep time by NTP';
    if (aside > APART_MAXIMUM_MS) return failed(told, fix);
    return aside > APART_WARNED_MS ? warning(told, fix) : ok("The database's clock and this machine's agree");
  }),
});

function hostsVerdict(states: readonly HostState[]): Verdict {
  const all = states.map(({ says }) => says).join('; ');
  const has = (what: HostState['is']) => states.some(({ is }) => is === what);
  if (!has('primary'))
    return failed(
      `No host that database_url names takes writes: ${all}`,
      'start the primary, or promote the standby that has all it had',
    );
  const writable = countServers(states);
  const fixes = [
    ...(writable > 1 ? ['unless these are names of one server, stop all but the one that holds all'] : []),
    ...(has('silent') ? ['start the one that does not answer, or take it out of database_url'] : []),
    ...(has('behind')
      ? ['stop the one on the older timeline and rebuild it as a standby, unless the promotion was a mistake']
      : []),
  ];
  const told = writable > 1 ? `${writable} hosts take writes: ${all}` : all;
  return fixes.length > 0 ? warning(told, fixes.join('; ')) : ok(told);
}

/** How many servers the primaries are: one that does not tell which it is counts as another. */
function countServers(states: readonly HostState[]): number {
  const servers = states.filter(({ is }) => is === 'primary').map(({ server }) => server);
  return new Set(servers.map((server) => server ?? Symbol())).size;
}

/** More of an answer than this is not looked at. */
const BYTES_LOOKED_AT = 64 * 1024;

export interface Visited {
  status: number;
  type: string;
  /** The beginning of the body. */
  text: string;
}

/** What an address answers, redirects not followed; or why it answers nothing in time, as a clause. */
export async function visit(url: string, deadlineMs: number): Promise<Visited | { fault: string }> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(deadlineMs) });
    return {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text: await beginningOf(response),
    };
  } catch (error) {
    return { fault: faultOf(error as Error, deadlineMs) };
  }
}

async function beginningOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= BYTES_LOOKED_AT) break;
  }
  return Buffer.concat(pieces).toString('latin1');
}

const EXPIRED = 'its certificate has expired';
const UNTRUSTED = 'its certificate is signed by no authority that is trusted here';
const CHAIN_MISSING = 'its certificate comes without those that lead to its issuer';

const SAID: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no address is known for its host name',
  EAI_AGAIN: 'no address is known for its host name',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  CERT_HAS_EXPIRED: EXPIRED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CHAIN_MISSING,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
};

/** How to fix what `faultOf` says: where a certificate is not trusted, the authority may be a private one. */
export function fixOf(fault: string, otherwise: string): string {
  if (fault === EXPIRED) return 'renew the certificate, then reload the server that shows it';
  if (fault !== UNTRUSTED && fault !== CHAIN_MISSING) return otherwise;
  return 'let it be shown with the certificates up to its issuer; if its issuer is a private authority, name the file of that authority in NODE_EXTRA_CA_CERTS, for the service and for doctor';
}

/** Why a call failed, as a clause. Takes what `fetch` or a socket throws. */
export function faultOf(error: Error, deadlineMs: number): string {
  if (error.name === 'TimeoutError') return `nothing came within ${deadlineMs / SECOND_MS} s`;
  const cause = (error.cause ?? error) as NodeJS.ErrnoException & { errors?: NodeJS.ErrnoException[] };
  const code = cause.code ?? cause.errors?.[0]?.code;
  return SAID[code ?? ''] ?? `the call failed (${code ?? error.message})`;
}
