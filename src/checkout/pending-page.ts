// The page of a payment that waits to be paid, and the question before it is cancelled for good.

import { type Html, hidden, html } from '../lib/html.ts';
import { FIELDS, type FieldUse, SHOWN_TEST_CARD } from '../payments/methods/fields.ts';
import { type Instructions, isFallback, type Method } from '../payments/methods/offer.ts';
import { type IconName, icon } from '../web/markup/icons.ts';
import type { Words } from '../web/markup/languages.ts';
import { facts, type TermPair } from '../web/markup/parts.ts';
import type { SitePage } from '../web/pages/framed-page.ts';
import { faultSummary } from '../web/pages/problem.ts';
import {
  CONTACT,
  type ContactName,
  fieldPart,
  hiddenToken,
  knownContacts,
  submitToken,
  type TypedPayment,
} from './form.ts';
import { instructionsMarkup, isAsked } from './instructions.ts';
import { moneyKnown, moneySentences } from './money.ts';
import {
  brandedPage,
  nameOfMethod,
  outTo,
  type PaymentSubject,
  paperAddress,
  payBy,
  stub,
  takeBack,
  trialButtons,
  wayOut,
} from './parts.ts';
import type { CheckoutVisit } from './visit.ts';

/** The side of the code of the page's own address. */
const PAGE_CODE_PX = 176;
/** The number of methods that are shown at once; the others are behind a disclosure. */
const METHODS_SHOWN = 5;

interface Pending extends PaymentSubject {
  methods: readonly Method[];
  /** The method whose form is shown. */
  method: Method;
  /** A form that was refused: its values and faults. */
  typed?: TypedPayment | undefined;
  /** Stands before the ids of the form's fields; none if undefined. */
  idPrefix?: string;
}

/** The page of a pending payment: its ways to pay, the form of one of them, and the two ways out. */
export function pendingPage(visit: CheckoutVisit, pending: Pending): SitePage {
  const { payment, words, methods, method, typed } = pending;
  const { asked } = visit;
  const merchant = payment.merchant_name;
  const known = moneyKnown(payment);
  const isManual = methods.some(({ type }) => type === 'manual');
  const rows = isAsked(payment) ? [payBy(pending, isManual)] : [];
  // Money that is on its way must not be sent again, although the payment still waits for the form.
  const title = known.known === 'announced' ? 'announced.heading' : 'pending.heading';
  const content = html`${stub(pending, {
    heading: words.html(title, { merchant }),
    money: moneySentences(pending, known),
    rows,
    hasNumbers: true,
  })}
<div class="leaf"><i class="holes"></i>
${typed && faultSummary(words, typed.faults)}
${
  payment.mode === 'test' &&
  isFallback(method) &&
  html`<p class="notice warn">${words.html('methods.none.test', { currency: payment.currency })}</p>`
}
${methods.length > 1 ? ways(visit, pending) : html`<h2>${nameOfMethod(words, method)}</h2>\n${panel(visit, pending)}`}
${leaving(visit, pending)}
${trialButtons(visit, pending)}
${paperAddress(visit, payment)}
</div>`;
  return brandedPage(visit, pending, {
    heading: words.text(title, { merchant }),
    amount: pending.amount,
    content,
    pair: 'whole',
    here: { method: asked.method, edit: asked.edit === CONTACT ? CONTACT : undefined },
    wrong: typed !== undefined,
  });
}

const METHOD_ICONS: Record<Method['type'], IconName> = {
  bank_transfer: 'bank',
  manual: 'cash',
  details: 'talk',
  test_card: 'card',
};

/** What a way to pay is about, below its name; undefined where its name says it. */
function hintOf({ words }: Pending, { type }: Method): Html | undefined {
  if (type === 'manual') return undefined;
  return words.html(type === 'details' ? 'next.details' : `method.${type}.hint`);
}

/** The methods as radio buttons, each with its form, so that a choice needs no other page and what was typed stays. */
function ways(visit: CheckoutVisit, pending: Pending): Html {
  const { words } = visit;
  const { methods, method: chosen } = pending;
  const rows = methods.map((method) => {
    const id = `way-${method.id}`;
    // Ids must differ. Those of the form that was refused are what the summary of its faults leads to.
    const shown =
      method === chosen ? pending : { ...pending, method, typed: undefined, idPrefix: `${method.id}-` };
    const hint = hintOf(pending, method);
    return html`<div class="way">
<label for="${id}"><input type="radio" name="way" id="${id}"${method === chosen && html` checked`}>
<strong>${nameOfMethod(words, method)}</strong>${hint && html`<small>${hint}</small>`}${icon(METHOD_ICONS[method.type])}</label>
${panel(visit, shown)}
</div>
`;
  });
  const more = rows.slice(METHODS_SHOWN);
  const isOpen = methods.indexOf(chosen) >= METHODS_SHOWN;
  return html`<h2 id="how">${words.html('methods.heading')}</h2>
<div class="ways" role="radiogroup" aria-labelledby="how">
${rows.slice(0, METHODS_SHOWN)}${
  more.length > 0 &&
  html`<details${isOpen && html` open`}><summary>${words.html('methods.more')}</summary>${more}</details>`
}
</div>`;
}

/** What a way to pay asks of the customer: three steps for a transfer, else what to do and the form. */
function panel(visit: CheckoutVisit, pending: Pending): Html {
  const { words } = visit;
  const { payment, method, methods } = pending;
  const merchant = payment.merchant_name;
  const instructions = method.instructions(payment);
  const isTransfer = method.type === 'bank_transfer';
  if (isTransfer && instructions && isAsked(payment))
    return html`<div class="panel">
<ol class="steps">
${[
  [words.html('step.open'), instructionsMarkup(visit, pending, instructions, method.id)],
  [words.html('step.tell', { merchant }), form(visit, pending, instructions)],
  [
    words.html('step.confirm', { merchant }),
    html`<p class="hint">${words.html('waiting.time', { merchant })}</p>`,
  ],
].map(
  (
    [heading, content],
    i,
  ) => html`<li><span class="number" aria-hidden="true">${i + 1}</span><h3>${heading}</h3>
${content}</li>
`,
)}</ol>
</div>`;
  const lead = method.type === 'test_card' ? words.html('next.test_card', { number: SHOWN_TEST_CARD }) : null;
  const next = methods.length === 1 && method.type === 'details' ? words.html('next.details') : lead;
  return html`<div class="panel">
${next && html`<p>${next}</p>\n`}${
  instructions && !isTransfer && instructionsMarkup(visit, pending, instructions, method.id)
}
${form(visit, pending, instructions)}
</div>`;
}

function form(visit: CheckoutVisit, pending: Pending, instructions: Instructions | null): Html {
  const { words, address, asked } = visit;
  const { payment, method, amount, typed, idPrefix } = pending;
  const { id, type } = method;
  const merchant = payment.merchant_name;
  const shown = instructions && JSON.stringify(instructions);
  const known = knownContacts(payment, method, asked.edit);
  const missing = method.fields.filter(({ name }) => !known.has(name));
  // Contact details are all that this way to pay is about.
  const isFolded = ({ required }: FieldUse) => !required && type !== 'details';
  const part = ({ name }: FieldUse) => fieldPart(words, name, merchant, typed, idPrefix);
  const edit = asked.edit === CONTACT ? CONTACT : undefined;
  const fine =
    type === 'bank_transfer'
      ? words.html('submit.bank_transfer.fine')
      : words.html('pending.next', { merchant });
  return html`<form method="post" action="${address({ method: id, edit })}#errors" novalidate>
${hidden({ action: 'submit', token: submitToken(pending.ring, payment, id, shown), shown })}
${contacts(visit, id, known)}
${missing.filter((one) => !isFolded(one)).map(part)}
${optionalFields(words, missing.filter(isFolded).map(part), typed !== undefined)}
<button class="primary">${words.html(`submit.${type}`, { amount })}</button>
<p class="fine">${fine} ${words.html('pending.privacy')}</p>
</form>`;
}

/** Fields that may stay empty, folded so that a phone shows the button without them. Open in a form that was refused. */
function optionalFields(words: Words, fields: readonly Html[], isOpen: boolean): Html | null {
  if (fields.length === 0) return null;
  return html`<details class="more"${isOpen && html` open`}><summary>${words.html('optional.summary')}</summary>
${fields}</details>`;
}

/** The contact details that the merchant sent, masked because others may hold the link too, and a link to change them. */
function contacts(
  { words, address }: CheckoutVisit,
  method: string,
  known: ReadonlyMap<string, string>,
): Html | null {
  const masked = (name: ContactName) => {
    const value = known.get(name);
    return value === undefined ? null : FIELDS[name].mask(value);
  };
  const rows: TermPair[] = [
    [words.html('fact.payer_name'), masked('payer-name')],
    [words.html('fact.payer_email'), masked('payer-email')],
    [words.html('fact.payer_phone'), masked('payer-phone')],
  ];
  if (rows.every(([, value]) => value === null)) return null;
  return html`<div class="contacts">
<h3>${words.html('contact.heading')}</h3>
${facts(rows)}
<p><a href="${address({ method, edit: CONTACT })}" aria-label="${words.text('contact.change.what')}">${words.html('contact.change')}</a></p>
</div>`;
}

/** The two ways out, which must not be confused, to leave for now and to cancel for good; and the way on to another device. */
function leaving(visit: CheckoutVisit, pending: Pending): Html {
  const { words, address } = visit;
  const { return_url, cancel_url, merchant_name } = pending.payment;
  const size = PAGE_CODE_PX;
  return html`<div class="exits">
${wayOut(words, merchant_name, outTo(pending, return_url ?? cancel_url), 'back')}
<details class="phone"><summary>${words.html('phone.summary')}</summary>
<p>${words.html('phone.scan')}</p>
<img src="${address({ view: 'page' })}" alt="${words.text('phone.qr')}" width="${size}" height="${size}" loading="lazy"></details>
<details class="cancel"><summary>${words.html('pending.cancel.summary')}</summary>
<p>${words.html('pending.cancel.text')}</p>
<p><a class="plain" href="${address({ view: 'cancel' })}">${words.html('pending.cancel.link')}</a></p>
</details>
${takeBack(visit, pending)}
</div>`;
}

/** The question before a payment is cancelled for good. */
export function cancelPage(visit: CheckoutVisit, subject: PaymentSubject): SitePage {
  const { words, payment, amount } = subject;
  const merchant = payment.merchant_name;
  const content = html`<h1>${words.html('cancel.heading')}</h1>
<p class="amount"><bdi>${amount}</bdi></p>
<p class="money">${moneySentences(subject, moneyKnown(payment))}</p>
<p>${words.html('cancel.lead')}</p>
${facts([
  [words.html('fact.merchant'), merchant],
  [words.html('fact.reference'), payment.merchant_reference],
  payBy(subject),
])}
<form method="post" action="${visit.address()}" class="actions">
${hiddenToken(subject.ring, payment, 'cancel')}
<button class="danger">${words.html('cancel.confirm')}</button>
<a class="secondary" href="${visit.address()}">${words.html('cancel.keep')}</a>
</form>`;
  const heading = words.text('cancel.heading');
  return brandedPage(visit, subject, { heading, amount, content, here: { view: 'cancel' } });
}
