// Judges one payment for one bank line: how sure it is that they belong together, and why.

import { formatAmount } from '../../lib/money.ts';
import { namesAgree } from '../../lib/search-terms.ts';
import { accountsAgree } from '../../payments/methods/transfer/payer-account.ts';
import { asOf, type Payment } from '../../payments/payment.ts';
import { caseOf, daysAfter, type Evidence, type LineCase, type Neighbours } from './line-case.ts';
import type { BankLine, ReferenceRange } from './line-evidence.ts';

/**
 * `certain`: a valid reference of one payment, exactly its amount and currency, a payment that is open, and no other line for it. `likely`
 * and `possible` want a look.
 */
export const MATCH_LEVELS = ['certain', 'likely', 'possible'] as const;
type MatchLevel = (typeof MATCH_LEVELS)[number];

/** One fact, and what it rests on. Both are sentences and may hold what the bank or a customer wrote: to be escaped. */
interface LineFact {
  kind: 'reference' | 'named' | 'amount' | 'payer' | 'day';
  text: string;
  basis: string;
}

export interface Proposal {
  payment: Payment;
  level: MatchLevel;
  case: LineCase;
  /** What is odd, or that nothing is. */
  sentence: string;
  /** What to do. */
  act: string;
  /** Why, the strongest first. */
  facts: LineFact[];
}

/** How a line names a payment. */
export interface Naming {
  /** By its transfer reference. */
  reference?: Pick<ReferenceRange, 'reference' | 'form'>;
  /** By the merchant's reference, or the payment's id. */
  named?: string;
  /** The payer's account or name was typed by the customer. */
  payer?: 'account' | 'name';
}

/** What is known around a line and a payment. `now` in milliseconds since 1970. */
export interface Surroundings extends Neighbours {
  now: number;
}

const money = (minor: number, currency: string) => `${currency} ${formatAmount(minor)}`;

/** What the customer and the merchant said of the payer. Erased payments say nothing. */
function announced(payment: Payment): { names: string[]; account: string | null; isByCustomer: boolean } {
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
function payerFact(line: BankLine, payment: Payment): { agrees: boolean; fact: LineFact } | undefined {
  const { names, account } = announced(payment);
  const { name, account: from } = line.counterparty;
  const fact = (agrees: boolean, text: string, basis: string) => ({
    agrees,
    fact: { kind: 'payer' as const, text, basis },
  });
  const isAccount = account === null || from === undefined ? undefined : accountsAgree(account, from);
  if (isAccount) return fact(true, 'The money comes from the account that the customer gave.', `${from}.`);
  if (name !== undefined && names.length > 0) {
    const same = names.find((one) => namesAgree(one, name));
    const basis = 'Compared without regard to letter case, accents, initials and the order of words.';
    if (same !== undefined) return fact(true, `The payer is “${name}”, the customer “${same}”.`, basis);
    return fact(false, `The payer is “${name}”, the customer “${names[0]}”.`, basis);
  }
  if (isAccount === false)
    return fact(
      false,
      'The money comes from another account than the customer gave.',
      `${from}, not ${account}.`,
    );
  return undefined;
}

/** Judges a payment that a line may be for. Undefined if nothing speaks for it. */
export function judgeLine(
  line: BankLine,
  stored: Payment,
  naming: Naming,
  surroundings: Surroundings,
): Proposal | undefined {
  const payment = asOf(stored, surroundings.now);
  const payer = payerFact(line, payment);
  const sameCurrency = line.currency === payment.currency;
  const difference = line.amount_minor - payment.amount_minor;
  const isExact = sameCurrency && (difference === 0 || surroundings.together);
  const { reference, named } = naming;
  const isNamed = reference !== undefined || named !== undefined;
  if (!isNamed && !(sameCurrency && difference === 0)) return undefined;
  const isElsewhere = surroundings.isTest || surroundings.rivals.count > 0;
  if (!isNamed && naming.payer === undefined && isElsewhere) return undefined;
  const isOpen = payment.status === 'pending' || payment.status === 'requires_review';
  if (!isNamed && !(isOpen || (payer?.agrees && payment.status === 'cancelled'))) return undefined;

  // A name that only the merchant gave announces no payer: another person may pay for the customer.
  const isPayer = announced(payment).isByCustomer ? payer?.agrees : undefined;
  const evidence: Evidence =
    reference?.form ?? (named !== undefined ? 'named' : payer?.agrees ? 'payer' : 'none');
  const [kind, sentence, act] = caseOf(line, payment, { isPayer, evidence }, surroundings);
  const isEqual = sameCurrency && difference === 0;
  const facts = [
    referenceFact(naming),
    namedFact(naming),
    isEqual
      ? fact(
          'amount',
          `The amount is exact: ${money(line.amount_minor, line.currency)}.`,
          'Line and payment.',
        )
      : undefined,
    payer?.fact,
    dayFact(line, payment, surroundings.now),
  ];
  return {
    payment,
    level: levelOf(),
    case: kind,
    sentence,
    act,
    facts: facts.filter((one) => one !== undefined),
  };

  function levelOf(): MatchLevel {
    if (kind === 'exact' && reference?.form === 'whole') return 'certain';
    const strong =
      reference?.form === 'whole' ||
      (isExact && reference !== undefined) ||
      (isExact && (named !== undefined || payer?.agrees === true));
    return strong && isOpenCase() ? 'likely' : 'possible';
  }

  function isOpenCase(): boolean {
    return !['twice', 'rejected', 'taken_back', 'test'].includes(kind);
  }
}

const fact = (kind: LineFact['kind'], text: string, basis: string): LineFact => ({ kind, text, basis });

function referenceFact({ reference }: Naming): LineFact | undefined {
  if (!reference) return undefined;
  const { form, reference: written } = reference;
  const text = {
    whole: 'The line carries the transfer reference of the payment.',
    corrected: 'The line carries the transfer reference of the payment but for one character.',
    cut: 'The line carries the beginning of the transfer reference of the payment.',
  }[form];
  return fact('reference', text, `${written}.`);
}

function namedFact({ named }: Naming): LineFact | undefined {
  if (named === undefined) return undefined;
  return fact(
    'named',
    `The text names the payment: ${named}.`,
    'The merchant’s reference or the payment’s id.',
  );
}

function dayFact(line: BankLine, payment: Payment, now: number): LineFact | undefined {
  const days = daysAfter(line, payment);
  if (Number.isNaN(days)) return undefined;
  if (Date.parse(line.day) > now) return fact('day', 'The bank books the money on a day to come.', line.day);
  if (days < -1) return fact('day', 'The money came before the payment was created.', line.day);
  const when = days <= 0 ? 'on the day' : days === 1 ? 'a day after' : `${days} days after`;
  return fact('day', `The money came ${when} the payment was created.`, line.day);
}
