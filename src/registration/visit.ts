// One look at a page of registration: in which language and light, and the address of the next.
import type { FastifyRequest } from 'fastify';
import { pathOf } from '../lib/web-address.ts';
import { type Framed, framed, type Look } from '../ui/framed.ts';
import type { Languages } from '../ui/languages.ts';
import { themeOf } from '../ui/theme.ts';

/** The name at the top of a page that no merchant stands behind yet. */
const BRAND = 'Counterfoil';
/** What the address may say. */
const PARAMETERS = ['lang', 'theme', 'invite'] as const;
type Parameters = Partial<Record<(typeof PARAMETERS)[number], string | undefined>>;

export interface Visit extends Look {
  /** The parameters as they came, each once; a repeated one counts as none. */
  asked: Parameters;
  /** The address of the form with the same invitation, in the language that the address names, or in `lang`. */
  address(change?: { lang: string | undefined }): string;
}

/** Where registration is, without a slash at its end, and the languages it speaks. */
export interface Place {
  languages: Languages;
  pageUrl: string;
}

export function visitOf(request: FastifyRequest, { languages, pageUrl }: Place): Visit {
  const query = request.query as Record<string, unknown>;
  const asked: Parameters = {};
  for (const name of PARAMETERS) if (typeof query[name] === 'string') asked[name] = query[name];
  const words = languages.choose(asked.lang, request.headers['accept-language']);
  const basePath = pathOf(pageUrl);
  const isNamed = asked.lang !== undefined;
  return {
    words,
    theme: themeOf(request.headers.cookie, pageUrl),
    isNamed,
    basePath,
    asked,
    address({ lang } = { lang: isNamed ? words.tag : undefined }) {
      const kept = Object.entries({ lang, invite: asked.invite }).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
      );
      return kept.length === 0 ? basePath : `${basePath}?${kept.join('&')}`;
    },
  };
}

/** A whole page of registration. One that is shown `once` has no link to itself in another language or light: it would be lost by it. */
export function registrationPage(
  visit: Visit,
  { once = false, ...parts }: Omit<Framed, 'brand' | 'skip' | 'here'> & { once?: boolean },
): string {
  const here = once ? null : visit.address({ lang: undefined });
  return framed(visit, { ...parts, brand: BRAND, skip: visit.words.html('register.skip'), here });
}
