// Where anyone checks a receipt by its number: whether it was issued here, by whom, for how much and when, and nothing else.

import { type Html, html } from '../lib/html.ts';
import { type Clock, MINUTE_MS } from '../lib/time.ts';
import type { Reader } from '../store/database.ts';
import { fieldMarkup } from '../web/markup/field.ts';
import type { SitePage } from '../web/pages/framed-page.ts';
import { wait } from '../web/pages/problem.ts';
import { pageAt } from '../web/pages/route.ts';
import { fromNetwork, Throttle } from '../web/rate-limit.ts';
import { moneyKnown } from './money.ts';
import { paymentWithReceipt } from './receipt.ts';
import type { CheckoutRoute, CheckoutVisit } from './visit.ts';

export const VERIFY_PATH = '/verify';
/** Maximum number of numbers that one network may request in ten minutes, on each node. */
const WINDOW_MS = 10 * MINUTE_MS;
const FROM_NETWORK = 60;
const NUMBER_MAXIMUM = 60;

interface VerifyParts {
  database: Reader;
  clock: Clock;
}

export function verifyRoute({ database, clock }: VerifyParts): CheckoutRoute {
  const throttle = new Throttle(clock, WINDOW_MS, fromNetwork(FROM_NETWORK));
  return pageAt(VERIFY_PATH, 'anyone', async (visit) => {
    const { words, asked, request } = visit;
    const number = (asked.number ?? '').slice(0, NUMBER_MAXIMUM);
    if (number.trim() === '') return verifyPage(visit, words.text('verify.heading'), html``);
    const waitMs = throttle.count(request.ip);
    if (waitMs > 0) {
      const minutes = Math.ceil(waitMs / MINUTE_MS);
      const said = html`<p>${words.html('busy.lead', { minutes })}</p>`;
      return { ...verifyPage(visit, words.text('busy.heading'), said), ...wait(waitMs, 'checkout_forms') };
    }
    const found = await paymentWithReceipt(database, number);
    if (!found) {
      const said = html`<p>${words.html('verify.bad.lead')}</p>`;
      return { ...verifyPage(visit, words.text('verify.bad.heading'), said, number), status: 404 };
    }
    const { payment, approvedAt } = found;
    const merchant = payment.merchant_name;
    const money = (minor: number) => words.money(minor, payment.currency);
    const { returned } = moneyKnown(payment);
    const said = { merchant, amount: money(payment.amount_minor), time: words.moment(approvedAt) };
    const content = html`${payment.mode === 'test' && html`<p class="notice warn">${words.html('test')}</p>`}
<p>${words.html('verify.good.lead', said)}${returned > 0 && html` ${words.html('money.back', { returned: money(returned) })}`}</p>
<p>${words.html('verify.good.next')}</p>`;
    return verifyPage(visit, words.text('verify.good.heading'), content, number);
  });
}

function verifyPage(
  { words, asked, address }: CheckoutVisit,
  heading: string,
  said: Html,
  number = '',
): SitePage {
  const attributes = {
    dir: 'ltr',
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'none',
    translate: 'no',
  };
  const content = html`<h1>${heading}</h1>
${said}
<form method="get" action="${address({ number: undefined })}">
${asked.lang !== undefined && html`<input type="hidden" name="lang" value="${words.tag}">`}
<p>${words.html('verify.lead')}</p>
${fieldMarkup('number', { label: words.html('receipt.number'), value: number, attributes })}
<div class="actions"><button class="primary">${words.html('verify.button')}</button></div>
</form>`;
  const here = { number: number || undefined };
  return { heading, content, skip: words.html('register.skip'), here };
}
