// What the console's pages are made of: routes that say who may, what they are given, and what they come to.
import type { FastifyRequest } from 'fastify';
import type { Act } from '../../journal/audit-entry.ts';
import type { Journal } from '../../journal/journal.ts';
import type { KeyRing } from '../../journal/keys/key-ring.ts';
import type { Html } from '../../lib/html.ts';
import type { Clock } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import type { Theme } from '../../web/markup/theme.ts';
import type { Framed, PageAnswer, PageRoute } from '../../web/pages/route.ts';
import * as pages from '../../web/pages/route.ts';
import type { Principal } from '../administrator.ts';
import type { FailureTally } from '../failures.ts';
import type { Cost } from '../password.ts';
import type { SessionEnd } from '../session.ts';
import type { FormKey } from './cookies.ts';
import type { Tongue } from './tongue.ts';

/** What every page of the console works with. What the pages of one room need besides, its routes close over: see `withParts`. */
export interface ConsoleParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  /** Failed sign-ins of this node that have no entry of their own. */
  tally: FailureTally;
  ring: KeyRing;
  /** Of hashing a password, where it is not the usual. */
  passwordCost?: Cost | undefined;
  /** Without a slash at its end. */
  baseUrl: string;
  timeZone: string;
  /** How many payments wait for a decision; the navigation shows it. */
  waiting(): Promise<number>;
}

/** One request to the console, of an administrator or a stranger. */
export interface Visit extends ConsoleParts, Tongue {
  request: FastifyRequest;
  /** The path of the console's address, without a slash at its end. */
  path: string;
  /** The pages that a draft may be shown on again, by their paths. */
  pages: ReadonlyMap<string, Route>;
  /** Undefined for a stranger, and on the pages of accounts that are not theirs yet. */
  principal: Principal | undefined;
  /** When the session ends. */
  ends: SessionEnd | undefined;
  /** Milliseconds since 1970. */
  now: number;
  theme: Theme | undefined;
  /** Whether single letters are keys of the pages; each may switch them off for themselves. */
  keys: boolean;
  /** Parameters of the path. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /**
   * The values of a form. With GET it is empty, or the draft that was kept during a sign-in: a page with a form takes the first values of
   * its fields from here.
   */
  form: URLSearchParams;
  /** The address that a choice of theme or language comes back to; none, and no choice, where opening it would lose what is shown. */
  here: string | undefined;
  /**
   * The address of a page of the console: `address('/queue', { merchant: 'mer_…' })`; parameters that are undefined or empty are
   * left out. Links and forms (`action`) are always written with it: a page may be shown at another address than its own.
   */
  address(path: string, query?: Readonly<Record<string, string | undefined>>): string;
  /** What the tokens of this visitor's forms are made with. */
  formKey: FormKey;
  /** The hidden field that shows a form to be ours; every form with method=post holds it. */
  token: Html;
  /** The one script that may run in the answer. */
  nonce: string;
  cookies: readonly string[];
}

/** The visit of an administrator who may do what the route does. */
export interface Context extends Visit {
  principal: Principal;
  ends: SessionEnd;
  /** For the entries of what the request changes. */
  act: Act;
}

/** What a page of the console comes to. */
export type Outcome = PageAnswer<Shown>;

export interface Shown extends Framed {
  /** The page's h1, as text. */
  title: string;
  /** The entry of the navigation that is marked as current: the path of its page, or `/account`. */
  place?: string;
  /** How its content is laid out: a page if undefined; `panes` are a list and what is open beside it, `one` is what would be open. */
  layout?: 'page' | 'panes' | 'one';
  /** Whether narrow screens show what is open of the two panes, and not the list. */
  isOpen?: boolean;
  /** The link that skips the list: the id of its target, and its text. */
  skip?: { to: string; text: string } | undefined;
  /** The faults of its form, by the ids of their fields: shown in a summary above the content. */
  faults?: Readonly<Record<string, string>>;
}

/**
 * A page, or what a form does. Before `answer` is called, the guard has checked the session, the role and, for POST, that the form
 * comes from a page of the console.
 *
 * The script finds what it works on by attributes, in the order of the page: `data-key-row` on the link of each row that `j` and
 * `k` go through and `o` opens; `data-key="a"` on a link or button that the letter follows or presses. Letters in use: `a`
 * approve, `r` reject, `m` record money, `e` claim, `n` and `p` the payment behind and before, `u` import and `d` download statements,
 * `i` the reason for ignoring a line (on the input), `/` the search field (on the input). A key never decides: what `a` and `r` lead to
 * is a page that asks. `data-focus` has the focus at first, where it is in sight. `data-news` on an element is the address to ask how
 * many payments are new, and `data-with-script` is hidden without the script.
 */
export type Route<C extends Visit = Context> = PageRoute<C, Outcome>;

type Made<C extends Visit> = (...made: Parameters<typeof pages.formAt<C, Outcome>>) => Route<C>;
export const page: <C extends Visit = Context>(...made: Parameters<Made<C>>) => Route<C> = pages.pageAt;
export const form: <C extends Visit = Context>(...made: Parameters<Made<C>>) => Route<C> = pages.formAt;

/** The routes of a room, each of which is given `parts` besides what every page works with. */
export const withParts = <P>(parts: P, routes: readonly Route<Context & P>[]): Route[] =>
  routes.map((route) => ({ ...route, answer: (context) => route.answer({ ...context, ...parts }) }));
