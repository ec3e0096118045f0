// The certificate and key of `tls`, and their checks: in the files, and as the base URL serves them.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { connect, createSecureContext, type DetailedPeerCertificate } from 'node:tls';
import { momentsIn } from '../../lib/moments.ts';
import { DAY_MS } from '../../lib/time.ts';
import { isHttps } from '../../lib/web-address.ts';
import { hasStarted } from '../../store/open.ts';
import { faultOf, fixOf } from './address-checks.ts';
import {
  check,
  checkTable,
  failed,
  failedForNow,
  notYet,
  ok,
  skipped,
  type Verdict,
  warning,
} from './check.ts';

/** Issuers' programs renew a month before the end. */
const WARNED_DAYS = 21;
const FAILED_DAYS = 3;

export const KEY_PAIR_CHECKS = checkTable({
  key_pair: check(
    'Certificate and key',
    ['start', 'always'],
    ({ settings: { tls, time_zone, written }, clock }) => {
      if (!tls) return skipped('A proxy speaks https: tls is not set');
      try {
        loadKeyPair(tls, clock.now(), time_zone);
        return ok('The certificate and its key belong together and can be shown');
      } catch (error) {
        if (!(error instanceof KeyPairUnfit)) throw error;
        return failedForNow(error.says, error.fix, written.place(['tls', error.part])); // a renewal replaces both files
      }
    },
  ),
});

/** Said where `key_pair` fails. */
const NO_CERTIFICATE = 'There is no certificate whose end could be looked at';

export const CERTIFICATE_CHECKS = checkTable({
  certificate_file: check('Certificate file', 'later', ({ settings: { tls, time_zone }, clock }) => {
    if (!tls) return skipped('A proxy speaks https: tls is not set');
    try {
      if (!statSync(tls.certificate).isFile()) return skipped(NO_CERTIFICATE);
      const { validTo } = new X509Certificate(readFileSync(tls.certificate));
      return expiryVerdict(Date.parse(validTo), clock.now(), tls.certificate, time_zone);
    } catch {
      return skipped(NO_CERTIFICATE);
    }
  }),
  certificate_presented: check(
    'Certificate shown',
    ['later', 'isRemote'],
    async ({ settings, urls, clock, deadlineMs }) => {
      if (!isHttps(urls.public)) return skipped('base_url is no https URL');
      const shown = await presented(urls.public, deadlineMs);
      if ('fault' in shown && !hasStarted(settings)) return notYet(shown.fault);
      if ('fault' in shown)
        return failed(
          `No certificate is shown: ${shown.fault}`,
          'see that https is spoken there',
          urls.public,
        );
      const verdict = expiryVerdict(shown.validTo, clock.now(), urls.public, settings.time_zone);
      if (verdict.is === 'failed' || shown.distrust === undefined) return verdict;
      return failed(
        `Browsers do not trust its certificate: ${shown.distrust}`,
        fixOf(shown.distrust, 'get one for this host name from an issuer that browsers know'),
        urls.public,
      );
    },
  ),
});

/** What is to be said of a certificate that ends at `end`; milliseconds since 1970. */
export function expiryVerdict(end: number, now: number, where: string, timeZone: string): Verdict {
  const days = Math.floor((end - now) / DAY_MS);
  const told =
    end <= now
      ? `The certificate ended on ${momentsIn(timeZone).moment(end)}`
      : `The certificate ends in ${days} days`;
  const fix = 'renew it, and see why that did not happen by itself';
  if (days < FAILED_DAYS) return failed(told, fix, where);
  return days < WARNED_DAYS ? warning(told, fix, where) : ok(told);
}

type Presented = { validTo: number; distrust: string | undefined } | { fault: string };

function presented(url: string, deadlineMs: number): Promise<Presented> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    // Trust is checked afterwards, so that the end of an untrusted certificate is reported too.
    const socket = connect({
      host,
      port: Number(port || 443),
      ...(isIP(host) === 0 && { servername: host }),
      rejectUnauthorized: false,
    });
    const end = (found: Presented) => {
      socket.destroy();
      resolve(found);
    };
    socket.setTimeout(deadlineMs, () => socket.destroy(new DOMException('', 'TimeoutError')));
    socket.once('error', (error) => end({ fault: faultOf(error, deadlineMs) }));
    socket.once('secureConnect', () => {
      const { valid_to } = socket.getPeerCertificate() as DetailedPeerCertificate;
      // The types say that it is an error; it is the code of one.
      const code = socket.authorizationError as unknown as string | null;
      const distrust = code ? faultOf(Object.assign(new Error(code), { code }), deadlineMs) : undefined;
      end({ validTo: Date.parse(valid_to), distrust });
    });
  });
}

/** What is wrong with a certificate or its key, in one line: which setting and file, what, and how to fix it. */
export class KeyPairUnfit extends Error {
  override readonly name = 'KeyPairUnfit';
  readonly part: Part;
  /** The line but for its end, a clause. */
  readonly says: string;
  /** The end, a clause too. */
  readonly fix: string;

  constructor(part: Part, file: string, problem: string, fix: string) {
    const says = `tls.${part}: ${file} ${problem}`;
    super(`${says}: ${fix}`);
    this.part = part;
    this.says = says;
    this.fix = fix;
  }
}

export interface LoadedKeyPair {
  /** PEM: the certificate, and those that lead to its issuer. */
  cert: Buffer;
  key: Buffer;
  /** When the certificate ends, milliseconds since 1970. */
  endsAt: number;
}

/** Reads a key pair. `now` in milliseconds since 1970; `timeZone` of the moments in faults. Throws `KeyPairUnfit`. */
export function loadKeyPair(
  files: { certificate: string; key: string },
  now: number,
  timeZone: string,
): LoadedKeyPair {
  const cert = read('certificate', files.certificate);
  const key = read('key', files.key);
  if ((statSync(files.key).mode & 0o077) !== 0)
    throw new KeyPairUnfit('key', files.key, 'can be used by others', `run chmod go= ${files.key}`);
  const certificate = parse('certificate', files.certificate, () => new X509Certificate(cert));
  const privateKey: KeyObject = parse('key', files.key, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    const problem = `is not the key of ${files.certificate}`;
    throw new KeyPairUnfit('key', files.key, problem, 'name the two that belong together');
  }
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const unfit = (problem: string, fix: string) =>
    new KeyPairUnfit('certificate', files.certificate, problem, fix);
  const moment = (ms: number) => momentsIn(timeZone).moment(ms);
  if (now >= to) throw unfit(`expired on ${moment(to)}`, 'renew it');
  if (now < from) throw unfit(`is valid from ${moment(from)} on`, 'set the clock right, or wait');
  parse('certificate', files.certificate, () => createSecureContext({ cert, key }));
  return { cert, key, endsAt: to };
}

type Part = 'certificate' | 'key';

const UNREADABLE: Record<string, [problem: string, fix: string]> = {
  ENOENT: ['does not exist', 'put it there, as PEM, or name another'],
  EACCES: ['may not be read by this account', 'give it to the account that serves'],
};

function read(part: Part, file: string): Buffer {
  try {
    // Checked first, because opening a pipe waits for a writer.
    const found = statSync(file);
    if (found.isDirectory()) throw new KeyPairUnfit(part, file, 'is a folder', 'name the file in it');
    if (!found.isFile()) throw new KeyPairUnfit(part, file, 'is no regular file', 'name one');
    return readFileSync(file);
  } catch (error) {
    if (error instanceof KeyPairUnfit) throw error;
    const code = (error as NodeJS.ErrnoException).code!;
    const [problem, fix] = UNREADABLE[code] ?? [`cannot be read (${code})`, 'name one that can'];
    throw new KeyPairUnfit(part, file, problem, fix);
  }
}

/** What TLS itself finds too weak (OpenSSL's security level). */
const TOO_WEAK = /_(KEY_TOO_SMALL|MD_TOO_WEAK)$/;

/** Takes what a file holds, or says that it cannot be used; of the reason its code alone, since the rest may quote the file. */
function parse<T>(part: Part, file: string, take: () => T): T {
  try {
    return take();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (TOO_WEAK.test(code ?? ''))
      throw new KeyPairUnfit(
        part,
        file,
        `is too weak for TLS (${code})`,
        'get one for a key of at least 2048 bits (RSA) or 256 (EC), signed with SHA-256',
      );
    const what = part === 'key' ? 'private key without a passphrase' : 'certificate that can be used';
    throw new KeyPairUnfit(part, file, `holds no ${what}${code ? ` (${code})` : ''}`, 'it must be PEM');
  }
}
