// The matrix of bank lines and payments: for each case how sure it is, what is said, what the button does, and what the customer reads.

import type { BUTTONS, MatrixCell, PAGES } from './matrix-words.ts';

/** `certain`: without a doubt. `evidence`: likely by a whole reference, or by an exact amount and more than the amount; else possible. */
type RowLevel = 'certain' | 'likely' | 'evidence' | 'possible';

export interface MatrixRow {
  kind: string;
  /** The values that it is for. A dimension that is left out counts not. */
  when: { readonly [D in keyof MatrixCell]?: readonly MatrixCell[D][] };
  /** The sentence and what to do. `{name}` is filled in by `judge-line.ts`. */
  says: string;
  act: string;
  /** `adds`: its sentence is said beside that of an earlier row, too. */
  gives: { level: RowLevel; button: keyof typeof BUTTONS; page: keyof typeof PAGES; adds?: true };
}

const COMPARE = 'Compare payer and text, and accept it if they fit.';
const LINK = 'Link it. Nothing is decided anew.';

/** The rows in their order: the first that fits counts. Every cell fits one, because the last six ask for nothing but `by`. */
export const MATRIX = [
  {
    kind: 'went_out',
    when: { money: ['out'], amount: ['currency'] },
    says: '{arrived} went out {how}, which is in another currency.',
    act: 'Note on the payment what went back, and ignore the line with a reason.',
    gives: { level: 'possible', button: 'none', page: 'same' },
  },
  {
    kind: 'went_out',
    when: { money: ['out'], by: ['corrected', 'cut', 'named'] },
    says: '{arrived} went out {how}.',
    act: 'Match it if it is money of this payment that went back, so that the payment says so.',
    gives: { level: 'possible', button: 'back', page: 'back' },
  },
  {
    kind: 'went_out',
    when: { money: ['out'], came: ['approved', 'short', 'rejected', 'cancelled', 'expired'] },
    says: '{arrived} went out {how}.',
    act: 'Match it, so that the payment says what went back. If you did not return it yourself, tell the merchant.',
    gives: { level: 'possible', button: 'back', page: 'back' },
  },
  {
    kind: 'went_out',
    when: { money: ['out'] },
    says: '{arrived} went out {how}.',
    act: 'Match it, so that the payment says what went back.',
    gives: { level: 'possible', button: 'back', page: 'back' },
  },
  {
    kind: 'test',
    when: { beside: ['test'] },
    says: 'It is a test payment: no money is meant for it.',
    act: 'Return {arrived}, or find out what it is for.',
    gives: { level: 'possible', button: 'none', page: 'same' },
  },
  {
    kind: 'rejected',
    when: { came: ['rejected'], amount: ['currency'] },
    says: 'The payment was rejected.',
    act: 'Return {arrived}, or ask the merchant for a new payment.',
    gives: { level: 'possible', button: 'none', page: 'same' },
  },
  {
    kind: 'rejected',
    when: { came: ['rejected'] },
    says: 'The payment was rejected.',
    act: 'Match it, so that the payment says what arrived, and return {arrived}.',
    gives: { level: 'possible', button: 'keep', page: 'kept' },
  },
  {
    kind: 'again',
    when: {
      came: ['approved'],
      hand: ['none'],
      beside: ['again'],
      amount: ['exact', 'charges', 'less', 'more'],
    },
    says: '{returned} arrived before and went back.',
    act: 'Link it if the money came again. Nothing is decided anew.',
    gives: { level: 'evidence', button: 'link', page: 'confirmed' },
  },
  {
    kind: 'twice',
    when: { came: ['approved'], hand: ['none'] },
    says: 'The money of this payment arrived {before} already.',
    act: 'Return {arrived}, or find out what it is for.',
    gives: { level: 'possible', button: 'none', page: 'same' },
  },
  {
    kind: 'other_currency',
    when: { amount: ['currency'] },
    says: '{arrived} arrived, {asked} was asked for.',
    act: 'Find out what the bank credited, or return it.',
    gives: { level: 'evidence', button: 'none', page: 'same' },
  },
  {
    kind: 'taken_back',
    when: { came: ['approved', 'short'], beside: ['back'] },
    says: 'A line of {back} takes money out {how}.',
    act: 'Find out whether the money is still there.',
    gives: { level: 'possible', button: 'link', page: 'confirmed' },
  },
  {
    kind: 'taken_back',
    when: { beside: ['back'] },
    says: 'A line of {back} takes money out {how}.',
    act: 'Find out whether the money is still there.',
    gives: { level: 'possible', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'rest',
    when: { came: ['short'] },
    says: 'It was approved with {received} of {asked}, and {arrived} arrived.',
    act: 'Link it if it is meant for this payment, and return what is more than was asked for.',
    gives: { level: 'possible', button: 'link', page: 'confirmed' },
  },
  {
    kind: 'two_lines',
    when: { came: ['approved'], beside: ['parts', 'rival'] },
    says: 'Another line carries the reference of this payment, which is approved.',
    act: 'Link those that it was approved for, and return only what is more than was asked for.',
    gives: { level: 'evidence', button: 'link', page: 'confirmed' },
  },
  {
    kind: 'recorded',
    when: { came: ['approved'], hand: ['same'], amount: ['exact'], by: ['whole'] },
    says: 'It is the money that the payment was approved for: the bank’s reference is the same.',
    act: LINK,
    gives: { level: 'certain', button: 'link', page: 'same' },
  },
  {
    kind: 'recorded',
    when: { came: ['approved'], hand: ['same', 'like'], amount: ['exact'] },
    says: 'No line shows the {hand} that it was approved for: this is that money, unless it was paid twice.',
    act: LINK,
    gives: { level: 'evidence', button: 'link', page: 'same' },
  },
  {
    kind: 'recorded_other',
    when: { came: ['approved'], hand: ['other'], amount: ['less', 'charges'] },
    says: 'It was approved for {hand} by hand, and {arrived} arrived.',
    act: 'Link it if it is a part of that money. What no line shows still counts as it was known by hand.',
    gives: { level: 'possible', button: 'link', page: 'confirmed' },
  },
  {
    kind: 'recorded_other',
    when: { came: ['approved'] },
    says: 'It was approved for {hand} by hand, and {arrived} arrived.',
    act: 'Link it if it is that money, or return {arrived}.',
    gives: { level: 'possible', button: 'link', page: 'confirmed' },
  },
  {
    kind: 'parts',
    when: { beside: ['parts'] },
    says: 'With the other lines of the same reference {together} of {asked} arrived.',
    act: 'Match each of them, then decide.',
    gives: { level: 'evidence', button: 'match', page: 'rest' },
  },
  {
    kind: 'two_lines',
    when: { beside: ['rival'] },
    says: 'Another line carries the reference of this payment.',
    act: 'Accept one of them, and return the other.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'recorded',
    when: { came: ['received'], hand: ['same'], amount: ['exact'], by: ['whole'] },
    says: 'It is the money that was recorded by hand: the bank’s reference is the same.',
    act: 'Accept it.',
    gives: { level: 'certain', button: 'approve', page: 'confirmed' },
  },
  {
    kind: 'recorded',
    when: { hand: ['same'] },
    says: 'The bank’s reference is that of the {hand} that was recorded by hand.',
    act: 'Match it: it is counted once.',
    gives: { level: 'evidence', button: 'match', page: 'rest' },
  },
  {
    kind: 'asked',
    when: { hand: ['like'] },
    says: '{hand} was recorded by hand: this is that money or a part of it, or it came besides.',
    act: 'Say which it is.',
    gives: { level: 'evidence', button: 'match', page: 'rest' },
  },
  {
    kind: 'twice',
    when: { came: ['received'] },
    says: 'The money of this payment arrived {before} already.',
    act: 'Return {arrived}, or find out what it is for.',
    gives: { level: 'possible', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'several',
    when: { beside: ['several'], amount: ['charges'] },
    says: 'The transfer names {count} payments, which come to its amount and the {gap} that the bank took as charges.',
    act: 'Match it with all of them.',
    gives: { level: 'evidence', button: 'split', page: 'checked' },
  },
  {
    kind: 'several',
    when: { beside: ['several'] },
    says: 'The transfer names {count} payments, which come to its amount.',
    act: 'Match it with all of them.',
    gives: { level: 'evidence', button: 'split', page: 'checked' },
  },
  {
    kind: 'ambiguous',
    when: { beside: ['ambiguous'] },
    says: 'The transfer names {count} payments, which do not come to its amount.',
    act: 'Find out which of them is meant.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'alike',
    when: { beside: ['alike'] },
    says: '{count} payments fit alike.',
    act: 'Compare order number, customer and text, and say why this one is meant.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'rest',
    when: { came: ['part'], amount: ['exact'] },
    says: 'With the {received} that arrived before it comes to what was asked for.',
    act: 'Accept it as the rest.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'rest',
    when: { came: ['part'], amount: ['less', 'charges'] },
    says: 'With the {received} that arrived before {gap} less arrived than was asked for.',
    act: 'Keep it as received so far.',
    gives: { level: 'evidence', button: 'match', page: 'rest' },
  },
  {
    kind: 'rest',
    when: { came: ['part'], amount: ['more'] },
    says: 'With the {received} that arrived before {gap} more arrived than was asked for.',
    act: 'Accept it, and return {gap}.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'less',
    when: { amount: ['charges'] },
    says: '{gap} less arrived than was asked for: the bank took them as charges.',
    act: 'Accept it as paid, difference {gap}.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'less',
    when: { amount: ['less'] },
    says: '{gap} less arrived than was asked for.',
    act: 'Keep it as received so far, or accept the difference with a reason.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'more',
    when: { amount: ['more'] },
    says: '{gap} more arrived than was asked for.',
    act: 'Accept it, and return {gap}.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'late',
    when: { came: ['expired'], day: ['after'] },
    says: 'The money came on {day}, and the link ended on {end}.',
    act: 'Record it, and decide.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed', adds: true },
  },
  {
    kind: 'late',
    when: { came: ['expired'], day: ['none'] },
    says: 'The bank names no day, and the link ended on {end}.',
    act: 'Record it, and decide.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed', adds: true },
  },
  {
    kind: 'cancelled',
    when: { came: ['cancelled'] },
    says: 'The payment was cancelled.',
    act: 'Record the money and decide, or return it.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed', adds: true },
  },
  {
    kind: 'early',
    when: { day: ['before'] },
    says: 'The money came on {day}, before the payment was created on {created}.',
    act: 'Find out which payment is meant.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed', adds: true },
  },
  {
    kind: 'other_payer',
    when: { payer: ['other'] },
    says: 'The money comes from another payer than was announced.',
    act: 'Look who paid, and accept it if that is right.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed', adds: true },
  },
  {
    kind: 'again',
    when: { beside: ['again'] },
    says: '{returned} arrived before and went back.',
    act: 'Accept it if the money came again.',
    gives: { level: 'evidence', button: 'reason', page: 'confirmed', adds: true },
  },
  {
    kind: 'unseen',
    when: { beside: ['unseen'], by: ['whole'] },
    says: 'Too many lines are open: an older one may carry its reference.',
    act: 'Search for the reference, and accept it if this is the only line.',
    gives: { level: 'likely', button: 'reason', page: 'confirmed' },
  },
  {
    kind: 'exact',
    when: { by: ['whole'] },
    says: 'Nothing is odd about it.',
    act: 'Accept it.',
    gives: { level: 'certain', button: 'approve', page: 'confirmed' },
  },
  {
    kind: 'exact',
    when: { by: ['corrected'] },
    says: 'One character of the reference is wrong.',
    act: COMPARE,
    gives: { level: 'evidence', button: 'approve', page: 'confirmed' },
  },
  {
    kind: 'exact',
    when: { by: ['cut'] },
    says: 'The reference is cut.',
    act: COMPARE,
    gives: { level: 'evidence', button: 'approve', page: 'confirmed' },
  },
  {
    kind: 'exact',
    when: { by: ['named'] },
    says: 'The transfer reference is missing, and the text names the payment.',
    act: COMPARE,
    gives: { level: 'evidence', button: 'approve', page: 'confirmed' },
  },
  {
    kind: 'exact',
    when: { by: ['payer'] },
    says: 'The reference is missing, and the payer fits.',
    act: 'Accept it if no other payment of this payer is meant.',
    gives: { level: 'evidence', button: 'approve', page: 'confirmed' },
  },
  {
    kind: 'amount_only',
    when: {},
    says: 'Only the amount speaks for it.',
    act: 'Find out which payment is meant before you accept it.',
    gives: { level: 'possible', button: 'reason', page: 'confirmed' },
  },
] as const satisfies readonly MatrixRow[];

export type LineCase = (typeof MATRIX)[number]['kind'];

/** What is said of a cell. */
export interface Judgement extends Omit<MatrixRow['gives'], 'adds'> {
  kind: LineCase;
  /** Its sentences, with `{name}` for their values. */
  says: string[];
  act: string;
}

const fits = ({ when }: MatrixRow, cell: MatrixCell) =>
  Object.entries<readonly string[]>(when).every(([name, values]) =>
    values.includes(cell[name as keyof MatrixCell]),
  );

/** What the row of a cell says, with the sentences of later rows that are said beside its own: with one of them nothing is certain. */
export function rowOf(cell: MatrixCell): Judgement {
  const rows = MATRIX as readonly (MatrixRow & { kind: LineCase })[];
  const [row, ...later] = rows.filter((one) => fits(one, cell));
  const { kind, says, act, gives } = row!;
  const { level, button, page } = gives;
  const beside =
    button === 'none' || button === 'back' || button === 'keep'
      ? []
      : later.filter((one) => one.gives.adds && one.kind !== kind);
  const isSure = level !== 'certain' || beside.length === 0;
  // Whether the line shows the money by hand is asked before anything is approved.
  const isOdd = button === 'approve' && beside.length > 0;
  const isAsked = cell.hand === 'like' && (button === 'approve' || button === 'reason');
  return {
    ...{ kind, act, button: isOdd ? 'reason' : button, page },
    ...(isAsked && { button: 'match' as const, page: 'rest' as const }),
    level: isSure ? level : 'evidence',
    says: [says, ...beside.map((one) => one.says)],
  };
}
