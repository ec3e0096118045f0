// What is known beside a file of the account that it is of.
import type { ReadOptions } from './csv.ts';
import { ownOf } from './csv-line.ts';
import type { StatementAccount } from './statement.ts';

export interface KnownAccount {
  /** The account that a file names, else the one that was chosen. */
  accountOr(named: StatementAccount): StatementAccount;
  /** The currency of an account that has only one. */
  currencyOf(account: StatementAccount): string | undefined;
}

export const nameOfAccount = ({ iban, other }: StatementAccount): string | undefined => iban ?? other;

export function knownAccount({ account, accounts = [] }: ReadOptions): KnownAccount {
  return {
    accountOr: (named) =>
      nameOfAccount(named) !== undefined || account === undefined ? named : { ...named, ...ownOf([account]) },
    currencyOf(account) {
      const name = nameOfAccount(account);
      const fitting = accounts.filter(
        (one) => name !== undefined && nameOfAccount(ownOf([one.account])) === name,
      );
      const found = new Set(fitting.map(({ currency }) => currency));
      return found.size === 1 ? [...found][0] : undefined;
    },
  };
}
