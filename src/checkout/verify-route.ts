// Where anyone checks a receipt by its number: whether it was issued here, by whom, for how much and when, and nothing else.
import { html } from '../lib/html.ts';
import { type Clock, MINUTE_MS } from '../lib/time.ts';
import type { Reader } from '../store/database.ts';
import { fieldMarkup } from '../web/markup/field.ts';
import { framedPage } from '../web/pages/framed-page.ts';
import { type PageAnswer, type PageRoute, tooManyForms } from '../web/pages/surface.ts';
import { fromNetwork, Throttle } from '../web/rate-limit.ts';
import { moneyKnown } from './money.ts';
import { paymentWithReceipt } from './receipt.ts';
import type { CheckoutVisit, Name } from './visit.ts';

export const VERIFY_PATH = '/verify';
/** Maximum number of numbers that one network may request in ten minutes, on each node. */
const WINDOW_MS = 10 * MINUTE_MS;
const FROM_NETWORK = 60;
const NUMBER_MAXIMUM = 60;

interface VerifyParts {
  database: Reader;
  clock: Clock;
}

export class VerifyRoute implements PageRoute<Name> {
  readonly path = VERIFY_PATH;
  readonly #database: Reader;
  readonly #asked: Throttle;

  constructor({ database, clock }: VerifyParts) {
    this.#database = database;
    this.#asked = new Throttle(clock, WINDOW_MS, fromNetwork(FROM_NETWORK));
  }

  async show(visit: CheckoutVisit): Promise<PageAnswer> {
    const { words, asked, request } = visit;
    const number = (asked.number ?? '').slice(0, NUMBER_MAXIMUM);
    if (number.trim() === '') return { text: page(visit, words.text('verify.heading'), html``) };
    const waitMs = this.#asked.count(request.ip);
    if (waitMs > 0) {
      const minutes = Math.ceil(waitMs / MINUTE_MS);
      const text = page(
        visit,
        words.text('busy.heading'),
        html`<p>${words.html('busy.lead', { minutes })}</p>`,
      );
      return tooManyForms(text, waitMs, 'checkout_forms');
    }
    const found = await paymentWithReceipt(this.#database, number);
    if (!found)
      return {
        status: 404,
        text: page(
          visit,
          words.text('verify.bad.heading'),
          html`<p>${words.html('verify.bad.lead')}</p>`,
          number,
        ),
      };
    const { payment, approvedAt } = found;
    const merchant = payment.merchant_name;
    const money = (minor: number) => words.money(minor, payment.currency);
    const { returned } = moneyKnown(payment);
    const said = { merchant, amount: money(payment.amount_minor), time: words.moment(approvedAt) };
    const content = html`${payment.mode === 'test' && html`<p class="notice warn">${words.html('test')}</p>`}
<p>${words.html('verify.good.lead', said)}${returned > 0 && html` ${words.html('money.back', { returned: money(returned) })}`}</p>
<p>${words.html('verify.good.next')}</p>`;
    return { text: page(visit, words.text('verify.good.heading'), content, number) };
  }
}

function page(visit: CheckoutVisit, heading: string, said: ReturnType<typeof html>, number = ''): string {
  const { words, asked, address } = visit;
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
  return framedPage(visit, {
    heading,
    content,
    skip: words.html('register.skip'),
    here: { number: number || undefined },
  });
}
