// What the console's pages are made of: routes that say who may, what they are given, and what they come to.
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Act } from '../../journal/audit-entry.ts';
import type { Journal } from '../../journal/journal.ts';
import type { KeyRing } from '../../journal/keys/key-ring.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { Html } from '../../lib/html.ts';
import type { Say } from '../../lib/phrases.ts';
import type { Clock } from '../../lib/time.ts';
import type { Database } from '../../store/database.ts';
import type { Permission } from '../../web/endpoint.ts';
import type { Principal } from '../administrator.ts';
import type { FailureTally } from '../failures.ts';
import type { Cost } from '../password.ts';
import type { SessionEnd } from '../session.ts';

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

/** One request, after the guard let it through. */
export interface Context extends ConsoleParts {
  request: FastifyRequest;
  principal: Principal;
  /** For the entries of what the request changes. */
  act: Act;
  /** Milliseconds since 1970. */
  now: number;
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
  /**
   * The address of a page of the console: `address('/queue', { merchant: 'mer_…' })`; parameters that are undefined or empty are
   * left out. Links and forms (`action`) are always written with it: a page may be shown at another address than its own.
   */
  address(path: string, query?: Readonly<Record<string, string | undefined>>): string;
  /** The hidden field that shows a form to be ours; every form with method=post holds it. */
  token: Html;
  /** A secret made of this session's and of `seed`, which neither tells alone: the same each time the same form is sent. */
  secretOf(prefix: string, seed: string): string;
  /** When the session ends. */
  ends: SessionEnd;
  /** Says the console's texts in the reader's language. */
  say: Say;
  /** Money and moments, in the reader's language. */
  money(minor: number, currency: string): string;
  moment(ms: number): string;
}

/**
 * What a page comes to. Errors are thrown: an `OperationalError` becomes a page that says its message, with its status, and
 * anything else the page of a failure; faults of a form are the page's own to show, with status 422 and `faults`.
 */
export type Outcome = Shown | Elsewhere | Download;

interface Sent {
  /** `set-cookie` and the like. */
  headers?: Record<string, string | string[]>;
}

export interface Shown extends Sent {
  /** The page's h1, as text. */
  title: string;
  /** Everything within `main` but the summary of faults: h1 and all. */
  content: Html;
  /** The entry of the navigation that is marked as current: the path of its page, or `/account`. */
  place?: string;
  /** How its content is laid out: a page if undefined; `panes` are a list and what is open beside it, `one` is what would be open. */
  layout?: 'page' | 'panes' | 'one';
  /** Whether narrow screens show what is open of the two panes, and not the list. */
  isOpen?: boolean;
  /** The link that skips the list: the id of its target, and its text. */
  skip?: { to: string; text: string } | undefined;
  /** 200, or 422 if there are faults, if undefined. */
  status?: number | undefined;
  /** The faults of its form, by the ids of their fields: shown in a summary above the content. */
  faults?: Readonly<Record<string, string>>;
  /** Why it shows nothing else, for the log. */
  code?: ErrorCode;
}

/** 303 to an address of the console, made by `address`. */
interface Elsewhere extends Sent {
  to: string;
}

interface Download {
  stream: Readable;
  type: string;
  name: string;
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
export interface Route<C extends Context = Context> {
  method: 'GET' | 'POST';
  /** Below the console's address, as Fastify takes it: `/payments/:payment_id`; `/` is the first page. */
  path: string;
  permission: Permission;
  /** The path of the page itself or, for POST, of the page that the form stands on, with the same parameters. */
  page: string;
  /** Set if each GET is recorded in the history. Such a page answers no HEAD, which would be recorded too. */
  isTold?: true;
  /** Set if its form brings files (`FilesForm`): the body is read only after the session was checked. */
  takesFiles?: true;
  /** Set if the script asks by itself: that keeps no session alive. */
  isBackground?: true;
  answer(context: C): Outcome | Promise<Outcome>;
}

export const page = <C extends Context = Context>(
  path: string,
  permission: Permission,
  answer: Route<C>['answer'],
): Route<C> => ({ method: 'GET', path, permission, page: path, answer });

/** A form's POST to `path`. `standsOn` is the path of its page: a draft is shown there again, and a GET of `path` leads there. */
export const form = <C extends Context = Context>(
  path: string,
  permission: Permission,
  answer: Route<C>['answer'],
  standsOn = path,
): Route<C> => ({ method: 'POST', path, permission, page: standsOn, answer });

/** The routes of a room, each of which is given `parts` besides what every page works with. */
export const withParts = <P>(parts: P, routes: readonly Route<Context & P>[]): Route[] =>
  routes.map((route) => ({ ...route, answer: (context) => route.answer({ ...context, ...parts }) }));
