// The instructions for paying outside this page: the transfer's rows and its QR code, or the merchant's own words.
import { LRUCache } from 'lru-cache';
import { type Html, html, safeUrl } from '../lib/html.ts';
import { type QrCode, qrPath, qrPicture } from '../lib/qr-code.ts';
import type { Instructions } from '../payments/methods/method.ts';
import { grouped } from '../payments/methods/transfer/creditor-reference.ts';
import { type QuickPay, quickPayments } from '../payments/methods/transfer/quick-pay.ts';
import { swissCross, swissWidthMm } from '../payments/methods/transfer/swiss.ts';
import type { Payment } from '../payments/payment.ts';
import type { Words } from '../web/markup/languages.ts';
import { qrSvg } from '../web/markup/qr-svg.ts';
import type { PaymentSubject } from './parts.ts';

/** Drawing a code takes about 2 ms, and a customer opens the page again after each step at their bank. */
const codes = new LRUCache<string, QrCode>({ max: 500, memoMethod: qrPath });

/** The markup of the instructions. `pictureUrl`: the address of the QR code as a picture. */
export function instructionsMarkup(
  subject: PaymentSubject,
  instructions: Instructions,
  pictureUrl: string,
): Html {
  if (instructions.kind === 'transfer') return transfer(subject, instructions, pictureUrl);
  return html`<div class="instructions words" dir="auto">${instructions.text}</div>`;
}

/** The code of a transfer as a PNG; undefined if there is none. */
export function codePicture(payment: Payment, instructions: Instructions | null): Buffer | undefined {
  if (instructions?.kind !== 'transfer') return undefined;
  const { account, reference } = instructions;
  const [quick] = quickPayments(account, payment, reference);
  return quick && qrPicture(quick.payload, quick.scheme === 'swiss' ? swissCross : undefined);
}

/** What a customer is told to transfer, a row each: what it is, the value to copy, a hint, and what stands beside the value. */
export function instructionRows(
  { payment, words }: Pick<PaymentSubject, 'payment' | 'words'>,
  { account, reference }: Instructions & { kind: 'transfer' },
) {
  const merchant = payment.merchant_name;
  const isKnownName = folded(account.holder) === folded(merchant);
  const rows: [term: Html | string, value: string | undefined, note?: Html | false, beside?: string][] = [
    [
      words.html('transfer.holder'),
      account.holder,
      !isKnownName && words.html('transfer.holder.note', { merchant }),
    ],
    ['IBAN', account.iban && grouped(account.iban)],
    ['BIC', account.bic],
    ['UPI', account.upi_id],
    ['PIX', account.pix_key],
    ...(account.rows ?? []).map(({ label, value }): [string, string] => [label, value]),
    [
      words.html('transfer.amount'),
      words.amount(payment.amount_minor, payment.currency),
      false,
      payment.currency,
    ],
    [
      words.html('transfer.reference'),
      grouped(reference),
      words.html('transfer.reference.note', { merchant }),
    ],
  ];
  return rows.filter(([, value]) => value);
}

function transfer(
  { payment, words, amount }: PaymentSubject,
  instructions: Instructions & { kind: 'transfer' },
  pictureUrl: string,
): Html {
  const quick = quickPayments(instructions.account, payment, instructions.reference);
  return html`<div class="instructions">
${payment.mode === 'test' && html`<p class="notice warn">${words.html('transfer.test')}</p>`}
${isAsked(payment) && html`<p>${words.html('transfer.lead', { amount })}</p>`}
<p class="hint screen">${words.html('transfer.select')}</p>
<dl class="rows">
${instructionRows({ payment, words }, instructions).map(
  ([term, value, note, beside]) =>
    html`<div><dt>${term}</dt><dd><bdi class="copy" translate="no">${value}</bdi>${beside && ` ${beside}`}${
      note && html`<p class="hint">${note}</p>`
    }</dd></div>\n`,
)}</dl>
${quick.map((one) => quickPay(words, one, pictureUrl))}
</div>`;
}

/** Not of who said that they sent the money, until it shows that a part is missing: they are told not to send it again. */
export const isAsked = ({ announced_at, received_minor }: Payment): boolean =>
  announced_at === null || received_minor !== null;

const folded = (name: string) => name.normalize('NFKC').toLowerCase();

function quickPay(words: Words, { scheme, payload, copyable, link }: QuickPay, pictureUrl: string): Html {
  const target = link === undefined ? undefined : safeUrl(link);
  return html`${target && html`<p><a class="secondary" href="${target}">${words.html('transfer.open')}</a></p>`}${
    copyable &&
    html`<dl class="rows"><div><dt>${words.html('transfer.code')}</dt><dd><bdi class="copy code" translate="no">${payload}</bdi></dd></div></dl>`
  }
<figure>
${qrCode(words, scheme, payload)}
<figcaption>${words.html('transfer.scan')}
<a class="plain" href="${pictureUrl}">${words.html('transfer.save')}</a></figcaption>
</figure>`;
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
