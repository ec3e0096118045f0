// Calls an address as any client would, for the checks of what an installation shows to others.
import { SECOND_MS } from '../../lib/time.ts';

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
