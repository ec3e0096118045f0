// The one address of a payment: its status decides which page it shows and what its forms may do.

import { qrPicture } from '../lib/qr-code.ts';
import { formatTimestamp } from '../lib/time.ts';
import { pictureOf } from '../merchants/particulars.ts';
import type { Instructions } from '../payments/methods/method.ts';
import type { Payment } from '../payments/payment.ts';
import { checkoutUrl, PAYMENT_PAGE } from '../payments/present.ts';
import { isPaymentAsRecorded } from '../payments/record.ts';
import { formAt, pageAt, type WholeAnswer } from '../web/pages/route.ts';
import type { SiteAnswer } from '../web/pages/site.ts';
import { saysSent, typedBefore, unsavedPage } from './announced.ts';
import { type Due, dueOf } from './due.ts';
import { knownContacts, readForm } from './form.ts';
import { codePicture } from './instructions.ts';
import type { PaymentSubject } from './parts.ts';
import { PaymentForms } from './payment-forms.ts';
import {
  mayBePaid,
  missingPayment,
  type PaymentParts,
  shownPayment,
  speakFor,
  subjectOf,
  suspended,
  unoffered,
  unshown,
} from './payment-parts.ts';
import { cancelPage, pendingPage } from './pending-page.ts';
import { receiptOf } from './receipt.ts';
import { statePage } from './state-page.ts';
import type { CheckoutRoute, CheckoutVisit } from './visit.ts';

export function paymentRoutes(parts: PaymentParts): CheckoutRoute[] {
  const path = `/${PAYMENT_PAGE}`;
  const forms = new PaymentForms(parts);
  return [
    pageAt(path, 'anyone', (visit) => show(parts, visit)),
    {
      ...formAt(path, 'anyone', (visit: CheckoutVisit) => forms.take(visit)),
      takesForeign: true, // forged forms are counted
      // Shows a customer whose message was not kept not to pay again.
      failed: (visit, more) => (saysSent(visit.form) ? unsavedPage(visit, visit.form, more) : undefined),
    },
  ];
}

async function show(parts: PaymentParts, visit: CheckoutVisit): Promise<SiteAnswer> {
  const { offer, database, ring } = parts;
  const { method: wanted, view } = visit.asked;
  const payment = await shownPayment(parts, visit);
  if (!payment) return missingPayment(visit);
  speakFor(payment, visit);
  const subject = subjectOf(parts, payment, visit);
  if (view === 'logo') return logoOf(subject) ?? missingPayment(visit);
  if (payment.status !== 'pending') {
    if (!(await isPaymentAsRecorded(database, payment))) return unshown(visit);
    const due = dueNow(parts, payment);
    if (view !== 'code' || payment.status !== 'requires_review') {
      const receipt = await receiptOf(database, payment);
      const isPayers = ring.isMac('payer', payment.id, visit.asked.payer ?? '');
      return statePage(visit, subject, { due, receipt, isPayers });
    }
    return (due && codeOf(due.payment, due.instructions ?? null)) ?? missingPayment(visit);
  }
  if (!(await mayBePaid(parts, payment))) return suspended(visit, subject);
  if (view === 'cancel') return cancelPage(visit, subject);
  const methods = offer.methodsFor(payment);
  const method = wanted === undefined ? methods[0] : methods.find(({ id }) => id === wanted);
  if (!method) return unoffered(visit);
  if (view === 'code') return codeOf(payment, method.instructions(payment)) ?? missingPayment(visit);
  if (view === 'page')
    return { text: qrPicture(checkoutUrl(visit.site.baseUrl, payment.id)), headers: PICTURE };
  if (view === 'calendar') return calendarOf(visit, subject);
  const again = typedBefore(visit, ring, payment, method);
  const known = again && knownContacts(payment, method, visit.asked.edit);
  const typed = known && readForm(again, method, known, visit.words, payment.merchant_name, subject.now);
  if (!typed || typed.faults.length === 0) return pendingPage(visit, { ...subject, methods, method });
  return { ...pendingPage(visit, { ...subject, methods, method, typed }), status: 422 };
}

/** A suspended merchant asks for no rest; what the customer was told stays as it was. */
function dueNow({ offer, directory }: PaymentParts, payment: Payment): Due | undefined {
  const due = dueOf(payment, offer);
  return due?.isRest && directory.isSuspended(payment.merchant_id) ? undefined : due;
}

/** The code of a transfer as a picture, visit in the browser: from there a phone saves it among its photos. */
function codeOf(payment: Payment, instructions: Instructions | null): WholeAnswer | undefined {
  const text = codePicture(payment, instructions);
  return text && { text, headers: { ...PICTURE, 'content-disposition': 'inline; filename="transfer.png"' } };
}

function logoOf({ profile }: PaymentSubject): WholeAnswer | undefined {
  const { logo } = profile.particulars ?? {};
  if (logo === undefined) return undefined;
  const { type, bytes } = pictureOf(logo);
  return {
    text: bytes,
    headers: { 'content-type': type, 'cache-control': `private, max-age=${LOGO_KEPT_S}` },
  };
}

/** A browser asks for a logo again after an hour. */
const LOGO_KEPT_S = 3600;
const PICTURE = { 'content-type': 'image/png' };

function calendarOf({ site }: CheckoutVisit, subject: PaymentSubject): WholeAnswer {
  const text = calendarEntry(subject, checkoutUrl(site.baseUrl, subject.payment.id));
  const headers = {
    'content-type': 'text/calendar; charset=utf-8',
    'content-disposition': 'attachment; filename="payment.ics"',
  };
  return { text, headers };
}

/** Octets of a line before it is folded (RFC 5545, 3.1). */
const LINE_OCTETS = 74;

/** The file of the entry: the whole day, with a reminder at nine in the morning. `page`: the address of the payment's page. */
function calendarEntry({ payment, words, amount, now }: PaymentSubject, page: string): string {
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
