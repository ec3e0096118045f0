// The registration form: the values that were typed, their faults, and how many merchants are made within an hour.
import { type Html, html } from '../../lib/html.ts';
import { type Clock, HOUR_MS } from '../../lib/time.ts';
import type { FormFault } from '../../web/markup/field.ts';
import type { Words } from '../../web/markup/languages.ts';
import { fromNetwork, Throttle } from '../../web/rate-limit.ts';
import {
  lookedUpFaults,
  MAXIMA,
  type Registration,
  type RegistrationFault,
  type RegistrationFaults,
  type RegistrationField,
} from '../registration.ts';

/** The order of the fields, and of their faults. */
export const FORM_FIELDS = [
  'business_name',
  'email',
  'website',
  'invite',
] as const satisfies RegistrationField[];

export const EXAMPLE = 'https://shop.example';

/** What was typed, as it was typed. */
export type TypedRegistration = Readonly<Record<RegistrationField, string>>;

export function typedIn(sent: URLSearchParams): TypedRegistration {
  return Object.fromEntries(FORM_FIELDS.map((name) => [name, sent.get(name) ?? ''])) as Record<
    RegistrationField,
    string
  >;
}

/** The value of a field without the spaces around it, which copying brings along. */
export function wantedBy(typed: TypedRegistration): Registration {
  return {
    business_name: typed.business_name.trim(),
    email: typed.email.trim(),
    website: fullAddress(typed.website.trim()) || null,
    invite: typed.invite.trim() || null,
  };
}

/** A site as people write it, `corner.example/shop`, with the scheme that the page would ask for; anything else as it is. */
function fullAddress(website: string): string {
  return /^[^\s/:@?#]+\.[^\s/:@?#]+(?::\d+)?(?:[/?#]|$)/.test(website) ? `https://${website}` : website;
}

/** The same faults as the page tells them; `contact`: who can be asked for an invitation. */
export function formFaults(
  words: Words,
  faults: RegistrationFaults,
  contact: string | undefined,
): FormFault[] {
  return FORM_FIELDS.flatMap((field) => {
    const fault = faults[field];
    if (fault?.kind === 'taken') return [{ field, message: takenMessage(words, contact) }];
    return fault ? [{ field, message: messageOf(words, field, fault.kind) }] : [];
  });
}

export const LABELS = {
  business_name: 'register.name',
  email: 'register.email',
  website: 'register.website',
  invite: 'register.invite',
} as const;

export const labelOf = (words: Words, field: RegistrationField): Html => words.html(LABELS[field]);

const takenMessage = (words: Words, contact: string | undefined): Html =>
  contact === undefined
    ? words.html('register.error.name.taken')
    : words.html('register.error.name.taken.ask', { contact: html`<bdi>${contact}</bdi>` });

function messageOf(words: Words, field: RegistrationField, kind: RegistrationFault['kind']): Html {
  if (kind === 'text' || kind === 'card')
    return words.html(`error.${kind}`, { field: labelOf(words, field) });
  const values = { maximum: MAXIMA[field], example: EXAMPLE };
  switch (field) {
    case 'business_name':
      return words.html(`register.error.name.${kind === 'long' ? 'long' : 'empty'}`, values);
    case 'email':
      return words.html(`error.payer-email.${kind === 'long' || kind === 'empty' ? kind : 'form'}`, values);
    case 'website':
      return words.html(`register.error.website.${kind === 'long' ? 'long' : 'form'}`, values);
    case 'invite':
      return words.html(`register.error.invite.${kind === 'empty' ? 'empty' : 'form'}`);
  }
}

/** For each registration that is taken, so many invitations may be looked up that are of no use. */
const LOOK_UPS = 4;

/** Registrations that are taken in an hour. */
export interface RegistrationLimits {
  /** From one network address. */
  perAddress: number;
  /** From all of them together. */
  perHour: number;
}

/** Counts registrations. What comes to nothing does not count, except that looking up an invitation counts by itself. */
export class RegistrationCounts {
  readonly #made: Throttle;
  readonly #inVain: Throttle;

  constructor({ perAddress, perHour }: RegistrationLimits, clock: Clock) {
    const throttle = (share: number) =>
      new Throttle(clock, HOUR_MS, [
        ...fromNetwork(perAddress * share),
        { nameOf: () => 'all', maximum: perHour * share },
      ]);
    this.#made = throttle(1);
    this.#inVain = throttle(LOOK_UPS);
  }

  /** Returns how long a caller from `ip` must wait before the next is taken, in milliseconds; 0 if it is taken now. */
  waitMs(ip: string): number {
    return Math.max(this.#made.waitMs(ip), this.#inVain.waitMs(ip));
  }

  /** Counts one registration, unless it fails. Throws what `register` does. */
  async counted<T>(ip: string, register: () => Promise<T>): Promise<T> {
    this.#made.count(ip);
    return register().catch((error) => {
      this.#made.takeBack(ip);
      if (lookedUpFaults(error, undefined)) this.#inVain.count(ip);
      throw error;
    });
  }
}
