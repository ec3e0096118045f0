// HTTP/1.1 by hand over a socket of its own: sends what clients refuse to send, and reads what they would tidy up.
import { connect } from 'node:net';

/** A request before it is bytes. Host, Content-Length and Connection are added when it is encoded. */
export interface WireRequest {
  method: string;
  path: string;
  headers: readonly (readonly [string, string])[];
  body: Buffer | undefined;
}

export interface WireAnswer {
  status: number;
  /** Names in lower case, in the order they came. */
  headers: Map<string, string>;
  body: string;
}

/** The request as bytes, asking for the connection to be closed behind the answer. */
export function encodeRequest(request: WireRequest): Buffer {
  const { method, path, headers, body } = request;
  const length = body === undefined ? [] : [['Content-Length', String(body.length)] as const];
  const lines = [['Host', 'pay.test'], ...headers, ...length, ['Connection', 'close']].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = [
    Buffer.from(`${method} ${path} HTTP/1.1\r\n`),
    Buffer.from(`${lines.join('')}\r\n`, 'latin1'),
  ];
  return Buffer.concat(body === undefined ? head : [...head, body]);
}

/**
 * Sends bytes to a loopback port and answers with all that came back until the server closed. `hangUpAfterMs`, where it is not 0: when
 * nothing has come for so long, this end is closed, as a client does that has said all it had to say.
 */
export function exchange(port: number, bytes: Uint8Array, hangUpAfterMs = 0): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    socket.setTimeout(hangUpAfterMs, () => socket.end());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => socket.end());
    // A reset ends the exchange as well: the server may cut one whose rest it does not want to read.
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(chunks)));
    socket.write(bytes);
  });
}

/** Reads the answers in `bytes`, interim ones (1xx) left out. Throws where they are not well-formed HTTP. */
export function parseAnswers(bytes: Buffer): WireAnswer[] {
  const answers: WireAnswer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at);
    const [statusLine, ...lines] = bytes.toString('latin1', at, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) [\w -]*$/.exec(statusLine!)?.[1]);
    if (end === -1 || !status)
      throw new Error(`not an HTTP answer: ${bytes.toString('latin1', at, at + 200)}`);
    at = end + 4;
    if (status < 200) continue;
    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(': ');
      const name = line.slice(0, colon).toLowerCase();
      if (colon < 1 || headers.has(name)) throw new Error(`a header malformed or given twice: ${line}`);
      headers.set(name, line.slice(colon + 2));
    }
    const length = Number(headers.get('content-length'));
    if (!Number.isInteger(length)) throw new Error(`an answer without its length: ${[...headers.keys()]}`);
    // To HEAD the length is told and the body left out.
    const hasBody = at < bytes.length && bytes.toString('latin1', at, at + 9) !== 'HTTP/1.1 ';
    const body = hasBody ? bytes.subarray(at, at + length) : Buffer.alloc(0);
    if (hasBody && body.length !== length)
      throw new Error(`a body cut short: ${body.length} of ${length} bytes`);
    at += body.length;
    answers.push({ status, headers, body: body.toString() });
  }
  return answers;
}
