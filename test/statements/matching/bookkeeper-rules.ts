// What a bookkeeper expects of a bank line and a payment: the outcome of each cell, written down without the product's table.
import type { MatrixRow } from '../../../src/statements/matching/matrix.ts';
import type { MatrixCell } from '../../../src/statements/matching/matrix-words.ts';

/** `level` as the reviewer reads it. */
export interface Expected extends Pick<MatrixRow['gives'], 'button' | 'page'> {
  level: 'certain' | 'likely' | 'possible';
}

export function expected(cell: MatrixCell): Expected {
  const { money, came, hand, by, amount, beside } = cell;
  if (money === 'out')
    return amount === 'currency' ? nothing('possible') : { level: 'possible', button: 'back', page: 'back' };
  const strong = by === 'whole' || (amount === 'exact' && by !== 'amount') ? 'likely' : 'possible';
  const isSettled = came === 'approved' && hand === 'none';
  if (beside === 'test') return nothing('possible');
  if (amount === 'currency') return nothing(isSettled || came === 'rejected' ? 'possible' : strong);
  if (came === 'rejected') return { level: 'possible', button: 'keep', page: 'kept' };
  if (isSettled)
    return beside === 'again' ? { level: strong, button: 'link', page: 'confirmed' } : nothing('possible');
  if (came === 'approved' || came === 'short') return ofApproved(cell, strong);
  return ofOpen(cell, strong);
}

/** No button: money that is not this payment's, or arrived before. */
const nothing = (level: Expected['level']): Expected => ({ level, button: 'none', page: 'same' });

/** Something that wants a look though reference and amount are right. */
const isOdd = ({ came, day, payer, beside }: MatrixCell): boolean =>
  (came === 'expired' && (day === 'after' || day === 'none')) ||
  came === 'cancelled' ||
  day === 'before' ||
  payer === 'other' ||
  beside === 'again';

/** A decided payment is never decided anew: its line is linked, and only the very money that it was approved for changes nothing. */
function ofApproved(cell: MatrixCell, strong: Expected['level']): Expected {
  const { came, hand, by, amount, beside } = cell;
  const linked = { button: 'link', page: 'confirmed' } as const;
  if (came === 'short' || beside === 'back') return { ...linked, level: 'possible' };
  if (beside === 'parts' || beside === 'rival') return { ...linked, level: strong };
  if (hand === 'other' || amount !== 'exact') return { ...linked, level: 'possible' };
  const isSure = hand === 'same' && by === 'whole' && !isOdd(cell);
  return { level: isSure ? 'certain' : strong, button: 'link', page: 'same' };
}

function ofOpen(cell: MatrixCell, strong: Expected['level']): Expected {
  const { came, hand, by, amount, beside } = cell;
  const matched = { level: strong, button: 'match', page: 'rest' } as const;
  // Whether a line shows the money by hand is said before anything is approved.
  const reason = (level: Expected['level']): Expected =>
    hand === 'like' ? { ...matched, level } : { level, button: 'reason', page: 'confirmed' };
  if (beside === 'back') return reason('possible');
  if (beside === 'parts') return matched;
  if (beside === 'rival') return reason(strong);
  if (hand === 'same' && came === 'received' && amount === 'exact' && by === 'whole')
    return isOdd(cell) ? reason(strong) : { level: 'certain', button: 'approve', page: 'confirmed' };
  if (hand === 'same' || hand === 'like') return matched;
  if (came === 'received') return reason('possible');
  if (beside === 'several') return { level: strong, button: 'split', page: 'checked' };
  if (beside === 'ambiguous' || beside === 'alike') return reason(strong);
  if (came === 'part') return amount === 'less' || amount === 'charges' ? matched : reason(strong);
  if (amount !== 'exact' || isOdd(cell)) return reason(strong);
  if (beside === 'unseen' && by === 'whole') return reason('likely');
  if (by === 'amount') return reason('possible');
  return { level: by === 'whole' ? 'certain' : strong, button: 'approve', page: 'confirmed' };
}

/** Whether some money of the line may have to go back: more than was asked for, or money that is not this payment's. */
export function mayReturn({ money, came, hand, amount, beside }: MatrixCell): boolean {
  // A debit is asked whether it was returned on purpose.
  if (money === 'out') return true;
  if (beside === 'test' || amount === 'currency' || amount === 'more' || beside === 'rival') return true;
  if (came === 'approved') return hand !== 'other' || beside === 'parts' || amount === 'exact';
  return came === 'rejected' || came === 'short' || came === 'cancelled' || came === 'received';
}
