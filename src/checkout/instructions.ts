// What the customer is told to do outside this page: the transfer's rows and its QR code, or the merchant's own words.
import { LRUCache } from 'lru-cache';
import { type Html, html, safeUrl } from '../lib/html.ts';
import { formatAmount } from '../lib/money.ts';
import type { Instructions } from '../methods/method.ts';
import { grouped } from '../methods/transfer/creditor-reference.ts';
import { type QrCode, qrPath, swissCross, swissWidthMm } from '../methods/transfer/qr-code.ts';
import { type QuickPay, quickPayments } from '../methods/transfer/quick-pay.ts';
import type { Words } from '../ui/languages.ts';
import { qrSvg } from '../ui/qr-svg.ts';
import type { PaymentSubject } from './parts.ts';

/** Drawing a code takes about 2 ms, and a customer opens the page again after each step at their bank. */
const codes = new LRUCache<string, QrCode>({ max: 500, memoMethod: qrPath });

/** The markup of what a customer is told to do. */
export function instructionsMarkup(subject: PaymentSubject, instructions: Instructions): Html {
  if (instructions.kind === 'transfer') return transfer(subject, instructions);
  return html`<div class="instructions words" dir="auto">${instructions.text}</div>`;
}

function transfer(
  { payment, words, amount }: PaymentSubject,
  { account, reference }: Instructions & { kind: 'transfer' },
): Html {
  const merchant = payment.merchant_name;
  const quick = quickPayments(account, payment, reference);
  const rows: [term: Html | string, value: string | undefined, note?: Html][] = [
    [words.html('transfer.holder'), account.holder],
    ['IBAN', account.iban && grouped(account.iban)],
    ['BIC', account.bic],
    ['UPI', account.upi_id],
    ['PIX', account.pix_key],
    ...(account.rows ?? []).map(({ label, value }): [string, string] => [label, value]),
    [words.html('transfer.amount'), `${formatAmount(payment.amount_minor)} ${payment.currency}`],
    [
      words.html('transfer.reference'),
      grouped(reference),
      words.html('transfer.reference.note', { merchant }),
    ],
  ];
  return html`<div class="instructions">
${payment.mode === 'test' && html`<p class="notice warn">${words.html('transfer.test')}</p>`}
<p>${words.html('transfer.lead', { amount })}</p>
<dl class="rows">
${rows
  .filter(([, value]) => value)
  .map(
    ([term, value, note]) =>
      html`<div><dt>${term}</dt><dd><bdi class="copy" translate="no">${value}</bdi>${
        note && html`<p class="hint">${note}</p>`
      }</dd></div>\n`,
  )}</dl>
${quick.map((one) => quickPay(words, one))}
</div>`;
}

function quickPay(words: Words, { scheme, payload, copyable, link }: QuickPay): Html {
  const target = link === undefined ? undefined : safeUrl(link);
  return html`${target && html`<p><a class="secondary" href="${target}">${words.html('transfer.open')}</a></p>`}${
    copyable &&
    html`<dl class="rows"><div><dt>${words.html('transfer.code')}</dt><dd><bdi class="copy code" translate="no">${payload}</bdi></dd></div></dl>`
  }
<figure>
${qrCode(words, scheme, payload)}
<figcaption>${words.html('transfer.scan')}</figcaption>
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
