// The languages of the console, and of the letters to administrators: English, and those of the files in `phrases/`.
import { type Language, Locale } from '../../lib/locale.ts';
import { momentsIn } from '../../lib/moments.ts';
import { Phrasebook, type Say } from '../../lib/phrases.ts';
import { LANGUAGES } from '../../web/markup/languages.ts';

export const phrasebook = new Phrasebook(new URL('phrases/', import.meta.url));

/** A language of the console, with how it writes money and moments. */
export interface Tongue {
  language: Language;
  /** Says the console's texts. */
  say: Say;
  money(minor: number, currency: string): string;
  moment(ms: number): string;
}

const tongues = new Map<string, Tongue>();

/** The language that `say` speaks. */
export function tongueOf(say: Say, timeZone: string): Tongue {
  const name = `${say.tag} ${timeZone}`;
  let tongue = tongues.get(name);
  if (!tongue) {
    const language = LANGUAGES.find(({ tag }) => tag === say.tag)!;
    const locale = new Locale<never>(language, {} as never, timeZone);
    const moments = momentsIn(timeZone, say.tag === 'en' ? undefined : say.tag);
    tongue = {
      language,
      say,
      money: (minor, currency) => locale.money(minor, currency),
      moment: (ms) => moments.moment(ms),
    };
    tongues.set(name, tongue);
  }
  return tongue;
}
