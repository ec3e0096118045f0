// The pages of routine acts: each asks before something is done, takes the form, and leads back to the page of the thing.
import { OperationalError } from '../../lib/errors.ts';
import { type Html, html } from '../../lib/html.ts';
import type { Say } from '../../lib/phrases.ts';
import { type Acts, type RoutineAct, readTyped, type Taken, takenBy } from '../../web/act.ts';
import { may } from '../administrator.ts';
import { choice, type Faults, field } from './parts.ts';
import { questionPage } from './question-page.ts';
import { type Context, form, type Outcome, page, type Route } from './route.ts';

interface Things<C extends Context, T> {
  /** Of the navigation, as in `Shown`. */
  place: string;
  /** The thing that the path names. Throws `not_found`. */
  find(context: C): Promise<T>;
  /** What stands above the form. */
  head(one: T, asks: RoutineAct<T>['asks']): { title: string; heading: Html; lead: Html };
}

export const actPages = <C extends Context, T extends { id: string }>(
  { page: above, acts }: Acts<T>,
  head: Things<C, T>,
): Route<C>[] =>
  acts.flatMap((act) => {
    const things = { ...head, path: above };
    const path = `${above}/${act.name}`;
    return [
      page<C>(path, act.may, (context) => ask(context, things, act)),
      form<C>(path, act.may, (context) => take(context, things, act)),
    ];
  });

/** Links, on the page of one thing, to the acts that make sense and that the administrator may do. */
export function actLinks<T>(context: Context, { page: above, acts }: Acts<T>, one: T): Html[] {
  const { address, principal, say } = context;
  return acts
    .filter(
      ({ may: needed, offers, isDone }) => may(principal.role, needed) && (offers?.(one) ?? !isDone?.(one)),
    )
    .map(
      ({ name, asks }) =>
        html`<a class="secondary" href="${address(`${below(context, above)}/${name}`)}">${say.of(asks.link)}</a> `,
    );
}

const below = ({ params }: Context, path: string) => path.replace(/:(\w+)/g, (_, name) => params[name]!);

async function ask<C extends Context, T extends { id: string }>(
  context: C,
  things: Things<C, T> & { path: string },
  act: RoutineAct<T>,
  faults: Faults = {},
): Promise<Outcome> {
  const one = await things.find(context);
  const path = below(context, things.path);
  const back = context.address(path);
  if (act.isDone?.(one)) return { to: back };
  const { say } = context;
  const { title, lead, button, look = 'primary' } = act.asks;
  const fields = html`${takenBy(act, () => context.now).map(([name, { asks }]) => fieldOf(context, name, asks, faults))}`;
  const { place } = things;
  const head = things.head(one, { ...act.asks, title: say.of(title), lead: say.of(lead) });
  return questionPage(context, {
    ...{ ...head, place, path: `${path}/${act.name}`, fields, button: say.of(button), look, back, faults },
  });
}

function fieldOf(
  { form: typed, say }: Context,
  ownName: string,
  { name = ownName, label, choices, missing: _, initial = '', hint, most, ...more }: Taken<unknown>['asks'],
  faults: Faults,
): Html {
  const fault = faults[name];
  const value = typed.get(name) ?? initial;
  return choices
    ? choice({
        name,
        legend: say.of(label),
        options: choices.map(([one, text]) => [one, say.of(text)]),
        chosen: value,
        fault,
      })
    : field({ name, label: say.of(label), hint: hintOf(say, hint, most), value, fault, ...more });
}

/** A field's hint, with how long it may be. */
function hintOf(say: Say, hint: string | undefined, most: number | undefined): string {
  const parts = [hint && say.of(hint), most && say`${most} characters or fewer.`];
  return parts.filter(Boolean).join(' ');
}

async function take<C extends Context, T extends { id: string }>(
  context: C,
  things: Things<C, T> & { path: string },
  act: RoutineAct<T>,
): Promise<Outcome> {
  const { journal, principal, form: typed, now } = context;
  const one = await things.find(context);
  const values: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const [name, one] of takenBy(act, () => now)) {
    const field = one.asks.name ?? name;
    const got = readTyped(one, typed.get(field) ?? '', now);
    if ('fault' in got) faults[field] = context.say.of(got.fault);
    else values[name] = got.value;
  }
  if (Object.keys(faults).length > 0) return ask(context, things, act, faults);
  try {
    await act.does(journal, one, values, { ...context.act, kind: 'administrator', by: principal.id });
  } catch (error) {
    if (!(error instanceof OperationalError && error.code === 'invalid_status')) throw error;
    // Another administrator may have been first, with the same or with the opposite, which must not count as done.
    if (!act.isDone?.(await things.find(context))) throw error;
  }
  return { to: context.address(below(context, things.path)) };
}
