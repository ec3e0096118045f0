// Tells which of the configured accounts a statement is about, however its bank names it.
import { electronicFormatIBAN } from 'ibantools';
import type { StatementAccount } from '#bank-statements';
import type { MethodSettings } from '../payments/methods/method.ts';

const characters = (text: string) => text.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');

/** The bank code and the account number of a German IBAN, as MT940 writes them: `50070010/0123456`. */
const GERMAN = /^(\d{8})\/(\d{1,10})$/;

/** The least of an account number without its bank that tells which account it is. */
const NUMBER_MINIMUM = 6;

/**
 * How an account is kept: the IBAN of the configured account that `named` is, else what the bank writes. Undefined if no transfer is to be
 * paid to it. An account without an IBAN is known by one of its further lines, or by all of them: sort code and account number.
 */
export function ownAccount(
  { iban, other }: StatementAccount,
  methods: readonly Pick<MethodSettings, 'accounts'>[],
): string | undefined {
  for (const { iban: configured, rows } of methods.flatMap(({ accounts }) => accounts)) {
    const own = configured === undefined ? undefined : electronicFormatIBAN(configured)!;
    if (own !== undefined && iban !== undefined) {
      if (own === iban) return own;
      continue;
    }
    if (other === undefined) continue;
    const written = characters(other);
    const [, bank, number] = GERMAN.exec(other.replaceAll(/\s/g, '')) ?? [];
    const domestic = bank === undefined ? undefined : bank + number!.padStart(10, '0');
    if (own !== undefined && (own === written || (own.startsWith('DE') && own.slice(4) === domestic)))
      return own;
    const values = (rows ?? []).map(({ value }) => characters(value)).filter((value) => value !== '');
    const behind = characters(other.split('/').at(-1)!);
    const names = [...values, values.join('')];
    if (names.includes(written) || (behind.length >= NUMBER_MINIMUM && values.includes(behind)))
      return own ?? other;
  }
  return undefined;
}
