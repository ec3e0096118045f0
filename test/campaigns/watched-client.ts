// Looks at every answer that a campaign's clients get: its time, its status, and that no refusal has another shape than promised.
import { setTimeout as delay } from 'node:timers/promises';
import { awakeMs } from '../support/awake.ts';
import type { LoadAnswer, LoadClient } from '../support/load-client.ts';

/** No request waits for longer, whatever breaks: then there is an answer, or the connection is gone. */
export const ANSWERED_WITHIN_MS = 10_000;
/** Refusals that may meet anybody: the node or its store is not there for now, or takes no more for now. */
const MAY_COME_AGAIN = new Map([
  [503, 'unavailable'],
  [429, 'rate_limited'],
]);

export class Watch {
  /** How many answers there were of each status; `none` where the connection broke. */
  readonly statuses: Record<string, number> = {};
  /** What must not be, in words. */
  readonly faults: string[] = [];
  slowestMs = 0;

  /** The same client, watched; `pauseMs` pass before each request. */
  over(client: LoadClient, pauseMs: number): LoadClient {
    const watched = async (path: string, send: () => Promise<LoadAnswer | undefined>) => {
      await delay(pauseMs);
      const begun = awakeMs();
      const answer = await send();
      this.#look(path, answer, awakeMs() - begun);
      return answer;
    };
    return {
      post: (path, body, key) => watched(path, () => client.post(path, body, key)),
      get: (path) => watched(path, () => client.get(path)),
      close: () => client.close(),
    };
  }

  #look(path: string, answer: LoadAnswer | undefined, ms: number): void {
    const status = answer?.status ?? 'none';
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    this.slowestMs = Math.max(this.slowestMs, ms);
    if (ms > ANSWERED_WITHIN_MS) this.faults.push(`${path} took ${Math.round(ms)} ms, then ${status}`);
    if (answer && answer.status >= 500 && answer.status !== 503)
      this.faults.push(`${path} answered ${answer.status}: ${answer.text}`);
    const code = MAY_COME_AGAIN.get(answer?.status ?? 0);
    if (code && path.startsWith('/v1/') && codeOf(answer!.text) !== code)
      this.faults.push(`${path} answered ${answer!.status} in another shape: ${answer!.text}`);
  }
}

function codeOf(text: string): string | undefined {
  try {
    return JSON.parse(text).error.code;
  } catch {
    return undefined;
  }
}
