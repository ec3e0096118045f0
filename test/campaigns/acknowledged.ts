// What a campaign's clients were promised up to a moment: payments with their statuses, and the answers kept for their keys.
import { setTimeout as delay } from 'node:timers/promises';
import { awakeMs } from '../support/awake.ts';
import type { LoadClient } from '../support/load-client.ts';

interface KeptAnswer {
  path: string;
  body: object | undefined;
  key: string;
  text: string;
}

export class Acknowledged {
  /** The newest status that was answered of each payment. */
  readonly payments: Map<string, string>;
  readonly answers: KeptAnswer[];

  constructor(payments: ReadonlyMap<string, string> = new Map(), answers: readonly KeptAnswer[] = []) {
    this.payments = new Map(payments);
    this.answers = [...answers];
  }

  /** As it is now, while the clients go on. */
  copy(): Acknowledged {
    return new Acknowledged(this.payments, this.answers);
  }

  /** The same client, its answers remembered; it pauses before each request, and `onAnswer` is told what each took. */
  over(client: LoadClient, pauseMs: number, onAnswer: (ms: number) => void): LoadClient {
    return {
      ...client,
      post: async (path, body, key) => {
        await delay(pauseMs);
        const begun = awakeMs();
        const answer = await client.post(path, body, key);
        onAnswer(awakeMs() - begun);
        if (answer && (answer.status === 200 || answer.status === 201)) {
          const { id, status } = JSON.parse(answer.text).data;
          this.payments.set(id, status);
          if (key) this.answers.push({ path, body, key, text: answer.text });
        }
        return answer;
      },
    };
  }

  /** What a store, told by its payments' statuses, lacks of it. A payment that was pending may have been cancelled since. */
  missingFrom(stored: ReadonlyMap<string, string>): string[] {
    const isKept = ([id, status]: [string, string]) =>
      stored.get(id) === status || (status === 'pending' && stored.get(id) === 'cancelled');
    return [...this.payments].filter((one) => !isKept(one)).map(([id, status]) => `${id} ${status}`);
  }
}
