// Certificates of a moment, made by the machine's openssl; what needs them is skipped where there is none.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function hasCommand(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Whether there is an openssl to make them with. */
export const hasOpenssl = hasCommand();

export interface Certificates {
  folder: string;
  /** Makes a self-signed certificate for localhost, and gives its files. `dates`: openssl's -not_before and -not_after. */
  make(name: string, dates?: readonly string[]): { certificate: string; key: string };
  remove(): void;
}

export function temporaryCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-tls-'));
  return {
    folder,
    make(name, dates = []) {
      const files = { certificate: join(folder, `${name}.pem`), key: join(folder, `${name}-key.pem`) };
      const request = join(folder, `${name}.csr`);
      const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore', cwd: folder });
      const key = [
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        files.key,
      ];
      const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
      if (dates.length === 0)
        openssl('req', '-x509', ...key, ...subject, '-days', '30', '-out', files.certificate);
      else {
        openssl('req', '-new', ...key, ...subject, '-out', request);
        openssl('x509', '-req', '-in', request, '-signkey', files.key, ...dates, '-out', files.certificate);
      }
      return files;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
