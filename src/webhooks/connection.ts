// Connects to the server of a webhook: resolves its name once, checks every address, and hands over a socket that is verified.
import { constants } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';
import { counted } from '../lib/text.ts';
import { DAY_MS } from '../lib/time.ts';
import { isLoopbackHost } from '../lib/web-address.ts';
import { type AddressRules, isPublicAddress, mayConnect } from './addresses.ts';

const CONNECT_MS = 5000;
/** Delay before the next of several addresses is tried as well. */
const NEXT_ADDRESS_MS = 1000;
const DNS_QUERY_MS = 1500;
const DNS_TRIES = 2;
/** A name server may answer with thousands. */
const ADDRESSES_MAXIMUM = 32;

/** Resolves a host name to IP addresses. Throws `AttemptFailure` where it has none. */
export type LookUp = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/** A failed attempt whose reason may be shown. `message` is a sentence without its full stop. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
}

/**
 * Aborts its signal with an `AttemptFailure` after some time, and with the reason of `signal` when that is aborted, until it is disposed.
 * It is no signal of `AbortSignal.any`: Node keeps such a one for ever once it has a listener, with all that the listener holds.
 */
export class Deadline implements Disposable {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  readonly #timer: NodeJS.Timeout;
  readonly #outer: AbortSignal | undefined;
  readonly #abort = () => this.#controller.abort(this.#outer?.reason);

  constructor(ms: number, message: string, signal?: AbortSignal) {
    this.#timer = setTimeout(() => this.#controller.abort(new AttemptFailure(message)), ms);
    this.#outer = signal;
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#abort);
  }
}

/** The same for a name that does not exist: a webhook must not reveal which names a private network has. */
const NOT_PUBLIC = 'does not lead to public addresses';

/** What failures of a look-up mean, by the codes of c-ares. */
const LOOK_UP_REASONS: Record<string, string> = {
  ENOTFOUND: NOT_PUBLIC,
  ENODATA: NOT_PUBLIC,
  ETIMEOUT: 'could not be resolved in time',
};

/**
 * Asks these name servers (`192.0.2.1:53`), by default those of this machine. Not `dns.lookup`: it takes a thread of the pool for each
 * name until it is answered, and the same four threads flush the database. So /etc/hosts does not count; `localhost` is this machine
 * (RFC 6761).
 */
export function lookUpAt(nameServers?: readonly string[]): LookUp {
  return async (hostname, signal) => {
    const literal = hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) !== 0) return [literal];
    if (isLoopbackHost(hostname)) return ['127.0.0.1', '::1'];
    const resolver = new Resolver({ timeout: DNS_QUERY_MS, tries: DNS_TRIES });
    if (nameServers) resolver.setServers(nameServers);
    signal.addEventListener('abort', () => resolver.cancel(), { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    // A name may have no address of one family. That it has none of both is reported only if nothing else failed.
    const codes = answers.map((answer) =>
      answer.status === 'rejected' ? String(answer.reason.code) : 'ENODATA',
    );
    const code = codes.find((one) => one !== 'ENODATA') ?? 'ENODATA';
    const what = LOOK_UP_REASONS[code] ?? 'could not be resolved: its name server failed';
    throw new AttemptFailure(`The name ${hostname} ${what}`);
  };
}

/** The addresses of a name, all of which may be connected to. Throws `AttemptFailure` where one of them may not. */
async function checkedAddresses(
  url: URL,
  rules: AddressRules,
  lookUp: LookUp,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const addresses = await lookUp(url.hostname, signal);
  if (addresses.length > ADDRESSES_MAXIMUM)
    throw new AttemptFailure(`The name ${url.hostname} has more than ${ADDRESSES_MAXIMUM} addresses`);
  // A public address beside a private one is refused too: which of them is connected to would be chance.
  if (addresses.length === 0 || !addresses.every((address) => mayConnect(address, rules)))
    throw new AttemptFailure(`The name ${url.hostname} ${NOT_PUBLIC}`);
  if (url.protocol === 'http:' && !rules.allowHttp && addresses.some(isPublicAddress))
    throw new AttemptFailure('Plain http is not sent to a public address: use https');
  return addresses;
}

/** Waits for an event of a socket. Rejects with its error, and destroys it when the signal is aborted. */
function happens(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => socket.destroy(signal.reason);
    const settle = (done: () => void) => {
      signal.removeEventListener('abort', abort);
      done();
    };
    socket.once(event, () => settle(resolve));
    socket.once('error', (error) => settle(() => reject(error)));
    socket.once('close', () => settle(() => reject(new AttemptFailure('Your server closed the connection'))));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

/** Connects to one of the checked addresses: no second look-up, because `lookup` answers with them. */
async function connectDirectly(
  url: URL,
  addresses: readonly string[],
  rules: AddressRules,
  signal: AbortSignal,
) {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  const socket = connect({
    host: url.hostname,
    port: portOf(url),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    lookup: (_name, options, answer) =>
      options.all ? answer(null, all) : answer(null, all[0]!.address, all[0]!.family),
  });
  await happens(socket, 'connect', signal);
  if (mayConnect(socket.remoteAddress ?? '', rules)) return socket;
  socket.destroy();
  throw new AttemptFailure('The connection led to an address that is not public');
}

/** Asks the operator's proxy for a tunnel to the first checked address. */
function connectThroughProxy(url: URL, address: string, proxy: URL, signal: AbortSignal): Promise<Socket> {
  const path = `${isIP(address) === 6 ? `[${address}]` : address}:${portOf(url)}`;
  const credentials = Buffer.from(
    `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`,
  );
  const headers = {
    host: path,
    ...(proxy.username && { 'proxy-authorization': `Basic ${credentials.toString('base64')}` }),
  };
  const send = proxy.protocol === 'https:' ? tlsRequest : plainRequest;
  const { hostname, port } = proxy;
  return new Promise((resolve, reject) => {
    const request = send({ hostname, port, method: 'CONNECT', path, headers, agent: false, signal });
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket as Socket);
      socket.destroy();
      reject(new AttemptFailure(`The proxy for webhooks refused the connection with ${response.statusCode}`));
    });
    request.once('response', (response) => {
      response.destroy();
      reject(new AttemptFailure(`The proxy for webhooks answered ${response.statusCode}`));
    });
    request.once('error', (error) =>
      reject(
        signal.aborted
          ? signal.reason
          : new AttemptFailure(
              `The proxy for webhooks failed: ${(error as NodeJS.ErrnoException).code ?? error.name}`,
            ),
      ),
    );
    request.end();
  });
}

/**
 * Speaks TLS and verifies the certificate. The handshake itself refuses nothing, because Node forgets the certificate of a refused
 * handshake, and its dates are to be shown. Nothing is sent before `authorized` is true.
 */
async function secured(
  socket: Socket,
  hostname: string,
  now: number,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const secure = connectTls({
    socket,
    servername: hostname,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: false,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION, // a server could ask for handshakes without end
  });
  await happens(secure, 'secureConnect', signal);
  if (secure.authorized) return secure;
  const reason = certificateFault(
    String(secure.authorizationError),
    secure.getPeerCertificate(),
    hostname,
    now,
  );
  secure.destroy();
  throw new AttemptFailure(reason);
}

/** What is wrong with a certificate, from OpenSSL's or Node's code for it. */
function certificateFault(code: string, certificate: PeerCertificate, hostname: string, now: number): string {
  const expired = Math.floor((now - Date.parse(certificate.valid_to)) / DAY_MS);
  if (code.includes('CERT_HAS_EXPIRED'))
    return `The certificate expired ${expired < 1 ? 'today' : `${counted(expired, 'day')} ago`}`;
  if (code.includes('CERT_NOT_YET_VALID'))
    return `The certificate is valid only from ${certificate.valid_from}`;
  if (code.includes('ALTNAME_INVALID')) return `The certificate is not for ${hostname}`;
  if (code.includes('SELF_SIGNED'))
    return 'The certificate is signed by itself or by an authority that is not known';
  if (code.includes('UNABLE_TO'))
    return 'The certificate does not lead to a known authority: send the intermediate ones too';
  return `The certificate is refused: ${code}`;
}

const portOf = (url: URL) => Number(url.port || (url.protocol === 'https:' ? 443 : 80));

interface CheckedConnection {
  socket: Socket;
  /** Whether every address of the name is public. The replies of private servers are not shown. */
  isPublic: boolean;
}

/**
 * Connects within 5 seconds, the name's look-up included. Takes a URL that `checkUrl` accepts; `now` (milliseconds since 1970) is for
 * telling a certificate's age. Throws `AttemptFailure`, the error of a socket or of the look-up, or the reason of `signal`.
 */
export async function connectChecked(
  url: URL,
  rules: AddressRules,
  lookUp: LookUp,
  now: number,
  signal: AbortSignal,
): Promise<CheckedConnection> {
  using deadline = new Deadline(
    CONNECT_MS,
    `No connection to ${url.host} within ${CONNECT_MS / 1000} s`,
    signal,
  );
  const limit = deadline.signal;
  const aborted = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(limit.reason), { once: true });
  });
  aborted.catch(() => {}); // raced only while the name is looked up
  const addresses = await Promise.race([checkedAddresses(url, rules, lookUp, limit), aborted]);
  limit.throwIfAborted();
  const socket = rules.proxy
    ? await connectThroughProxy(url, addresses[0]!, new URL(rules.proxy), limit)
    : await connectDirectly(url, addresses, rules, limit);
  const isPublic = addresses.every(isPublicAddress);
  if (url.protocol === 'http:') return { socket, isPublic };
  return { socket: await secured(socket, url.hostname, now, limit), isPublic };
}
