// Masks what a customer typed, for everyone with the payment's link.
import { compactAccount, looksLikeIban } from './transfer/payer-account.ts';

const FIRST_LETTER = /^\P{M}\p{M}*/u;

/** `Ada Lovelace` → `A••• L•••` */
export function maskName(name: string): string {
  return name
    .split(/\s+/)
    .map((word) => `${FIRST_LETTER.exec(word)?.[0] ?? ''}•••`)
    .join(' ');
}

/** `ada@example.com` → `a•••@example.com` */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${[...email.slice(0, at)][0] ?? ''}•••${email.slice(at)}`;
}

/** The end of what is masked; of a short text less, so that most of it stays unseen. */
function end(text: string, length: number): string {
  const characters = [...text];
  const shown = Math.min(length, Math.floor(characters.length / 3));
  return shown === 0 ? '' : characters.slice(-shown).join('');
}

/** `+49 170 1234567` → `••• 67` */
export function maskPhone(phone: string): string {
  return `••• ${end(phone.replace(/\P{Nd}/gu, ''), 2)}`.trim();
}

/** `Receipt 17` → `••• 17` */
export function maskReference(reference: string): string {
  return `•••${end(reference, 4)}`;
}

/** `DE89 3704 0044 0532 0130 00` → `DE•• •••• 3000` */
export function maskIban(text: string): string {
  const compact = compactAccount(text);
  const head = looksLikeIban(text) ? `${compact.slice(0, 2).toUpperCase()}••` : '••••';
  return `${head} •••• ${end(compact, 4)}`.trim();
}
