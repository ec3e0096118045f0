// What the console's pages are made of: routes that say who may, what they are given, and what they come to.
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Permission, Principal } from '../administrators/administrator.ts';
import type { Database } from '../database/database.ts';
import type { Journal } from '../journal/journal.ts';
import type { Html } from '../lib/html.ts';
import type { Clock } from '../lib/time.ts';
import type { Directory } from '../merchants/merchant.ts';
import type { Theme } from '../ui/page.ts';

/** What every page of the console works with. */
export interface ConsoleParts {
  database: Database;
  journal: Journal;
  clock: Clock;
  directory: Directory;
  /** Without a slash at its end. */
  baseUrl: string;
  checkoutBaseUrl: string;
  /** The private directory, where checkpoints and the public key lie. */
  storage: string;
  timeZone: string;
  /** Minor units by currency above which a second administrator must confirm. */
  fourEyesAbove: Readonly<Record<string, number>>;
}

/** One request, after the guard let it through. */
export interface Context extends ConsoleParts {
  request: FastifyRequest;
  principal: Principal;
  /** Milliseconds since 1970. */
  now: number;
  theme: Theme | undefined;
  /** Parameters of the path. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** What a form sent; empty for GET. */
  form: URLSearchParams;
  /** The address of a page of the console: `address('/queue', { merchant: 'mer_…' })`; parameters that are undefined or empty are left out. */
  address(path: string, query?: Readonly<Record<string, string | undefined>>): string;
  /** The hidden field that shows a form to be ours; every form with method=post holds it. */
  token: Html;
  /** Money and moments, in the console's language. */
  money(minor: number, currency: string): string;
  moment(ms: number): string;
}

export type Outcome =
  | {
      title: string;
      content: Html;
      status?: number /** Which entry of the navigation this is. */;
      place?: string;
      wide?: boolean;
    }
  /** 303 to an address of the console. */
  | { to: string }
  /** A download. */
  | { stream: Readable; type: string; name: string };

export interface Route {
  method: 'GET' | 'POST';
  /** Below the console's address, as Fastify takes it: `/payments/:payment_id`. */
  path: string;
  permission: Permission;
  answer(context: Context): Promise<Outcome>;
}
