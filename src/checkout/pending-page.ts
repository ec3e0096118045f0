// The page of a payment that waits to be paid: its ways to pay, the form of one of them, and the two ways out.
import { type Html, html, slotted } from '../lib/html.ts';
import { SHOWN_TEST_CARD } from '../methods/card-fields.ts';
import { FIELDS, type FieldName } from '../methods/fields.ts';
import type { Method } from '../methods/method.ts';
import type { QrCodes } from '../methods/transfer/qr-code.ts';
import { CONTACT, errorSummary, fieldParts, knownContacts, type Typed } from './form.ts';
import { hiddenSubmitToken, hiddenToken } from './form-guard.ts';
import { instructed } from './instructions.ts';
import type { Words } from './languages.ts';
import { type Fact, facts, help, type Subject, slip, wayOut } from './parts.ts';
import { framed, type Parameters, type Visit } from './visit.ts';

/** How many ways to pay stand open to view; the others are behind a disclosure. */
const METHODS_SHOWN = 5;

export interface Pending extends Subject {
  methods: readonly Method[];
  /** The method whose form is shown. */
  method: Method;
  /** What was typed and did not pass. */
  typed?: Typed | undefined;
  codes: QrCodes;
}

export function pendingPage(visit: Visit, pending: Pending): string {
  const { payment, words, methods, method, typed } = pending;
  const merchant = payment.merchant_name;
  const heading = words.text('pending.heading', { merchant });
  const rows: Fact[] = [[words.html('fact.pay_by'), words.moment(payment.expires_at)]];
  const content = html`${typed && errorSummary(words, typed)}
${slip(pending, words.html('pending.heading', { merchant }), words.html('money.none'), rows)}
<div class="task">
${methods.length > 1 && methodList(visit, methods, method)}
<h2>${methodName(words, method)}</h2>
${form(visit, pending)}
${leaving(visit, pending)}
${help(pending)}
</div>`;
  const test = payment.mode === 'test';
  return framed(visit, {
    heading,
    merchant,
    test,
    content,
    wide: true,
    here: { method: visit.asked.method, edit: editOf(visit.asked) },
    wrong: typed !== undefined,
  });
}

/** Nothing of an address is repeated but what it can mean. */
function editOf({ edit }: Parameters): string | undefined {
  return edit === CONTACT ? CONTACT : undefined;
}

/** What a method is called: the configuration's name for it, else the page's own words. */
export function methodName(words: Words, { type, name }: Pick<Method, 'type' | 'name'>): Html {
  if (name !== null) return html`<bdi>${name}</bdi>`;
  return type === 'manual' ? html`` : words.html(`method.${type}`);
}

/** The ways to pay as links that look like a choice: one page load, no script, no button between. */
function methodList({ words, address }: Visit, methods: readonly Method[], chosen: Method): Html {
  const row = (method: Method) =>
    html`<li><a href="${address({ method: method.id })}"${method === chosen && html` aria-current="true"`}>${methodName(words, method)}</a></li>`;
  const more = methods.slice(METHODS_SHOWN);
  return html`<nav class="methods" aria-label="${words.text('methods.heading')}">
<ul>${methods.slice(0, METHODS_SHOWN).map(row)}</ul>
${
  more.length > 0 &&
  html`<details${more.includes(chosen) && html` open`}><summary>${words.html('methods.more')}</summary><ul>${more.map(row)}</ul></details>`
}
</nav>`;
}

function form(visit: Visit, { payment, words, method, typed, amount, codes, ...rest }: Pending): Html {
  const { address, asked } = visit;
  const merchant = payment.merchant_name;
  const known = knownContacts(payment, method, asked.edit);
  const action = `${address({ method: method.id, edit: editOf(asked) })}#errors`;
  const instructions = method.instructions(payment);
  const next = nextStep(words, method, merchant);
  return html`${next && html`<p>${next}</p>`}
${instructions && instructed({ payment, words, amount, ...rest }, instructions, codes)}
<form method="post" action="${action}" novalidate>
${hiddenSubmitToken(payment, method.id, instructions)}
${known.size > 0 && contacts(visit, method, known)}
${fieldParts(words, method, known, merchant, typed)}
<button class="primary">${words.html(`submit.${method.type}`, { amount })}</button>
<p class="fine">${words.html('pending.privacy')} ${words.html('pending.next', { merchant })}</p>
</form>`;
}

function nextStep(words: Words, { type }: Method, merchant: string): Html | null {
  switch (type) {
    case 'bank_transfer':
      return words.html('next.bank_transfer', { merchant });
    case 'details':
      return words.html('next.details');
    case 'test_card':
      return words.html('next.test_card', { number: SHOWN_TEST_CARD });
    default:
      return null;
  }
}

const TERMS = {
  'payer-name': 'fact.payer_name',
  'payer-email': 'fact.payer_email',
  'payer-phone': 'fact.payer_phone',
} as const;

/** What the merchant has told already, masked since the link may be in other hands, with a way to say it anew. */
function contacts({ words, address }: Visit, method: Method, known: ReadonlyMap<FieldName, string>): Html {
  const rows = [...known].map(([name, value]): Fact => {
    const contact = name as keyof typeof TERMS;
    return [words.html(TERMS[contact]), FIELDS[contact].mask(value)];
  });
  return html`<div class="contacts">
<h3>${words.html('contact.heading')}</h3>
${facts(rows)}
<p><a href="${address({ method: method.id, edit: CONTACT })}" aria-label="${words.text('contact.change.what')}">${words.html('contact.change')}</a></p>
</div>`;
}

/** Leaving for now, and cancelling for good: two things that must not be taken for one another. */
function leaving({ words, address }: Visit, pending: Pending): Html {
  const { return_url, cancel_url } = pending.payment;
  const cancelling = words.remembered('cancelling', () =>
    slotted(
      (link) => html`<details class="cancel"><summary>${words.html('pending.cancel.summary')}</summary>
<p>${words.html('pending.cancel.text')}</p>
<p><a class="plain" href="${link}">${words.html('pending.cancel.link')}</a></p>
</details>`,
    ),
  );
  return html`${wayOut(pending, return_url ?? cancel_url, 'back', 'plain')}
${cancelling(address({ view: 'cancel' }))}`;
}

/** The question before a payment is cancelled for good. */
export function cancelPage(visit: Visit, subject: Subject): string {
  const { words, payment, amount } = subject;
  const merchant = payment.merchant_name;
  const heading = words.text('cancel.heading');
  const content = html`<div class="slip">
<h1>${words.html('cancel.heading')}</h1>
<p class="amount"><bdi>${amount}</bdi></p>
<p class="money">${words.html('money.none')}</p>
<p>${words.html('cancel.lead')}</p>
${facts([
  [words.html('fact.merchant'), merchant],
  [words.html('fact.reference'), payment.merchant_reference],
  [words.html('fact.pay_by'), words.moment(payment.expires_at)],
])}
</div>
<form method="post" action="${visit.address()}" class="actions">
${hiddenToken(payment, 'cancel')}
<button class="danger">${words.html('cancel.confirm')}</button>
<a class="secondary" href="${visit.address()}">${words.html('cancel.keep')}</a>
</form>
${help(subject)}`;
  return framed(visit, {
    heading,
    merchant,
    test: payment.mode === 'test',
    content,
    here: { view: 'cancel' },
  });
}
