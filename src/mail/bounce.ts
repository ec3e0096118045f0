// Reads the report that a mail server sends of a letter that it could not deliver (RFC 3464).
import { harmlessText } from '../lib/text.ts';
import { LETTER_ID_PREFIX } from './letter.ts';

/** Characters of a report that are read. */
const REPORT_MAXIMUM = 1_000_000;
const WORDS_MAXIMUM = 500;

/** The letter that a message reports as not delivered, and the server's words; undefined for every other message. */
export function bounceOf(message: string): { letter: string; words: string } | undefined {
  const lines = message.slice(0, REPORT_MAXIMUM).replace(/\r?\n[ \t]+/g, ' ');
  const isReport = /^Content-Type:[ \t]*multipart\/report\b.*\bdelivery-status\b/im.test(lines);
  // A server that still tries says `delayed`.
  if (!isReport || !/^Action:[ \t]*failed\b/im.test(lines)) return undefined;
  const id = `(${LETTER_ID_PREFIX}[0-9a-z]{10,60})`;
  const named = new RegExp(`^(?:Original-Envelope-Id:[ \\t]*|Message-ID:[ \\t]*<)${id}\\b`, 'im').exec(lines);
  if (!named) return undefined;
  // Between words of one line alone: `\s` also takes line ends, and two runs of it beside each other take quadratic time.
  const said =
    /^Diagnostic-Code:[ \t]*(?:[\w-]+[ \t]*;)?[ \t]*(.+)$/im.exec(lines) ??
    /^Status:[ \t]*(.+)$/im.exec(lines);
  return {
    letter: named[1]!,
    words: harmlessText(said?.[1] ?? 'no reason given')
      .trim()
      .slice(0, WORDS_MAXIMUM),
  };
}
