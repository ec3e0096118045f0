// A request for a page of registration: what its address may hold, and what stands at the top of its pages.

import { Languages } from '../../web/markup/languages.ts';
import type { PageSite, PageVisit } from '../../web/pages/visit.ts';

export type RegistrationVisit = PageVisit<'invite'>;

/** `baseUrl`: of registration, without a slash at its end. */
export function registrationSite(baseUrl: string, timeZone: string): PageSite<'invite'> {
  return {
    languages: Languages.in(timeZone),
    baseUrl,
    parameters: { lang: { isKept: true }, invite: { isKept: true }, theme: {} },
    brand: 'Counterfoil',
    words: {
      skip: 'register.skip',
      refused: 'register.refused.lead',
      failed: 'register.failure.lead',
      back: 'register.again',
    },
    backAfterFailure: 'secondary',
  };
}
