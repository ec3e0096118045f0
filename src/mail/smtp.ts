// How letters leave: by one SMTP server (RFC 5321), a letter on a connection of its own, and what its answer means for the letter.
import { format } from 'node:util';
import type { SendMailOptions } from 'nodemailer';
import { harmlessText } from '../lib/text.ts';
import { SECOND_MS } from '../lib/time.ts';
import { isLoopbackHost } from '../lib/web-address.ts';
import { LOGO_ID } from './letters/markup.ts';
import {
  ATTEMPT_MS,
  type AttemptAnswer,
  headerText,
  isReserved,
  isSendable,
  type MailTransport,
  type Message,
  type SendOptions,
  UNREACHABLE,
} from './message.ts';

/** How a mail server is reached. */
export interface MailServer {
  host: string;
  port: number;
  /** `starttls` and `implicit` never send in the clear. */
  tls: 'starttls' | 'implicit' | 'none';
  user: string | null;
  password: string | null;
  /** Where letters come back to; null for the address that they are from. */
  bounces: string | null;
  /** What this program calls itself (EHLO). If undefined, the name of the machine, which some servers refuse unless it is a full one. */
  name?: string;
}

const CONNECTION_MS = 10 * SECOND_MS;
/** Servers make strangers wait for their greeting, and look through a letter before they take it: if given up then, it would come twice. */
const SILENCE_MS = 30 * SECOND_MS;
const WORDS_MAXIMUM = 500;

/** What failures of a connection mean, by the codes of Node and of the library. */
const REASONS: Record<string, string> = {
  EDNS: 'The name of the mail server is not known',
  ENOTFOUND: 'The name of the mail server is not known',
  ECONNREFUSED: 'The mail server refused the connection',
  ETIMEDOUT: 'The mail server did not answer in time',
  EABORT: 'The mail server did not answer in time',
  ETLS: 'The mail server and this program cannot agree on TLS',
  ESOCKET: 'The connection to the mail server was lost',
  ECONNECTION: 'The connection to the mail server was lost',
};

/** Codes of the library that name no cause: its own message does, such as that a certificate has expired. */
const VAGUE = ['ETLS', 'ESOCKET', 'ECONNECTION'];

interface SmtpError extends Error {
  code?: string;
  /** Of Node, where `code` is the library's. */
  originalCode?: string;
  command?: string;
  responseCode?: number;
  response?: string;
}

export class SmtpTransport implements MailTransport {
  readonly #server: MailServer;
  readonly #attemptMs: number;
  readonly #isHere: boolean;

  /** An attempt that takes longer than `attemptMs` loses its connection, so that its letter cannot leave later. */
  constructor(server: MailServer, attemptMs = ATTEMPT_MS) {
    this.#server = server;
    this.#attemptMs = attemptMs;
    this.#isHere = server.host === '::1' || isLoopbackHost(server.host);
  }

  /** A server on this machine may know names of its own. Any other would have such a letter come back, which counts against the sender. */
  takes(address: string): boolean {
    return isSendable(address) && (this.#isHere || !isReserved(address));
  }

  async send(message: Message, { trace, signal: ended }: SendOptions = {}): Promise<AttemptAnswer> {
    if (!this.takes(message.to)) return { is: 'failed', words: UNREACHABLE };
    const connection = await this.#connection(trace);
    const tooLong = AbortSignal.timeout(this.#attemptMs);
    const signal = ended ? AbortSignal.any([tooLong, ended]) : tooLong;
    const options: SendMailOptions & { signal: AbortSignal } = {
      ...optionsOf(message, this.#server.bounces),
      signal,
    };
    return connection
      .sendMail(options)
      .then(({ response }): AttemptAnswer => ({ is: 'sent', words: shortened(response) }), judged)
      .finally(() => connection.close());
  }

  /** Connects, signs in and disconnects. Returns the fault, or undefined. */
  async look(): Promise<string | undefined> {
    const connection = await this.#connection();
    try {
      await connection.verify();
      return undefined;
    } catch (error) {
      return judged(error as SmtpError).words;
    } finally {
      connection.close();
    }
  }

  async #connection(trace?: (line: string) => void) {
    // Loaded when the first letter leaves: it takes a start a fifth of a second.
    const { createTransport } = await import('nodemailer');
    const { host, port, tls, user, password, name } = this.#server;
    return createTransport({
      ...(name !== undefined && { name }),
      ...{
        host,
        port,
        secure: tls === 'implicit',
        requireTLS: tls === 'starttls',
        ignoreTLS: tls === 'none',
      },
      ...(user !== null && { auth: { user, pass: password ?? '' } }),
      ...{ connectionTimeout: CONNECTION_MS, greetingTimeout: SILENCE_MS, socketTimeout: SILENCE_MS },
      ...{ disableFileAccess: true, disableUrlAccess: true },
      ...(trace && { logger: tracer(trace), debug: true }),
    });
  }
}

/** The letter as the library takes it. Addresses are values, so that it parses none. */
function optionsOf(message: Message, bounces: string | null): SendMailOptions {
  const { id, from, to, replyTo, subject, html, text, logo, unsubscribeUrl, at } = message;
  return {
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    date: new Date(at),
    envelope: { from: bounces ?? from.address, to: [to] },
    // RFC 3461, where the server knows it: a report of what was not delivered names the letter.
    ...(bounces !== null && { dsn: { id, return: 'headers', notify: ['failure'], recipient: to } }),
    from: { name: headerText(from.name), address: from.address },
    to: { name: '', address: to },
    ...(replyTo !== null && isSendable(replyTo) && { replyTo: { name: '', address: replyTo } }),
    subject: headerText(subject),
    ...{ html, text },
    ...(logo && {
      attachments: [{ cid: LOGO_ID, content: logo.bytes, contentType: logo.type, filename: 'logo' }],
    }),
    headers: {
      // RFC 3834: no program answers it.
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribeUrl !== null && {
        'List-Unsubscribe': { prepared: true, value: `<${unsubscribeUrl}>` },
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
  };
}

const shortened = (words: string) => harmlessText(words).trim().slice(0, WORDS_MAXIMUM);

/** What a failure says of the letter. Only what the server says of its recipient or of its text is about the letter. */
function judged(error: SmtpError): AttemptAnswer {
  const { command = '', responseCode, response } = error;
  const words = shortened(response ?? reasonOf(error));
  const isAboutLetter = responseCode !== undefined && /^(RCPT TO|DATA)/.test(command);
  if (!isAboutLetter) return { is: 'away', words };
  return { is: responseCode >= 500 ? 'failed' : 'later', words };
}

function reasonOf({ code = '', originalCode = '', message }: SmtpError): string {
  const reason = REASONS[originalCode] ?? REASONS[code];
  if (reason === undefined) return message || `The attempt failed: ${code}`;
  return VAGUE.includes(code) && !Object.hasOwn(REASONS, originalCode) ? `${reason}: ${message}` : reason;
}

/** Hands each line of the conversation on; the library leaves out passwords, and what is said of a letter's own text is left out here. */
function tracer(trace: (line: string) => void) {
  const marks: Record<string, string> = { server: '<', client: '>', network: '·', smtp: '·' };
  const hear = ({ tnx = '' }: { tnx?: string }, ...parts: unknown[]) => {
    if (Object.hasOwn(marks, tnx)) trace(`${marks[tnx]} ${harmlessText(format(...parts)).trim()}`);
  };
  const silent = () => {};
  return { level: silent, trace: silent, debug: hear, info: hear, warn: hear, error: hear, fatal: hear };
}
