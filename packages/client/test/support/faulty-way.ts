// A way to the service on which requests and answers are lost, as a test or chance chooses for each request.
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Harness, KEY } from '../../../../test/support/harness.ts';
import { LONGER_THAN_A_TEST_MS } from '../../../../test/support/waiting.ts';
import { Counterfoil } from '../../src/index.ts';
import type { ClientOptions } from '../../src/transport.ts';

/**
 * What becomes of a request:
 * - `cut before`: the connection is cut, and the service hears nothing of it
 * - `cut after`: the service does it, and the connection is cut in the place of its answer
 * - `cut within`: the same, amid the answer's body
 * - `half an answer`: the same, and the answer ends as if it were whole, as a proxy may pass it on
 * - `503 before`, `429`: answered by the way itself, before the service hears of it
 * - `503 after`: the service does it, and 503 is said in the place of its answer
 * - `502 page`: the same with the page of a proxy
 * - `slow`: the answer comes late
 */
export const FAULTS = [
  'cut before',
  'cut after',
  'cut within',
  'half an answer',
  '503 before',
  '503 after',
  '429',
  '502 page',
  'slow',
] as const;
export type Fault = (typeof FAULTS)[number] | 'none';

const SLOW_MS = 30;

/** A request as it came to the way, and what became of it. */
export interface Passed {
  /** `POST /v1/payments` */
  route: string;
  headers: IncomingMessage['headers'];
  fault: Fault;
  /** Milliseconds on a monotonic clock. */
  at: number;
}

const ENVELOPES = {
  503: { error: { code: 'unavailable', message: 'The service cannot take this request now.' } },
  429: { error: { code: 'rate_limited', message: 'Too many requests.' } },
};

export class FaultyWay {
  /** What becomes of the next request. */
  choose: (route: string) => Fault = () => 'none';
  /** Cuts an answer that is streamed before this many blocks of it; undefined lets it run. */
  cutsBeforeBlock: number | undefined;
  /** Seconds that 429 and 503 ask for. */
  retryAfter: string | undefined;
  readonly passed: Passed[] = [];
  /** Answers that are streamed now. */
  streams = 0;
  readonly #harness: Pick<Harness, 'origin'>;
  readonly #server: Server;

  private constructor(harness: Pick<Harness, 'origin'>) {
    this.#harness = harness;
    this.#server = createServer((request, response) => {
      this.#take(request, response).catch(() => request.socket.destroy());
    });
    this.#server.keepAliveTimeout = LONGER_THAN_A_TEST_MS; // as that of a harness
  }

  static async to(harness: Pick<Harness, 'origin'>): Promise<FaultyWay> {
    const way = new FaultyWay(harness);
    way.#server.listen(0, '127.0.0.1');
    await once(way.#server, 'listening');
    return way;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A client whose requests take this way, and have all the time that a test has where it does not say otherwise. */
  client(options: Partial<ClientOptions> = {}): Counterfoil {
    return new Counterfoil({ key: KEY, baseUrl: this.origin, timeoutMs: LONGER_THAN_A_TEST_MS, ...options });
  }

  /** The next requests suffer these faults, one each, and those after them none. Forgets what passed. */
  suffer(...faults: Fault[]): void {
    this.passed.length = 0;
    this.choose = () => faults.shift() ?? 'none';
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = `${request.method} ${request.url}`;
    const fault = this.choose(route);
    this.passed.push({ route, headers: request.headers, fault, at: performance.now() });
    const body = Buffer.concat(await request.toArray());
    if (fault === 'cut before') return void request.socket.destroy();
    if (fault === '503 before') return this.#say(response, 503);
    if (fault === '429') return this.#say(response, 429);
    const answer = await this.#forward(request, body);
    if (answer.headers['content-type']?.startsWith('text/event-stream'))
      return this.#stream(answer, response);
    const text = Buffer.concat(await answer.toArray());
    if (fault === 'slow') await delay(SLOW_MS);
    if (fault === 'cut after') return void request.socket.destroy();
    if (fault === '503 after') return this.#say(response, 503);
    if (fault === '502 page')
      return void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    if (fault === 'half an answer') {
      const { 'content-length': _, ...headers } = answer.headers;
      return void response.writeHead(answer.statusCode!, headers).end(text.subarray(0, text.length / 2));
    }
    response.writeHead(answer.statusCode!, { ...answer.headers, 'content-length': text.length });
    if (fault !== 'cut within') return void response.end(text);
    response.write(text.subarray(0, text.length / 2), () => request.socket.destroy());
  }

  async #forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { host: _, connection: __, 'transfer-encoding': ___, ...rest } = headers;
    const forwarded = send(this.#harness.origin + url, { method, headers: rest, agent: false });
    forwarded.end(body);
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    return answer;
  }

  async #stream(answer: IncomingMessage, response: ServerResponse): Promise<void> {
    response.writeHead(answer.statusCode!, answer.headers);
    this.streams += 1;
    response.on('close', () => {
      this.streams -= 1;
      answer.destroy();
    });
    let blocks = 0;
    for await (const chunk of answer) {
      const parts = String(chunk).split(/(?<=\n\n)/);
      for (const part of parts) {
        if (
          part.startsWith('id:') &&
          this.cutsBeforeBlock !== undefined &&
          blocks++ === this.cutsBeforeBlock
        ) {
          response.write(part.slice(0, part.length / 2), () => response.destroy()); // amid a block
          return;
        }
        response.write(part);
      }
    }
    response.end();
  }

  #say(response: ServerResponse, status: 429 | 503): void {
    const retry = this.retryAfter === undefined ? {} : { 'retry-after': this.retryAfter };
    response.writeHead(status, { 'content-type': 'application/json', ...retry });
    response.end(JSON.stringify(ENVELOPES[status]));
  }
}
