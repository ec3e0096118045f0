// One look at a payment's page: in which language and light, and the address of the next.
import type { FastifyRequest } from 'fastify';
import { isPaymentId } from '../payments/payment.ts';
import { PAYMENT_PAGE } from '../payments/present.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type Framed as Frame, framed as inFrame } from '../ui/framed.ts';
import type { Languages, Words } from '../ui/languages.ts';
import { type Theme, themeOf } from '../ui/theme.ts';

/** What the address may say besides the payment. */
const PARAMETERS = ['payment_id', 'lang', 'method', 'view', 'edit', 'theme'] as const;
const CHANGEABLE = ['method', 'view', 'edit', 'theme'] as const;
export type Parameters = Partial<Record<(typeof PARAMETERS)[number], string | undefined>>;

export interface Visit {
  words: Words;
  theme: Theme | undefined;
  /** The parameters as they came, each once; a repeated one counts as none. */
  asked: Parameters;
  /** The checkout's base URL, without a slash at its end, and its path. */
  baseUrl: string;
  basePath: string;
  ring: KeyRing;
  /** The address of the same payment in the same language, with `change` made to it. */
  address(change?: Parameters): string;
}

/** Where checkout is, and the languages it speaks. */
export interface Place {
  languages: Languages;
  baseUrl: string;
  basePath: string;
  ring: KeyRing;
}

export function visitOf(request: FastifyRequest, { languages, baseUrl, basePath, ring }: Place): Visit {
  const query = request.query as Record<string, unknown>;
  const asked: Parameters = {};
  for (const name of PARAMETERS) if (typeof query[name] === 'string') asked[name] = query[name];
  if (asked.payment_id !== undefined && !isPaymentId(asked.payment_id)) delete asked.payment_id;
  const words = languages.choose(asked.lang, request.headers['accept-language']);
  const theme = themeOf(request.headers.cookie, baseUrl);
  return { words, theme, asked, baseUrl, basePath, ring, address: addresses(basePath, words, asked) };
}

/** The same visit with nothing in it that tells which payment was asked for. */
export function anonymous(visit: Visit): Visit {
  const { words, asked, basePath } = visit;
  const rest = { lang: asked.lang };
  return { ...visit, asked: rest, address: addresses(basePath, words, rest) };
}

/**
 * The addresses of one payment's pages, in the same language where `lang` is said. `payment_id` is one (`isPaymentId`), so that
 * it stands in an address as it is.
 */
export function addresses(
  basePath: string,
  words: Words,
  { payment_id, lang }: Parameters,
): Visit['address'] {
  const page = `${basePath}/${PAYMENT_PAGE}`;
  const first = payment_id === undefined ? '' : `?payment_id=${payment_id}`;
  const language = lang === undefined ? undefined : words.tag;
  return (change = {}) => {
    let query = first;
    const add = (name: keyof Parameters, value: string | undefined) => {
      if (value !== undefined) query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
    };
    add('lang', 'lang' in change ? change.lang : language);
    for (const name of CHANGEABLE) if (name in change) add(name, change[name]);
    return page + query;
  };
}

export interface Framed extends Omit<Frame, 'brand' | 'here'> {
  /** The merchant's name, which stands at the top. */
  merchant?: string | undefined;
  /** What the page shows beside its state, which its links to other languages keep. */
  here?: Parameters;
}

/** A whole page of checkout. */
export function framed(visit: Omit<Visit, 'baseUrl' | 'ring'>, { merchant, here, ...parts }: Framed): string {
  const look = { ...visit, isNamed: visit.asked.lang !== undefined };
  return inFrame(look, { ...parts, brand: merchant, here: visit.address({ lang: undefined, ...here }) });
}
