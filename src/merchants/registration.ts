// The form of a registration: its fields, and what may be wrong with them.
import { holdsCardNumber } from '../lib/card-number.ts';
import { type ErrorDetails, OperationalError } from '../lib/errors.ts';
import { isEmailAddress, textFault } from '../lib/text.ts';
import { webAddressFault } from '../lib/web-address.ts';
import { isInviteCode } from './invite.ts';
import { MERCHANT_ID_PREFIX } from './merchant.ts';

/** Who may register: everyone, those with an invitation, or no one. */
export type RegistrationMode = 'open' | 'invite' | 'closed';

export interface Registration {
  /** Kept as `plainBusinessName` writes it. */
  business_name: string;
  email: string;
  website: string | null;
  /** The code of an invitation. */
  invite: string | null;
}

/** Maximum length of each field in code points. */
export const MAXIMA = {
  business_name: 120,
  email: 254,
  website: 2048,
  invite: 255,
} as const;

export type RegistrationField = keyof Registration;

/** What is wrong with a field: for a program as a sentence, for a page as the kind of thing it is. */
export interface RegistrationFault {
  kind: 'empty' | 'long' | 'text' | 'card' | 'form' | 'taken' | 'unusable';
  message: string;
}
export type RegistrationFaults = Partial<Record<RegistrationField, RegistrationFault>>;

export const UNUSABLE_INVITE: RegistrationFault = {
  kind: 'unusable',
  message: 'Is no invitation that can be used: unknown, used, revoked or over.',
};

/** Where a name looks like another one: the way on is another name or an invitation, for which `contact` can be asked. */
export const nameTaken = (contact: string | undefined): RegistrationFault => ({
  kind: 'taken',
  message: `Looks like the name of another business. Choose another name, or ask ${contact ?? 'the operator of this service'} for an invitation.`,
});

/** All that is wrong with a registration before its invitation is looked up; undefined where all is right. */
export function registrationFaults(wanted: Registration, mode: RegistrationMode): RegistrationFaults {
  const { email, website, invite } = wanted;
  const faults: RegistrationFaults = {};
  const name = plainBusinessName(wanted.business_name);
  if (name === '') faults.business_name = { kind: 'empty', message: 'Must not be empty.' };
  else refuse(faults, 'business_name', name, nameFault);
  if (email === '') faults.email = { kind: 'empty', message: 'Must not be empty.' };
  else refuse(faults, 'email', email, emailFault);
  if (website !== null) refuse(faults, 'website', website, websiteFault);
  if (invite !== null) refuse(faults, 'invite', invite, inviteFault);
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

function nameFault(name: string): RegistrationFault | undefined {
  if (holdsCardNumber(name)) return { kind: 'card', message: 'Must not contain a card number.' };
  const message = businessNameFault(name) ?? idFault(name);
  return message === undefined ? undefined : { kind: 'text', message };
}

const emailFault = (email: string): RegistrationFault | undefined =>
  isEmailAddress(email) ? undefined : { kind: 'form', message: 'Must be an e-mail address.' };

function websiteFault(website: string): RegistrationFault | undefined {
  const message = webAddressFault(website, { httpsOnly: false });
  return message === undefined ? undefined : { kind: 'form', message };
}

/** A name that looks like an id is refused: a caller that names a merchant by its id must not find another one. */
const idFault = (name: string) =>
  name.toLowerCase().startsWith(MERCHANT_ID_PREFIX)
    ? `Must not begin with ${MERCHANT_ID_PREFIX}, as ids do.`
    : undefined;

/** A code that is cut or mistyped is refused without a look-up. */
const inviteFault = (code: string): RegistrationFault | undefined =>
  isInviteCode(code) ? undefined : UNUSABLE_INVITE;

/** The fault of a registration that only a look-up finds: the invitation, or a name like another one. Undefined for any other failure. */
export function lookedUpFaults(error: unknown, contact: string | undefined): RegistrationFaults | undefined {
  if (!(error instanceof OperationalError)) return undefined;
  if (error.details?.invite !== undefined) return { invite: UNUSABLE_INVITE };
  if (error.details?.business_name !== undefined) return { business_name: nameTaken(contact) };
  return undefined;
}

/** The same faults in the words of the JSON API. */
export function detailsOf(faults: RegistrationFaults): ErrorDetails {
  return Object.fromEntries(Object.entries(faults).map(([field, { message }]) => [field, message]));
}

/** Throws `forbidden` if registration is closed. The message says where to ask, if that is configured. */
export function refuseIfClosed(mode: RegistrationMode, contact: string | undefined): void {
  if (mode !== 'closed') return;
  const whom = contact === undefined ? 'the operator of this service' : contact;
  throw new OperationalError('forbidden', `Registration is closed. For access ask ${whom}.`);
}

const VISIBLE = /[\p{L}\p{N}]/u;
/** Invisible letters and signs: the Hangul fillers and the empty Braille pattern. */
const BLANK = /[\u115f\u1160\u2800\u3164\uffa0]/u;
const LINE_BREAK = /[\p{Zl}\p{Zp}]/u;
/** Format characters, tags among them; joiners are judged by themselves. */
const FORMAT = /(?![\u200c\u200d])\p{Cf}/u;
/** A joiner is part of a word in Persian or Hindi between two of its letters, and nothing to be seen anywhere else. */
const STRAY_JOINER = /(?<![\p{L}\p{M}])[\u200c\u200d]|[\u200c\u200d](?!\p{L})/u;
/** No script stacks more marks on one letter; beyond that they cover the lines above. */
const PILED_MARKS = /\p{M}{5}/u;

/** A name as it is kept: without the spaces around it, composed (Unicode NFC). */
export function plainBusinessName(name: string): string {
  return name.trim().normalize('NFC');
}

/** The sentence that says what is wrong with a business name as it is kept, or undefined. An empty one is wrong too. */
export function businessNameFault(name: string): string | undefined {
  const fault = textFault(name, MAXIMA.business_name);
  if (fault !== undefined) return fault;
  if ([BLANK, LINE_BREAK, FORMAT, STRAY_JOINER].some((unseen) => unseen.test(name)))
    return 'Must not contain characters that cannot be seen.';
  if (!VISIBLE.test(name)) return 'Must have a letter or a digit.';
  if (PILED_MARKS.test(name)) return 'Must not pile marks on one letter.';
  return undefined;
}
