// Where letters lie in development as long as no mail server is set: in memory, for /dev/mail, with a line in the log.
import type { Logger } from '../lib/log.ts';
import { type AttemptAnswer, isSendable, type MailTransport, type Message } from './message.ts';

const KEPT = 50;
export const DEV_MAIL_PATH = '/dev/mail';

export class DevMail implements MailTransport {
  readonly #log: Pick<Logger, 'info'>;
  readonly #url: string;
  #kept: readonly Message[] = [];

  /** `url`: where the letters are seen. */
  constructor(log: Pick<Logger, 'info'>, url: string) {
    this.#log = log;
    this.#url = url;
  }

  /** The newest first. */
  get kept(): readonly Message[] {
    return this.#kept;
  }

  takes(address: string): boolean {
    return isSendable(address);
  }

  async send(message: Message): Promise<AttemptAnswer> {
    this.#kept = [message, ...this.#kept.slice(0, KEPT - 1)];
    this.#log.info({ letter: message.id, at: this.#url }, 'a letter lies at /dev/mail');
    return { is: 'sent', words: `See it at ${this.#url}` };
  }
}
