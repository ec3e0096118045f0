// The form of a method: its fields as markup, what a customer sent in them, and what is shown again of a form that was refused.

import type { KeyRing } from '../journal/keys/key-ring.ts';
import { type Html, hidden, html, settled } from '../lib/html.ts';
import { jsonOr } from '../lib/text.ts';
import {
  FIELDS,
  type Field,
  type FieldFault,
  type FieldName,
  type FieldUse,
  type Kept,
  readField,
} from '../payments/methods/fields.ts';
import { type Instructions, type Method, TRANSFER_FIELDS } from '../payments/methods/offer.ts';
import { compactAccount } from '../payments/methods/transfer/payer-account.ts';
import { customerOf, type Payment } from '../payments/payment.ts';
import type { Submission } from '../payments/submit.ts';
import { type FormFault, fieldMarkup } from '../web/markup/field.ts';
import type { Key, Words } from '../web/markup/languages.ts';
import type { SitePage } from '../web/pages/framed-page.ts';
import type { CheckoutVisit } from './visit.ts';

/** A form as it came: what was typed and what is wrong with it. */
export interface TypedPayment {
  /** Whether a card number was typed, which is not written back. */
  again: boolean;
  values: ReadonlyMap<FieldName, string>;
  faults: readonly FormFault<FieldName>[];
}

/** What the address says where contacts are said anew. */
export const CONTACT = 'contact';

const CONTACTS = {
  'payer-name': 'name',
  'payer-email': 'email',
  'payer-phone': 'phone',
} as const;
export type ContactName = keyof typeof CONTACTS;
const isContact = (name: FieldName): name is ContactName => Object.hasOwn(CONTACTS, name);

/**
 * The contact details the merchant handed over with the payment, by the field that would ask for them; none where the customer
 * chose to say them anew (`edit` is `contact`).
 */
export function knownContacts(
  payment: Payment,
  method: Method,
  edit: string | undefined,
): ReadonlyMap<FieldName, string> {
  const known = new Map<FieldName, string>();
  if (edit === CONTACT || payment.customer === null) return known;
  const customer = customerOf(payment);
  for (const { name } of method.fields) {
    const given = isContact(name) && customer[CONTACTS[name]];
    if (given) known.set(name, given);
  }
  return known;
}

/** Reads what was sent for `method`. `known` is what the form did not ask, since the merchant had said it. */
export function readForm(
  sent: URLSearchParams,
  method: Method,
  known: ReadonlyMap<FieldName, string>,
  words: Words,
  merchant: string,
  now: number,
): TypedPayment & { kept: ReadonlyMap<FieldName, Kept> } {
  const values = new Map<FieldName, string>();
  const kept = new Map<FieldName, Kept>();
  const faults: FormFault<FieldName>[] = [];
  for (const use of method.fields) {
    const { name } = use;
    const given = known.get(name);
    if (given !== undefined) {
      kept.set(name, given);
      continue;
    }
    const raw = sent.get(name) ?? '';
    const reading = readField(use, raw, now);
    const repeatable = !('secret' in FIELDS[name]) && !('fault' in reading && reading.fault === 'card');
    if (repeatable) values.set(name, raw);
    if ('fault' in reading)
      faults.push({ field: name, message: faultMessage(words, use, reading.fault, merchant) });
    else if (reading.kept !== null) kept.set(name, reading.kept);
  }
  return { again: (sent.get('card-number') ?? '').trim() !== '', values, faults, kept };
}

function faultMessage(words: Words, { name }: FieldUse, fault: FieldFault, merchant: string): Html {
  if (fault === 'text' || fault === 'card')
    return words.html(`error.${fault}`, { field: words.html(`field.${name}`, { merchant }) });
  return words.html(`error.${name}.${fault}` as Key, { maximum: FIELDS[name].maximum });
}

/** The submission of a form without faults, with the instructions of its page: whole for the reviewer, masked for all others. */
export function submissionFrom(
  method: Method,
  kept: ReadonlyMap<FieldName, Kept>,
  instructions: Instructions | null,
  language: string,
): Submission {
  const head = { method: method.id, type: method.type, name: method.name };
  const whole: Record<string, unknown> = { ...head, language };
  const masked: Record<string, unknown> = { ...head };
  for (const [name, value] of kept) {
    const field: Field = FIELDS[name];
    if (field.keptAs === null) continue;
    whole[field.keptAs] = value;
    masked[field.keptAs] = typeof value === 'string' && field.mask ? field.mask(value) : value;
  }
  if (instructions) whole.instructions = instructions;
  if (instructions?.kind === 'transfer') masked.transfer_reference = instructions.reference;
  const typed = (name: FieldName) => {
    const value = kept.get(name);
    return typeof value === 'string' ? value : null;
  };
  const account = typed('transfer-iban');
  const payer = {
    name: typed('transfer-name') ?? typed('payer-name'),
    email: typed('payer-email'),
    account: account && compactAccount(account),
  };
  return { method: method.id, whole, masked, payer };
}

/** A field of the form: its label, its hint and its fault, if any, in the summary's words. */
export function fieldPart(
  words: Words,
  name: FieldName,
  merchant: string,
  typed: TypedPayment | undefined,
  idPrefix = '',
): Html {
  const draw = () => {
    const field: Field = FIELDS[name];
    const again = name === 'card-number' && typed?.again;
    return fieldMarkup(name, {
      label: words.html(`field.${name}`, { merchant }),
      hint: again ? words.html('field.card-number.again') : hintOf(words, name, merchant),
      fault: typed?.faults.find((one) => one.field === name)?.message,
      value: typed?.values.get(name) ?? '',
      lines: field.lines,
      id: idPrefix + name,
      attributes: field.attributes,
    });
  };
  if (typed) return draw();
  // An empty field is the same on the page of every payment.
  return words.remembered(`empty field\0${name}\0${idPrefix}\0${merchant}`, () => settled(draw()));
}

const HINTED = ['payer-email', 'customer-reference', 'card-expiry', 'transfer-iban'] as const;

function hintOf(words: Words, name: FieldName, merchant: string): Html | null {
  const hinted = HINTED.find((one) => one === name);
  return hinted ? words.html(`field.${hinted}.hint`, { merchant }) : null;
}

const ACTIONS = ['submit', 'withdraw', 'cancel', 'ask', 'try'] as const;
type Action = (typeof ACTIONS)[number];

/**
 * What the token of one payment's form authenticates. Every node makes the same token, so it is stored nowhere; it is good as long as
 * the payment is. `terms` are what the form rests on beside the payment.
 */
function statement({ id }: Payment, action: Action, terms: readonly string[]): string {
  return JSON.stringify(['checkout form', id, action, ...terms]);
}

/** The fields of a form that say which action it is and that it is ours. */
export function hiddenToken(ring: KeyRing, payment: Payment, action: Exclude<Action, 'submit'>): Html {
  return hidden({ action, token: ring.mac('checkout form', statement(payment, action, [])) });
}

/**
 * The token of the form of a method. What the page tells the customer to do (`shown`, as JSON text) goes along with it, and is under it:
 * what is kept is what they were shown, whatever the configuration says by the time they send it.
 */
export function submitToken(ring: KeyRing, payment: Payment, method: string, shown: string | null): string {
  return ring.mac('checkout form', statement(payment, 'submit', [method, shown ?? '']));
}

/** The action of a form that is ours, for this payment and method; nothing for any other. */
export function actionOf(
  ring: KeyRing,
  payment: Payment,
  sent: URLSearchParams,
  method: string | undefined,
): Action | undefined {
  const action = ACTIONS.find((one) => one === sent.get('action'));
  if (!action) return undefined;
  const terms = action === 'submit' ? [method ?? '', sent.get('shown') ?? ''] : [];
  const stated = statement(payment, action, terms);
  return ring.isMac('checkout form', stated, sent.get('token') ?? '') ? action : undefined;
}

/** The method of a transfer form: the one on offer, or the one whose instructions the form repeats, which may be offered no more. */
export function transferIn(
  form: URLSearchParams,
  id: string | undefined,
  offered: readonly Method[],
): Method | undefined {
  const method = offered.find((one) => one.id === id);
  if (method) return method.type === 'bank_transfer' ? method : undefined;
  const shown = readShown(form);
  if (id === undefined || shown?.kind !== 'transfer') return undefined;
  return {
    id,
    type: 'bank_transfer',
    name: null,
    fields: TRANSFER_FIELDS,
    fits: () => true,
    instructions: () => shown,
  };
}

/** The instructions that the customer was shown, as the form repeats them. */
export function readShown(form: URLSearchParams): Instructions | undefined {
  return jsonOr(form.get('shown') ?? '') as Instructions | undefined; // it may not be a form of ours
}

/** Whether a form says that a transfer was sent, as far as that can be told without its payment. */
export const saysSent = (form: URLSearchParams): boolean =>
  form.get('action') === 'submit' && readShown(form)?.kind === 'transfer';

/** The page of an announcement that could not be kept: not to pay again, and the same form with one button; if it is no form of ours,
 * only the way to the payment's page. */
export function unsavedPage(visit: CheckoutVisit, form?: URLSearchParams, more?: Html): SitePage {
  const { words, asked, address } = visit;
  const { method, edit } = asked;
  const content = html`<h1>${words.html('announced.heading')}</h1>
<p>${words.html('announced.unsaved')}</p>
${
  form &&
  html`<form method="post" action="${address({ method, edit })}#errors" class="actions">
${hidden(Object.fromEntries(form))}
<button class="primary">${words.html('submit.bank_transfer')}</button>
</form>`
}
<div class="actions"><p><a class="${form ? 'secondary' : 'primary'}" href="${address()}">${words.html('refused.back')}</a></p></div>
${more}`;
  return { heading: words.text('announced.heading'), content };
}

/** Longer addresses do not pass every proxy: such a form is answered with the page itself. */
const SEALED_MAXIMUM = 3000;

const cellOf = ({ id }: Payment, method: Method) => ({ table: 'checkout form', row: id, column: method.id });

/**
 * The address of the page with what was typed, sealed for this payment and method. Undefined if the request is no navigation of a browser,
 * the form has a field that is never written back, or too much was typed.
 */
export function typedAddress(
  { request, asked, address }: CheckoutVisit,
  ring: KeyRing,
  payment: Payment,
  method: Method,
  { values }: TypedPayment,
): string | undefined {
  const isSecret = method.fields.some(({ name }) => (FIELDS[name] as Field).secret);
  if (request.headers['sec-fetch-mode'] !== 'navigate' || isSecret) return undefined;
  const typed = ring.seal(cellOf(payment, method), JSON.stringify([...values]));
  if (typed.length > SEALED_MAXIMUM) return undefined;
  return `${address({ method: method.id, edit: asked.edit, typed })}#errors`;
}

/** What an address says was typed; undefined if it says nothing, or was made for another payment or method, or with a key that is gone. */
export function typedBefore(
  { asked }: CheckoutVisit,
  ring: KeyRing,
  payment: Payment,
  method: Method,
): URLSearchParams | undefined {
  if (asked.typed === undefined) return undefined;
  try {
    return new URLSearchParams(JSON.parse(ring.open(cellOf(payment, method), asked.typed)));
  } catch {
    return undefined;
  }
}
