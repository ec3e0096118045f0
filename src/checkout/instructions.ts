// The instructions for paying outside this page: the transfer's rows and its QR code, or the merchant's own words.
import { LRUCache } from 'lru-cache';
import { type Html, html, safeUrl } from '../lib/html.ts';
import { type QrCode, qrPath, qrPicture, qrSvg } from '../lib/qr-code.ts';
import type { Instructions } from '../payments/methods/offer.ts';
import { grouped } from '../payments/methods/transfer/creditor-reference.ts';
import { type QuickPay, quickPayment } from '../payments/methods/transfer/quick-pay.ts';
import { swissCross, swissWidthMm } from '../payments/methods/transfer/swiss.ts';
import type { Payment } from '../payments/payment.ts';
import { checkoutUrl } from '../payments/present.ts';
import { icon } from '../web/markup/icons.ts';
import type { Words } from '../web/markup/languages.ts';
import type { PaymentSubject } from './parts.ts';
import type { CheckoutVisit } from './visit.ts';

/** Drawing a code takes about 2 ms, and a customer opens the page again after each step at their bank. */
const codes = new LRUCache<string, QrCode>({ max: 500, memoMethod: qrPath });

/** The markup of the instructions. `method`: the way whose code is shown; undefined if the payment says it. */
export function instructionsMarkup(
  visit: CheckoutVisit,
  subject: PaymentSubject,
  instructions: Instructions,
  method?: string,
): Html {
  if (instructions.kind === 'text')
    return html`<div class="instructions words" dir="auto">${instructions.text}</div>`;
  const { payment, words, amount } = subject;
  const lines = transferLines(subject, instructions);
  const quick = quickPayment(instructions.account, payment, instructions.reference);
  const lead =
    payment.mode === 'test'
      ? html`<p class="notice warn">${words.html('transfer.test')}</p>\n`
      : isAsked(payment) && html`<p>${words.html('transfer.lead', { amount })}</p>\n`;
  return html`<div class="instructions">
${lead}${quick && atOnce(words, quick)}<div class="with-code">
<dl class="details">
${lines.map(({ term, value, note, beside, isMust }) => {
  const hint = note && html`<p class="hint">${note}</p>`;
  return html`<div${isMust && html` class="must"`}><dt>${term}</dt>
<dd>${copied(term, value!)}${beside && ` ${beside}`}${hint}</dd></div>\n`;
})}</dl>
${quick && code(words, quick, visit.address({ method, view: 'code' }))}
</div>
<p class="hint screen">${words.html('transfer.select')}</p>
${aids(visit, subject, lines)}
</div>`;
}

/** The code of a transfer as a PNG; undefined if there is none. */
export function codePicture(payment: Payment, instructions: Instructions | null): Buffer | undefined {
  if (instructions?.kind !== 'transfer') return undefined;
  const { account, reference } = instructions;
  const quick = quickPayment(account, payment, reference);
  return quick && qrPicture(quick.payload, quick.scheme === 'swiss' ? swissCross : undefined);
}

type Transfer = Instructions & { kind: 'transfer' };

/** A line of a transfer; `isMust`: the one without which the money is not known. */
interface Line {
  term: string;
  value: string | undefined;
  note?: Html | false;
  beside?: string;
  isMust?: true;
}

/** What a customer is told to transfer. */
export function transferLines(
  { payment, words }: Pick<PaymentSubject, 'payment' | 'words'>,
  { account, reference }: Transfer,
): Line[] {
  const merchant = payment.merchant_name;
  const isKnownName = folded(account.holder) === folded(merchant);
  const lines: Line[] = [
    {
      term: words.text('transfer.holder'),
      value: account.holder,
      note: !isKnownName && words.html('transfer.holder.note', { merchant }),
    },
    { term: 'IBAN', value: account.iban && grouped(account.iban) },
    { term: 'BIC', value: account.bic },
    { term: 'UPI', value: account.upi_id },
    { term: 'PIX', value: account.pix_key },
    ...(account.rows ?? []).map(({ label, value }) => ({ term: label, value })),
    {
      term: words.text('transfer.amount'),
      value: words.amount(payment.amount_minor, payment.currency),
      beside: payment.currency,
    },
    {
      term: words.text('transfer.reference'),
      value: grouped(reference),
      note: words.html('transfer.reference.note', { merchant }),
      isMust: true,
    },
  ];
  return lines.filter(({ value }) => value);
}

/** A value that one click selects, and that a keyboard reaches in a field of its own. */
function copied(term: string, value: string, look = 'copy'): Html {
  const field = html`<input class="taken" readonly aria-label="${term}" value="${value}">`;
  return html`<bdi class="${look}" translate="no" aria-hidden="true">${value}</bdi>${field}`;
}

/** Not of who said that they sent the money, until it shows that a part is missing: they are told not to send it again. */
export const isAsked = ({ announced_at, received_minor }: Payment): boolean =>
  announced_at === null || received_minor !== null;

const folded = (name: string) => name.normalize('NFKC').toLowerCase();

/** What pays at once on the device itself: a button into an app, or a code to paste. */
function atOnce(words: Words, { scheme, payload }: QuickPay): Html {
  const target = scheme === 'upi' ? safeUrl(payload) : undefined;
  const term = words.text('transfer.code');
  return html`${target && html`<p><a class="secondary" href="${target}">${words.html('transfer.open')}</a></p>\n`}${
    scheme === 'pix' &&
    html`<dl class="details"><div><dt>${term}</dt><dd>${copied(term, payload, 'copy code')}</dd></div></dl>\n`
  }`;
}

function code(words: Words, { scheme, payload }: QuickPay, pictureUrl: string): Html {
  return html`<details class="scan"><summary>${words.html('transfer.show')}</summary>
<figure>
${qrCode(words, scheme, payload)}
<figcaption><span>${words.html('transfer.scan')}</span>
<a class="plain" href="${pictureUrl}">${words.html('transfer.save')}</a></figcaption>
</figure></details>`;
}

/** To keep the details for later: a mail to oneself, and the day in one's calendar. */
function aids(
  visit: CheckoutVisit,
  { payment, words, amount }: PaymentSubject,
  lines: readonly Line[],
): Html {
  const subject = words.text('transfer.mail.subject', { merchant: payment.merchant_name, amount });
  const told = lines.map(({ term, value, beside }) => `${term}: ${value}${beside ? ` ${beside}` : ''}`);
  const body = [...told, '', checkoutUrl(visit.site.baseUrl, payment.id)].join('\r\n');
  const mail = `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(body)}`;
  const day = payment.status === 'pending' && visit.address({ view: 'calendar' });
  return html`<p class="aids"><a href="${mail}">${icon('mail')}<span>${words.html('transfer.mail')}</span></a>
${day && html`<a href="${day}">${icon('calendar')}<span>${words.html('calendar.add')}</span></a>`}</p>`;
}

/** A side on paper. */
const PRINTED_MM = 46;

function qrCode(words: Words, scheme: QuickPay['scheme'], payload: string): Html {
  const code = codes.memo(payload);
  const label = words.text('transfer.qr');
  if (scheme !== 'swiss') return qrSvg(code, label, { widthMm: PRINTED_MM });
  const cross = swissCross(code.size).map(
    ({ x, y, width, height, dark }) =>
      html`<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${dark ? '#000' : '#fff'}"/>`,
  );
  return qrSvg(code, label, { widthMm: swissWidthMm(code.size), over: cross });
}
