// The certificate and key of `tls`, read from their files and found fit to be shown to browsers.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { formatTimestamp } from '../lib/time.ts';

/** What is wrong with a certificate or its key: which file, what, and how to mend it, in one line. */
export class KeyPairUnfit extends Error {
  override readonly name = 'KeyPairUnfit';
}

export interface LoadedKeyPair {
  /** PEM: the certificate, and those that lead to its issuer. */
  cert: Buffer;
  key: Buffer;
  /** When the certificate ends, milliseconds since 1970. */
  endsAt: number;
}

/** Reads a key pair. `now` in milliseconds since 1970. Raises `KeyPairUnfit`. */
export function loadKeyPair(files: { certificate: string; key: string }, now: number): LoadedKeyPair {
  const cert = read('certificate', files.certificate);
  const key = read('key', files.key);
  if ((statSync(files.key).mode & 0o077) !== 0)
    throw unfit('key', files.key, `can be read by others. Run: chmod go= ${files.key}`);
  const certificate = parse('certificate', files.certificate, () => new X509Certificate(cert));
  const privateKey: KeyObject = parse('key', files.key, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw unfit(
      'key',
      files.key,
      `is not the key of ${files.certificate}: name the two that belong together`,
    );
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  if (now >= to) throw unfit('certificate', files.certificate, `expired at ${formatTimestamp(to)}: renew it`);
  if (now < from)
    throw unfit(
      'certificate',
      files.certificate,
      `is valid from ${formatTimestamp(from)} on: set the clock right, or wait`,
    );
  parse('certificate', files.certificate, () => createSecureContext({ cert, key })); // what TLS itself finds too weak
  return { cert, key, endsAt: to };
}

type Part = 'certificate' | 'key';

const UNREADABLE: Record<string, string> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder; name the file in it',
  EACCES: 'may not be read by this account',
};

function unfit(part: Part, file: string, problem: string): KeyPairUnfit {
  return new KeyPairUnfit(`tls.${part}: ${file} ${problem}`);
}

function read(part: Part, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code!;
    throw unfit(part, file, UNREADABLE[code] ?? `cannot be read (${code})`);
  }
}

/** Takes what a file holds, or says that it cannot be used; of the reason its code alone, since the rest may quote the file. */
function parse<T>(part: Part, file: string, take: () => T): T {
  try {
    return take();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = part === 'key' ? 'private key without a passphrase' : 'certificate that can be used';
    throw unfit(part, file, `holds no ${what}${code ? ` (${code})` : ''}: it must be PEM`);
  }
}
