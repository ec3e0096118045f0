// What a server's answers promised: which payments must be there, as they were told, after a power cut at any step.

import type { Step } from './power-cut-log.ts';
import type { Recovered } from './recovery.ts';

interface State {
  /** The step at which somebody was first told of it. */
  told: number;
  /** The payment as JSON text. */
  payment: string;
}

interface Kept {
  told: number;
  /** The whole answer to an idempotency key. */
  body: string;
}

export class Answers {
  /** Every state that each payment was ever told to be in, in order. */
  readonly #states = new Map<string, State[]>();
  readonly #kept: Kept[] = [];

  constructor(steps: readonly Step[]) {
    /** Payments whose customer was told that it is sent, and whose state by then is told later. */
    const sent = new Map<string, number>();
    for (const [step, { kind, bytes }] of steps.entries()) {
      if (kind !== 'answer') continue;
      const [head, body] = bytes.toString().split('\r\n\r\n') as [string, string];
      const [, status, type] = /^HTTP\/1\.1 (\d+) [\s\S]*?\r\ncontent-type: (\S+);/.exec(head)!;
      if (status === '303') sent.set(/payment_id=(\w+)/.exec(head)![1]!, step);
      if (!status!.startsWith('2') || type !== 'application/json') continue;
      const payment = /^\{"data":(.*)\}$/s.exec(body)![1]!;
      const { id, metadata } = JSON.parse(payment);
      const states = this.#states.get(id) ?? [];
      this.#states.set(id, [...states, { told: sent.get(id) ?? step, payment }]);
      sent.delete(id);
      if (status === '201' && metadata.keyed) this.#kept.push({ told: step, body });
    }
  }

  /**
   * Takes what the store held when all was done. A change that no answer tells of was under way until then, and may be found whole:
   * its server was killed as the answer left, before that was written down. Returns how many there are.
   */
  end({ payments }: Recovered): number {
    let untold = 0;
    for (const [id, payment] of payments) {
      const states = this.#states.get(id) ?? [];
      if (states.at(-1)?.payment === payment) continue;
      this.#states.set(id, [...states, { told: Number.POSITIVE_INFINITY, payment }]);
      untold++;
    }
    return untold;
  }

  /** The steps at which an answer left. */
  get steps(): number[] {
    return [...this.#states.values()].flat().flatMap(({ told }) => (Number.isFinite(told) ? [told] : []));
  }

  /** Payments of a store that nobody was ever told of. */
  strangers({ payments }: Recovered): string[] {
    return [...payments.keys()].filter((id) => !this.#states.has(id)).map((id) => `nobody created ${id}`);
  }

  /** What is missing from a store that was found after a power cut behind step `cut`, or is another than what was told. */
  losses({ payments, answers }: Recovered, cut: number): string[] {
    const losses: string[] = [];
    for (const [id, states] of this.#states) {
      const found = payments.get(id);
      const known = states.findLastIndex(({ told }) => told <= cut);
      if (found === undefined && known < 0) continue;
      // What was under way may be done, whole; what was told stays.
      if (!states.slice(Math.max(0, known)).some(({ payment }) => payment === found))
        losses.push(`${id}, told ${states[known]?.payment ?? 'nothing'}, is ${found ?? 'gone'}`);
    }
    for (const { told, body } of this.#kept)
      if (told <= cut && !answers.has(body)) losses.push(`a stored response is gone: ${body}`);
    return losses;
  }
}
