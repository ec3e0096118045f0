// What speaks for a line and a payment: the facts beside a proposal, each with what it rests on.

import { phrase, type Say, type Sentence } from '../../lib/phrases.ts';
import { namesAgree } from '../../lib/search-terms.ts';
import { dateIn, daysFrom } from '../../lib/time.ts';
import { accountsAgree } from '../../payments/methods/transfer/payer-account.ts';
import type { Payment } from '../../payments/payment.ts';
import type { WriteMoney } from '../../review/facts.ts';
import { dayInWords } from '../../review/told.ts';
import type { BankLine, ReferenceRange } from './line-evidence.ts';

/** One fact, and what it rests on. Both may hold what the bank or a customer wrote: to be escaped. */
export interface LineFact<Text = string> {
  kind: 'reference' | 'named' | 'amount' | 'payer' | 'day';
  text: Text;
  basis: Text;
}

/** A text in the reader's language, with amounts as `money` writes them. */
export type Worded = (say: Say, money: WriteMoney) => string;

/** How a line names a payment. */
export interface Naming {
  /** By its transfer reference. */
  reference?: Pick<ReferenceRange, 'reference' | 'form'>;
  /** By the merchant's reference, the payment's id, or a bank's reference that an administrator typed. */
  named?: string;
  /** The payer's account or name was typed by the customer. */
  payer?: 'account' | 'name';
}

export const verbatim =
  (text: string): Sentence =>
  () =>
    text;

/** What the customer and the merchant said of the payer. Erased payments say nothing. */
export function announced(payment: Payment): {
  names: string[];
  account: string | null;
  isByCustomer: boolean;
} {
  const read = (text: string | null): Record<string, unknown> => (text === null ? {} : JSON.parse(text));
  const sent = read(payment.submission);
  const names = [read(payment.customer).name, sent.payer_name, sent.transfer_name];
  return {
    names: names.filter((name): name is string => typeof name === 'string' && name !== ''),
    account: payment.payer_account,
    isByCustomer: payment.payer_account !== null || typeof sent.transfer_name === 'string',
  };
}

/** Whether the bank's payer is who was announced; undefined if there is nothing to compare. */
export function payerFact(
  line: BankLine,
  payment: Payment,
): { agrees: boolean; fact: LineFact<Worded> } | undefined {
  const { names, account } = announced(payment);
  const { name, account: from } = line.counterparty;
  const told = (agrees: boolean, text: Worded, basis: Worded) => ({
    agrees,
    fact: fact('payer', text, basis),
  });
  const isAccount = account === null || from === undefined ? undefined : accountsAgree(account, from);
  if (isAccount)
    return told(
      true,
      (say) => say`The money comes from the account that the customer gave.`,
      verbatim(`${from}.`),
    );
  if (name !== undefined && names.length > 0) {
    const same = names.find((one) => namesAgree(one, name));
    return told(
      same !== undefined,
      (say) => say`The payer is “${name}”, the customer “${same ?? names[0]!}”.`,
      (say) =>
        same === name
          ? say`They are equal.`
          : say`Compared without regard to letter case, accents, initials and the order of words.`,
    );
  }
  if (isAccount === false)
    return told(
      false,
      (say) => say`The money comes from another account than the customer gave.`,
      (say) => say`${from!}, not ${account!}.`,
    );
  return undefined;
}

export const fact = (kind: LineFact['kind'], text: Worded, basis: Worded): LineFact<Worded> => ({
  kind,
  text,
  basis,
});

export function referenceFact({ reference }: Naming): LineFact<Worded> | undefined {
  if (!reference) return undefined;
  const { form, reference: written } = reference;
  const text = {
    whole: phrase('The line carries the transfer reference of the payment.'),
    corrected: phrase('The line carries the transfer reference of the payment but for one character.'),
    cut: phrase('The line carries the beginning of the transfer reference of the payment.'),
  }[form];
  return fact('reference', (say) => say.of(text), verbatim(`${written}.`));
}

export function namedFact({ named }: Naming): LineFact<Worded> | undefined {
  if (named === undefined) return undefined;
  return fact(
    'named',
    (say) => say`The text names the payment: ${named}.`,
    (say) => say`The merchant’s reference, the payment’s id, or a bank’s reference that was typed.`,
  );
}

export function dayFact(
  line: BankLine,
  payment: Payment,
  { now, timeZone }: { now: number; timeZone: string },
): LineFact<Worded> | undefined {
  const days = daysFrom(dateIn(timeZone, payment.created_at), line.day);
  if (Number.isNaN(days) || line.undated) return undefined;
  const isAhead = line.day > dateIn(timeZone, now);
  return fact(
    'day',
    (say) => {
      if (isAhead) return say`The bank books the money on a day to come.`;
      if (days < 0) return say`The money came before the payment was created.`;
      return days === 0
        ? say`The money came on the day the payment was created.`
        : say.count(
            days,
            'The money came a day after the payment was created.',
            'The money came {n} days after the payment was created.',
          );
    },
    (say) => `${dayInWords(line.day, say)}.`,
  );
}
