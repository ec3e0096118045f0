// The page of a payment that waits to be paid, and the question before it is cancelled for good.
import { html } from '../lib/html.ts';
import type { Skeletons } from '../lib/skeleton.ts';
import { FIELDS } from '../methods/fields.ts';
import type { Method } from '../methods/method.ts';
import { facts } from '../ui/facts.ts';
import { CONTACT, type ContactName, knownContacts, type Typed } from './form.ts';
import { hiddenToken, submitToken } from './form-guard.ts';
import type { LatestInstructions } from './instructions.ts';
import { help, outTo, type Subject } from './parts.ts';
import { type Frame, pendingMarkup, type Told } from './pending-markup.ts';
import { framed, type Visit } from './visit.ts';

export interface Pending extends Subject {
  methods: readonly Method[];
  /** The method whose form is shown. */
  method: Method;
  /** What was typed and did not pass. */
  typed?: Typed | undefined;
  latest: LatestInstructions;
}

/** The page, made of a skeleton where there are `skeletons`; one that tells what is wrong with a form is made anew each time. */
export function pendingPage(visit: Visit, pending: Pending, skeletons?: Skeletons): string | Buffer {
  const { words, typed } = pending;
  const { frame, told } = partsOf(visit, pending);
  if (typed || !skeletons) return pendingMarkup(words, frame, told, typed);
  return skeletons.fill(JSON.stringify(frame), told, (values) => pendingMarkup(words, frame, values));
}

/** Takes the page apart: into what many payments have in common, and what is this one's. */
function partsOf(visit: Visit, pending: Pending): { frame: Frame; told: Told } {
  const { payment, profile, words, amount, isLong, methods, method, latest } = pending;
  const { theme, basePath, asked } = visit;
  const known = knownContacts(payment, method, asked.edit);
  const instructed = latest.of(pending, method, () => method.instructions(payment));
  const shown = instructed?.json ?? null;
  const out = outTo(pending, payment.return_url ?? payment.cancel_url);
  const masked = (name: ContactName) => {
    const value = known.get(name);
    return value === undefined ? null : FIELDS[name].mask(value);
  };
  const frame: Frame = {
    language: words.tag,
    theme,
    basePath,
    isNamed: asked.lang !== undefined,
    wanted: asked.method,
    edit: asked.edit === CONTACT ? CONTACT : undefined, // nothing of an address is repeated but what it can mean
    merchant: payment.merchant_name,
    isTest: payment.mode === 'test',
    isLong,
    support: profile.support,
    host: out?.host ?? null,
    methods: methods.map(({ id, type, name }) => ({ id, type, name })),
    chosen: methods.indexOf(method),
    fields: method.fields.map(({ name }) => name).filter((name) => !known.has(name)),
  };
  const told: Told = {
    id: payment.id,
    amount,
    reference: payment.merchant_reference,
    description: payment.description || null,
    expires: words.moment(payment.expires_at),
    target: out?.target ?? null,
    token: submitToken(payment, method.id, shown),
    shown,
    instructions: instructed?.markup ?? null,
    'payer-name': masked('payer-name'),
    'payer-email': masked('payer-email'),
    'payer-phone': masked('payer-phone'),
  };
  return { frame, told };
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
