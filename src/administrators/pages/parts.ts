// The pieces that several of the console's pages are made of.

import { OperationalError } from '../../lib/errors.ts';
import { attributes, type Html, html } from '../../lib/html.ts';
import { randomId } from '../../lib/ids.ts';
import { ENGLISH, phrase, type Say } from '../../lib/phrases.ts';
import { derivedSecret, sha256Hex } from '../../lib/secrets.ts';
import { duration, formatTimestamp, MINUTE_MS } from '../../lib/time.ts';
import { type FieldMarkup, fieldMarkup, summaryOfFaults } from '../../web/markup/field.ts';
import { type IconName, icon } from '../../web/markup/icons.ts';
import { type TermRow, terms } from '../../web/markup/parts.ts';
import type { Context } from './route.ts';

/** Whether an amount is so long that narrow pages show it smaller, or on two lines. */
export const isLong = (amount: string) => amount.length > 13;

/** A moment (milliseconds since 1970) in words, and exactly for the caller the markup. */
export function moment(context: Context, ms: number): Html {
  return html`<time datetime="${formatTimestamp(ms)}">${context.moment(ms)}</time>`;
}

/** How long ago `ms` was, with the moment itself behind it in the markup. */
export function age(context: Context, ms: number): Html {
  const passed = context.now - ms;
  const text = passed < MINUTE_MS ? context.say`under 1 min` : duration(passed);
  return html`<time datetime="${formatTimestamp(ms)}">${text}</time>`;
}

/** What runs left to right in every language and is no word: ids, accounts, addresses. */
export function literal(text: string): Html {
  return html`<span class="literal" dir="ltr" translate="no">${text}</span>`;
}

/** Text from outside. Its direction follows its own letters. */
export function said(text: string): Html {
  return html`<span class="said" dir="auto">${text}</span>`;
}

/** Administrators' names, by their ids. */
export type Names = ReadonlyMap<string, string>;

/** What an administrator is called on a page that `principal` reads. */
export function nameOf({ principal, say }: Context, names: Names, id: string): Html {
  return id === principal.id ? html`${say`you`}` : said(names.get(id) ?? id);
}

/** `look`: the class of the list. */
export const rows = (list: readonly TermRow[], look = 'terms'): Html => terms(look, list);

/** The same as `rows`, closer together. */
export const pairs = (list: readonly TermRow[]): Html => rows(list, 'pairs');

/** What is wrong with a form, by the field it is wrong with. */
export type Faults = Readonly<Record<string, string>>;

export const hasFaults = (faults: Faults = {}) => Object.keys(faults).length > 0;

/** The summary of a page's faults, each with a link to its field. A sentence that is said of several fields stands there once. */
export function errorSummary(faults: Faults, say: Say = ENGLISH): Html | null {
  if (!hasFaults(faults)) return null;
  const all = Object.entries(faults);
  const faultsSaid = all.filter(([, fault], i) => all.findIndex(([, other]) => other === fault) === i);
  const summary = summaryOfFaults(
    say`There is a problem`,
    faultsSaid.map(([field, message]) => ({ field, message })),
  );
  return html`${summary}\n`;
}

/** One field: its label, its hint, what is wrong with it, and the control. */
export function field({ name, attributes: more, ...parts }: FieldMarkup & { name: string }): Html {
  return fieldMarkup(name, { ...parts, attributes: { autocomplete: 'off', ...more } });
}

interface ChoiceParts {
  name: string;
  legend: string;
  options: readonly (readonly [value: string, label: string])[];
  chosen: string | undefined;
  fault?: string | undefined;
  /** Whether the keyboard is on its first option at once. */
  autofocus?: boolean;
}

/** One of a few, all of them to be seen. The first has the field's name as its id, so that a summary of faults leads to it. */
export function choice({ name, legend, options, chosen, fault, autofocus = false }: ChoiceParts): Html {
  const described = attributes({ 'aria-describedby': fault && `${name}-error` });
  return html`<fieldset class="choice${fault && ' wrong'}"${described}><legend>${legend}</legend>
${fault && html`<p class="error" id="${name}-error">${fault}</p>\n`}${options.map(([value, label], index) => {
  const id = index === 0 ? name : `${name}-${value}`;
  const checked = value === chosen;
  const input = attributes({ type: 'radio', id, name, value, checked, autofocus: autofocus && index === 0 });
  return html`<div class="radio"><input${input}><label for="${id}">${label}</label></div>\n`;
})}</fieldset>
`;
}

/** What was done, or what to know before anything else. */
export function notice(content: Html, kind: 'status' | 'warn' = 'status'): Html {
  return kind === 'status'
    ? html`<div class="notice done" role="status">${content}</div>`
    : html`<div class="notice warn">${content}</div>`;
}

/** What a list shows that has nothing in it: a picture, what there is not, and a way on. */
export function emptyState(picture: IconName, text: Html | string, way: Html | false | null = null): Html {
  return html`<div class="empty">${icon(picture)}<p>${text}</p>${way}</div>`;
}

const SEED = /^[0-9a-z]{26}$/;

/** What makes the secret of a form: the same as long as it is the same form, however often it is sent. */
export function seedField({ form }: Context): Html {
  const sent = form.get('seed') ?? '';
  return html`<input type="hidden" name="seed" value="${SEED.test(sent) ? sent : randomId('')}">`;
}

/**
 * The secret that a form comes to, with all that it says, in this session and under this address alone: a form that says anything else
 * comes to another. Throws `bad_request` for a form without a seed.
 */
export function formSecret({ form, params, formKey }: Context, prefix: string): string {
  const seed = form.get('seed') ?? '';
  if (!SEED.test(seed))
    throw new OperationalError('bad_request', phrase('The form is not whole. Open its page again.'));
  const said = [...form].filter(([name]) => name !== 'token');
  const all = JSON.stringify([params.merchant_id ?? null, params.key_id ?? null, said]);
  return derivedSecret(prefix, Buffer.from(formKey.secret), `console form ${seed} ${sha256Hex(all)}`);
}
