// What somebody says who registers as a merchant, and what may be wrong with it.
import { holdsCardNumber } from '../lib/card-number.ts';
import { type ErrorDetails, OperationalError } from '../lib/errors.ts';
import { isEmailAddress, textFault } from '../lib/text.ts';
import { webAddressFault } from '../lib/web-address.ts';

/** Who may register: anybody, whoever has an invitation, nobody. */
export type RegistrationMode = 'open' | 'invite' | 'closed';

export interface Registration {
  /** Kept without the spaces around it. */
  business_name: string;
  email: string;
  website: string | null;
  /** The code of an invitation. */
  invite: string | null;
}

/** The most code points of each. */
export const MAXIMA = { business_name: 120, email: 254, website: 2048, invite: 255 } as const;

export type RegistrationField = keyof Registration;

/** What is wrong with a field: for a program as a sentence, for a page as the kind of thing it is. */
export interface RegistrationFault {
  kind: 'empty' | 'long' | 'text' | 'card' | 'form' | 'unusable';
  message: string;
}
export type RegistrationFaults = Partial<Record<RegistrationField, RegistrationFault>>;

export const UNUSABLE_INVITE: RegistrationFault = {
  kind: 'unusable',
  message: 'Is no invitation that can be used: unknown, used, revoked or over.',
};

/** All that is wrong with a registration before its invitation is looked up; nothing where all is right. */
export function registrationFaults(wanted: Registration, mode: RegistrationMode): RegistrationFaults {
  const { email, website, invite } = wanted;
  const faults: RegistrationFaults = {};
  const name = wanted.business_name.trim();
  if (name === '') faults.business_name = { kind: 'empty', message: 'Must not be empty.' };
  else refuse(faults, 'business_name', name, nameFault);
  if (email === '') faults.email = { kind: 'empty', message: 'Must not be empty.' };
  else refuse(faults, 'email', email, emailFault);
  if (website !== null) refuse(faults, 'website', website, websiteFault);
  if (invite !== null) refuse(faults, 'invite', invite, () => undefined);
  else if (mode === 'invite')
    faults.invite = { kind: 'empty', message: 'Must be the code of an invitation.' };
  return faults;
}

/** Adds what is wrong with the text of a field: as any text may be, else as `check` says. */
function refuse(
  faults: RegistrationFaults,
  field: RegistrationField,
  text: string,
  check: (text: string) => RegistrationFault | undefined,
): void {
  const maximum = MAXIMA[field];
  const message = textFault(text, maximum);
  const isLong = [...text].length > maximum;
  const fault = message === undefined ? check(text) : ({ kind: isLong ? 'long' : 'text', message } as const);
  if (fault) faults[field] = fault;
}

const nameFault = (name: string): RegistrationFault | undefined =>
  holdsCardNumber(name) ? { kind: 'card', message: 'Must not contain a card number.' } : undefined;

const emailFault = (email: string): RegistrationFault | undefined =>
  isEmailAddress(email) ? undefined : { kind: 'form', message: 'Must be an e-mail address.' };

function websiteFault(website: string): RegistrationFault | undefined {
  const message = webAddressFault(website, { httpsOnly: false });
  return message === undefined ? undefined : { kind: 'form', message };
}

/** The same faults as a program is told them. */
export function detailsOf(faults: RegistrationFaults): ErrorDetails {
  return Object.fromEntries(Object.entries(faults).map(([field, { message }]) => [field, message]));
}

/** Raises `forbidden` where nobody may register, saying whom to ask where that is known. */
export function refuseIfClosed(mode: RegistrationMode, contact: string | undefined): void {
  if (mode !== 'closed') return;
  const whom = contact === undefined ? 'whoever runs this service' : contact;
  throw new OperationalError('forbidden', `Registration is closed. For access ask ${whom}.`);
}
