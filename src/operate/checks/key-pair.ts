// The certificate and key of `tls`, read from their files and found fit to be shown to browsers.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { momentsIn } from '../../lib/moments.ts';

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
