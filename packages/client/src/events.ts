// Events: read once, listed behind a cursor, and streamed as they happen.

import { ConnectionError, CounterfoilError } from './errors.ts';
import { allOf } from './list.ts';
import type { ListEventsQuery, StreamEventsQuery } from './requests.ts';
import type { EventList } from './routes.ts';
import type { Event } from './schemas.ts';
import { blocksOf } from './stream.ts';
import { type CallOptions, isPassing, pause, pauseMs, type Transport } from './transport.ts';

const STREAM = 'GET /v1/events/stream';

export class Events {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async read(id: string, options?: CallOptions): Promise<Event> {
    return (await this.#transport.call('GET /v1/events/{event_id}', { ...options, id })).data;
  }

  /**
   * The events there are, oldest first, each once. Store the `id` of the last one that you handled, and hand it in as `after` the next
   * time: then none is missed.
   */
  list(query: Omit<ListEventsQuery, 'limit'> = {}, options?: CallOptions): AsyncGenerator<Event> {
    return allOf(({ limit, cursor = query.after }) => this.page({ ...query, limit, after: cursor }, options));
  }

  /** One page of the list, with its cursor. */
  page(query: ListEventsQuery = {}, options?: CallOptions): Promise<EventList> {
    return this.#transport.call('GET /v1/events', { ...options, query });
  }

  /**
   * Events as they happen, each within a second, for ever: a connection that breaks is made again and goes on behind the last event.
   * It begins behind `after`; without it, with what happens once the first connection stands. `break` and the signal end it. Throws
   * `ApiError` where the service refuses, such as a key that was revoked.
   */
  async *stream(
    query: StreamEventsQuery = {},
    { signal }: Pick<CallOptions, 'signal'> = {},
  ): AsyncGenerator<Event, void, undefined> {
    let last = query.after;
    for (let failures = 0; !signal?.aborted; ) {
      const open = new AbortController();
      const stop = () => open.abort();
      signal?.addEventListener('abort', stop, { once: true });
      let error: unknown = new ConnectionError('the stream ended');
      try {
        const headers = { accept: 'text/event-stream' };
        const response = await this.#transport.open(
          STREAM,
          { query: { ...query, after: last }, headers },
          open,
        );
        for await (const { id, data } of blocksOf(response.body!, stop)) {
          last = id ?? last;
          if (data === undefined) continue;
          failures = 0;
          yield JSON.parse(data) as Event;
          if (signal?.aborted) return;
        }
      } catch (failure) {
        if (failure instanceof CounterfoilError) error = failure; // anything else is what a connection ended with
      } finally {
        signal?.removeEventListener('abort', stop);
        stop();
      }
      if (signal?.aborted) return;
      if (!isPassing(error, STREAM)) throw error;
      await pause(pauseMs(error, failures++), signal).catch(() => {});
    }
  }
}
