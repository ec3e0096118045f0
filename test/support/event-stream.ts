// A client of GET /v1/events/stream: holds what arrived, and waits for more.
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Harness, KEY } from './harness.ts';
import { eventually } from './waiting.ts';

const MOMENT_MS = 100;

/** An event as it was sent, and when it arrived. */
export interface Arrived {
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events freely and say what they expect there
  data: any;
  /** Milliseconds since 1970. */
  at: number;
}

interface StreamOptions {
  key?: string;
  headers?: Record<string, string>;
}

export class StreamClient {
  readonly events: Arrived[] = [];
  readonly comments: string[] = [];
  /** The id that came before the first event. */
  position: string | undefined;
  status: number | undefined;
  headers: IncomingMessage['headers'] = {};
  /** All that came and is no whole block yet; for an error, its body. */
  text = '';
  isEnded = false;
  /** Whether the server ended its answer, and did not cut it. */
  isWhole = false;
  readonly #request: ClientRequest;
  #response: IncomingMessage | undefined;

  /** `query` begins with `?` if it is not empty. */
  constructor(origin: string, query = '', { key = KEY, headers = {} }: StreamOptions = {}) {
    this.#request = request(`${origin}/v1/events/stream${query}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
      agent: false,
    });
    this.#request.on('error', () => {
      this.isEnded = true;
    });
    this.#request.on('response', (response) => {
      this.#response = response;
      this.status = response.statusCode;
      this.headers = response.headers;
      response.setEncoding('utf8').on('data', (text: string) => this.#take(text));
      response.on('error', () => {});
      response.on('close', () => {
        this.isEnded = true;
        this.isWhole = response.complete;
      });
    });
    this.#request.end();
  }

  #take(text: string): void {
    this.text += text;
    if (this.status !== 200) return;
    const blocks = this.text.split('\n\n');
    this.text = blocks.pop()!;
    for (const block of blocks) {
      const [, comment, id, data] = /^(?:(retry.*)\n)?id: (.*)(?:\ndata: (.*))?$/.exec(block) ?? [];
      if (data === undefined) this.comments.push(comment ?? block);
      if (data === undefined) this.position ??= id;
      else this.events.push({ id: id!, data: JSON.parse(data), at: Date.now() });
    }
  }

  /** All that came behind the headers. */
  get whole(): string {
    return [...this.comments, ...this.events.map(({ data }) => JSON.stringify(data)), this.text].join('\n');
  }

  /** Stops reading; the connection stays. */
  pause(): void {
    this.#response!.pause();
  }

  resume(): void {
    this.#response!.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  /** Waits until so many events have arrived. */
  async heard(count: number): Promise<void> {
    await eventually(
      () => this.events.length >= count,
      () => `${this.events.length} of ${count} events`,
    );
  }

  /** What the events are about and say, short. */
  get told(): string[] {
    return this.events.map(({ data }) => `${data.type} ${data.data.payment_id}`);
  }
}

/** Opens a stream and waits for its beginning, or for its refusal. */
export async function openStream(
  { origin }: Pick<Harness, 'origin'>,
  query?: string,
  options?: StreamOptions,
): Promise<StreamClient> {
  const client = new StreamClient(origin, query, options);
  await eventually(() => client.comments.length > 0 || client.isEnded);
  return client;
}

/** Listens to a stream for a moment. Returns what came as if it were a whole answer. */
export async function beginningOf(
  { origin }: Pick<Harness, 'origin'>,
  path: string,
  key: string,
): Promise<Answer> {
  const client = await openStream({ origin }, path.replace(/^[^?]*/, ''), { key });
  if (!client.isEnded) await sleep(MOMENT_MS);
  client.close();
  const { status, headers, whole } = client;
  const fields = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]);
  const json = status === 200 ? undefined : JSON.parse(whole);
  return { status: status!, headers: new Headers(fields), text: whole, json };
}
