// A letter as it leaves, what carries it, and what an attempt comes to.
import { phrase } from '../lib/phrases.ts';
import { harmlessText, isEmailAddress, textFault } from '../lib/text.ts';
import { SECOND_MS } from '../lib/time.ts';
import type { Picture } from '../merchants/particulars.ts';

/** After this an attempt is given up, wherever it is. */
export const ATTEMPT_MS = 40 * SECOND_MS;

/** A letter as it leaves. Text of other people stands in `subject`, names and bodies alone. */
export interface Message {
  /** The left part of the Message-ID. */
  id: string;
  from: { name: string; address: string };
  to: string;
  replyTo: string | null;
  subject: string;
  html: string;
  text: string;
  /** The picture that `html` calls `cid:logo`. */
  logo: Picture | null;
  /** Where the reader's mail program posts to be sent no more of these (RFC 8058); null where that is not the custom. */
  unsubscribeUrl: string | null;
  /** Milliseconds since 1970. */
  at: number;
}

/**
 * What came of an attempt. `later` and `failed` are about this letter: the server does not take it for now, or never will. `away` is about
 * the server: it is not there, or takes nothing from us.
 */
export interface AttemptAnswer {
  is: 'sent' | 'later' | 'failed' | 'away';
  /** The server's own words, or what went wrong. */
  words: string;
}

export interface SendOptions {
  /** Is handed each line of the conversation. */
  trace?: (line: string) => void;
  /** Ends the attempt and its connection. */
  signal?: AbortSignal;
}

export interface MailTransport {
  /** Whether a letter to this address leaves at all. */
  takes(address: string): boolean;
  /** Sends a letter once. Throws nothing. */
  send(message: Message, options?: SendOptions): Promise<AttemptAnswer>;
}

/** Why a letter to an address that is not taken does not leave. */
export const UNREACHABLE = phrase('The address cannot be written to');

/** Whether the library is handed an address. Nothing but a plain address is: no list, group, name or route. */
export const isSendable = (address: string): boolean =>
  isEmailAddress(address) && textFault(address, 254) === undefined;

/** Names that no mail server on the internet has: those without a dot, and those kept for tests and examples (RFC 2606, RFC 6761). */
const RESERVED = /@(?:[^.]+|(?:.*\.)?(?:localhost|invalid|test|example|example\.(?:com|net|org)))$/i;

/** Whether an address is of a name that no mail server on the internet has. */
export const isReserved = (address: string): boolean => RESERVED.test(address);

/** Text of other people as a header takes it: on one line, without what turns its direction, at most 200 characters. */
export const headerText = (text: string): string =>
  [...harmlessText(text).replace(/\s+/gu, ' ')].slice(0, 200).join('');
