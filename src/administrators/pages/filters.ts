// The filters of a list: as an address says them, and the fields of the form that asks for them.
import { attributes, type Html, html } from '../../lib/html.ts';
import { ENGLISH, type Say } from '../../lib/phrases.ts';
import { dayBounds } from '../../lib/time.ts';
import { icon } from '../../web/markup/icons.ts';
import { type Faults, field } from './parts.ts';
import type { Context } from './route.ts';

/** The filters `names` of an address, to be read or carried on in another; empty fields and texts over `maximum` do not count. */
export function askedOf<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
  maximum: number,
): Partial<Record<Name, string>> {
  const asked: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = query.get(name)?.trim();
    if (value && value.length <= maximum) asked[name] = value;
  }
  return asked;
}

/** The time range of a list in milliseconds since 1970, from days in `timeZone`. Invalid days are in `faults`. */
export function daysAsked(
  say: Say,
  asked: { from?: string; to?: string },
  timeZone: string,
  faults: Record<string, string>,
): { from: number | undefined; to: number | undefined } {
  const day = (name: 'from' | 'to', label: string) => {
    const bounds = asked[name] === undefined ? undefined : dayBounds(asked[name], timeZone);
    if (asked[name] !== undefined && !bounds) faults[name] = say`${label} must be a date like 2026-11-20`;
    return bounds?.[name];
  };
  return { from: day('from', say`From`), to: day('to', say`To`) };
}

/** The values of a choice, and what each is called. */
export type SelectChoices = readonly (readonly [value: string, label: string])[];

/**
 * A labelled choice of a form of filters; a value of the address that is none of the choices stands among them all the same. `none` is
 * the label of choosing nothing.
 */
export function filterChoice(
  say: Say,
  name: string,
  label: string,
  choices: SelectChoices,
  chosen: string | undefined,
  fault?: string,
  id = name,
  none: string | null = say`Any`,
): Html {
  const known = [...(none === null ? [] : [['', none] as const]), ...choices];
  const isKnown = chosen === undefined || known.some(([value]) => value === chosen);
  const all = isKnown ? known : [...known, [chosen, chosen] as const];
  return field({ name, id, label, fault, choices: all, value: chosen });
}

/** The field of a search in one line with its button. `hint` says what it finds; by default, payments. */
export function findField(
  { say, keys }: Pick<Context, 'say' | 'keys'>,
  asked: string | undefined,
  hint = say`Reference, name, amount, bank line`,
): Html {
  const search = attributes({
    id: 'q',
    name: 'q',
    type: 'search',
    dir: 'auto',
    autocomplete: 'off',
    spellcheck: 'false',
    autocapitalize: 'none',
    'data-key': '/',
    placeholder: hint,
    'aria-describedby': 'q-hint',
    value: asked,
  });
  return html`<div class="find"><label class="vh" for="q">${say`Search`}</label><p class="vh" id="q-hint">${hint}</p>
<input${search}>${keys && html`<kbd aria-hidden="true" data-with-script hidden>/</kbd>`}
<button>${icon('search')}<span class="vh">${say`Search`}</span></button></div>
`;
}

/** The fields of the days that `daysAsked` reads. */
export function dayFields(asked: { from?: string; to?: string }, faults: Faults, say: Say = ENGLISH): Html {
  const day = (name: 'from' | 'to', label: string) =>
    field({ name, label, value: asked[name], fault: faults[name], attributes: { type: 'date' } });
  return html`${day('from', say`From`)}${day('to', say`To`)}`;
}

/** The form of a list's filters, whose answer is an address that can be kept. `asked` are the parameters that are set. */
export function filterBar(
  { address, say }: Context,
  path: string,
  asked: Readonly<Record<string, string | undefined>>,
  { fields, button, label = button }: { fields: Html; button: string; label?: string },
): Html {
  const clear =
    Object.keys(asked).length > 0 && html` <a class="plain" href="${address(path)}">${say`Clear`}</a>`;
  return html`<form method="get" action="${address(path)}" class="filter-bar" role="search" aria-label="${label}" novalidate>
${fields}<p class="actions">${button !== '' && html`<button>${button}</button>`}${clear}</p>
</form>`;
}
