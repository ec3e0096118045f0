// What the customer is told to do outside this page: the transfer's rows and its QR code, or the merchant's own words.
import { type Html, html, safeUrl } from '../lib/html.ts';
import { formatAmount } from '../lib/money.ts';
import type { Instructions } from '../methods/method.ts';
import { grouped } from '../methods/transfer/creditor-reference.ts';
import { type QrCodes, swissCross, swissWidthMm } from '../methods/transfer/qr-code.ts';
import { type QuickPay, quickPayments } from '../methods/transfer/quick-pay.ts';
import type { Words } from '../ui/languages.ts';
import type { Subject } from './parts.ts';

/** `instructions` as markup. */
export function instructed(subject: Subject, instructions: Instructions, codes: QrCodes): Html {
  if (instructions.kind === 'text')
    return html`<div class="instructions words" dir="auto">${instructions.text}</div>`;
  return transfer(subject, instructions, codes);
}

function transfer(
  { payment, words, amount }: Subject,
  { account, reference }: Instructions & { kind: 'transfer' },
  codes: QrCodes,
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
      html`<div><dt>${term}</dt><dd><bdi class="copy" translate="no">${value}</bdi>${note && html`<p class="hint">${note}</p>`}</dd></div>\n`,
  )}</dl>
${quick.map((one) => quickPay(words, one, codes))}
</div>`;
}

function quickPay(words: Words, { scheme, payload, copyable, link }: QuickPay, codes: QrCodes): Html {
  const target = link === undefined ? undefined : safeUrl(link);
  return html`${target && html`<p><a class="secondary" href="${target}">${words.html('transfer.open')}</a></p>`}${
    copyable &&
    html`<dl class="rows"><div><dt>${words.html('transfer.code')}</dt><dd><bdi class="copy code" translate="no">${payload}</bdi></dd></div></dl>`
  }
<figure>
${qrCode(words, scheme, payload, codes)}
<figcaption>${words.html('transfer.scan')}</figcaption>
</figure>`;
}

/** A side on paper; on a screen the stylesheet says. */
const PRINTED_MM = 46;

/** Dark on white in every theme, since many readers take nothing else. */
function qrCode(words: Words, scheme: QuickPay['scheme'], payload: string, codes: QrCodes): Html {
  const { size, path } = codes.path(payload);
  const swiss = scheme === 'swiss';
  const cross = swiss ? swissCross(size) : [];
  const widthMm = swiss ? swissWidthMm(size) : PRINTED_MM;
  return html`<svg class="qr" width="${widthMm}mm" viewBox="0 0 ${size} ${size}" role="img" aria-label="${words.text('transfer.qr')}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path}"/>${cross.map(
    ({ x, y, width, height, dark }) =>
      html`<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${dark ? '#000' : '#fff'}"/>`,
  )}</svg>`;
}
