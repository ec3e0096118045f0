// The markup of a pending payment's page: its ways to pay, the form of one of them, and the two ways out.
import { type Html, hidden, html } from '../lib/html.ts';
import { SHOWN_TEST_CARD } from '../methods/card-fields.ts';
import type { FieldName } from '../methods/fields.ts';
import type { Method } from '../methods/method.ts';
import { type Fact, facts } from '../ui/facts.ts';
import { errorSummary } from '../ui/field.ts';
import type { Words } from '../ui/languages.ts';
import type { Theme } from '../ui/theme.ts';
import { CONTACT, type ContactName, fieldPart, type Typed } from './form.ts';
import { help, slip, wayOut } from './parts.ts';
import { addresses, framed, type Visit } from './visit.ts';

/** How many ways to pay stand open to view; the others are behind a disclosure. */
const METHODS_SHOWN = 5;

/** A method as the list of them shows it. */
type Listed = Pick<Method, 'id' | 'type' | 'name'>;

/** All that the page depends on beside `Told`: the same for many payments, and plain data, since its JSON names a skeleton. */
export interface Frame {
  language: string;
  theme: Theme | undefined;
  basePath: string;
  /** Whether the address names the language. */
  isNamed: boolean;
  /** The method that the address names. */
  wanted: string | undefined;
  edit: typeof CONTACT | undefined;
  merchant: string;
  isTest: boolean;
  isLong: boolean;
  support: string | null;
  /** The host that the way back leads to, where that is not the merchant's own. */
  host: string | null;
  methods: readonly Listed[];
  /** Which of them is chosen, and the fields it asks. */
  chosen: number;
  fields: readonly FieldName[];
}

/** What differs from payment to payment. The markup may ask of these whether they are `null`, and nothing else. */
export type Told = Readonly<Record<'id' | 'amount' | 'token', string>> &
  Readonly<Record<'reference' | 'description' | 'shown' | 'target' | ContactName, string | null>> &
  Readonly<Record<'expires' | 'instructions', Html | null>>;

/** The whole page. `typed` is a form that did not pass. */
export function pendingMarkup(words: Words, frame: Frame, told: Told, typed?: Typed): string {
  const { theme, basePath, merchant, isTest, isLong, methods, chosen } = frame;
  const payment = {
    id: told.id,
    merchant_name: merchant,
    status: 'pending',
    status_reason: null,
    merchant_reference: told.reference,
    description: told.description,
  } as const;
  const asked = { payment_id: told.id, lang: frame.isNamed ? words.tag : undefined };
  const visit = { words, theme, basePath, asked, address: addresses(basePath, words, asked) };
  const rows: Fact[] = [[words.html('fact.pay_by'), told.expires]];
  const content = html`${typed && errorSummary(words, typed.faults)}
${slip({ payment, words, amount: told.amount, isLong }, words.html('pending.heading', { merchant }), words.html('money.none'), rows)}
<div class="task">
${methods.length > 1 && methodList(visit, methods, chosen)}
<h2>${methodName(words, methods[chosen]!)}</h2>
${form(visit, frame, told, typed)}
${leaving(visit, frame, told)}
${help({ payment, profile: frame, words })}
</div>`;
  return framed(visit, {
    heading: words.text('pending.heading', { merchant }),
    merchant,
    test: isTest,
    content,
    wide: true,
    here: { method: frame.wanted, edit: frame.edit },
    wrong: typed !== undefined,
  });
}

/** What a method is called: the configuration's name for it, else the page's own words. */
export function methodName(words: Words, { type, name }: Pick<Method, 'type' | 'name'>): Html {
  if (name !== null) return html`<bdi>${name}</bdi>`;
  return type === 'manual' ? html`` : words.html(`method.${type}`);
}

type View = Pick<Visit, 'words' | 'address'>;

/** The ways to pay as links that look like a choice: one page load, no script, no button between. */
function methodList({ words, address }: View, methods: readonly Listed[], chosen: number): Html {
  const rows = methods.map(
    (method, i) =>
      html`<li><a href="${address({ method: method.id })}"${i === chosen && html` aria-current="true"`}>${methodName(words, method)}</a></li>`,
  );
  const more = rows.slice(METHODS_SHOWN);
  return html`<nav class="methods" aria-label="${words.text('methods.heading')}">
<ul>${rows.slice(0, METHODS_SHOWN)}</ul>
${
  more.length > 0 &&
  html`<details${chosen >= METHODS_SHOWN && html` open`}><summary>${words.html('methods.more')}</summary><ul>${more}</ul></details>`
}
</nav>`;
}

function form(visit: View, frame: Frame, told: Told, typed: Typed | undefined): Html {
  const { words, address } = visit;
  const { merchant, methods, chosen, edit, fields } = frame;
  const { id, type } = methods[chosen]!;
  const { amount, token, shown } = told;
  const next = nextStep(words, type, merchant);
  return html`${next && html`<p>${next}</p>`}
${told.instructions}
<form method="post" action="${address({ method: id, edit })}#errors" novalidate>
${hidden({ action: 'submit', token, shown })}
${contacts(visit, id, told)}
${fields.map((name) => fieldPart(words, name, merchant, typed))}
<button class="primary">${words.html(`submit.${type}`, { amount })}</button>
<p class="fine">${words.html('pending.privacy')} ${words.html('pending.next', { merchant })}</p>
</form>`;
}

function nextStep(words: Words, type: Method['type'], merchant: string): Html | null {
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

/** What the merchant has told already, masked since the link may be in other hands, with a way to say it anew. */
function contacts({ words, address }: View, method: string, told: Told): Html | null {
  const rows = (
    [
      [words.html('fact.payer_name'), told['payer-name']],
      [words.html('fact.payer_email'), told['payer-email']],
      [words.html('fact.payer_phone'), told['payer-phone']],
    ] satisfies Fact[]
  ).filter(([, value]) => value !== null);
  if (rows.length === 0) return null;
  return html`<div class="contacts">
<h3>${words.html('contact.heading')}</h3>
${facts(rows)}
<p><a href="${address({ method, edit: CONTACT })}" aria-label="${words.text('contact.change.what')}">${words.html('contact.change')}</a></p>
</div>`;
}

/** Leaving for now, and cancelling for good: two things that must not be taken for one another. */
function leaving({ words, address }: View, { merchant, host }: Frame, { target }: Told): Html {
  return html`${wayOut(words, merchant, target === null ? null : { target, host }, 'back', 'plain')}
<details class="cancel"><summary>${words.html('pending.cancel.summary')}</summary>
<p>${words.html('pending.cancel.text')}</p>
<p><a class="plain" href="${address({ view: 'cancel' })}">${words.html('pending.cancel.link')}</a></p>
</details>`;
}
