// The day to pay by as an entry of a calendar (RFC 5545).
import { formatTimestamp } from '../lib/time.ts';
import type { PaymentSubject } from './parts.ts';

/** Octets of a line before it is folded (RFC 5545, 3.1). */
const LINE_OCTETS = 74;

/** The file of the entry: the whole day, with a reminder at nine in the morning. `page`: the address of the payment's page. */
export function calendarEntry({ payment, words, amount, now }: PaymentSubject, page: string): string {
  const title = words.text('transfer.mail.subject', { merchant: payment.merchant_name, amount });
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Counterfoil//Checkout//EN',
    'BEGIN:VEVENT',
    `UID:${payment.id}`,
    `DTSTAMP:${formatTimestamp(now).replace('+00:00', 'Z').replaceAll(/[-:]/g, '')}`,
    `DTSTART;VALUE=DATE:${payment.pay_by.replaceAll('-', '')}`,
    `SUMMARY:${escaped(title)}`,
    `DESCRIPTION:${escaped(page)}`,
    `URL:${page}`,
    'TRANSP:TRANSPARENT',
    'BEGIN:VALARM',
    'ACTION:DISPLAY',
    `DESCRIPTION:${escaped(title)}`,
    'TRIGGER:PT9H',
    'END:VALARM',
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${foldedLine(line)}\r\n`).join('');
}

const escaped = (text: string) => text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');

/** `line` in pieces of at most 75 octets, each but the first with a space in front, none inside a character. */
function foldedLine(line: string): string {
  const pieces = [''];
  for (const character of line) {
    const last = pieces.at(-1)!;
    if (Buffer.byteLength(last + character) > LINE_OCTETS) pieces.push(character);
    else pieces[pieces.length - 1] = last + character;
  }
  return pieces.join('\r\n ');
}
