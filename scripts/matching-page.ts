// The text of docs/matching.md, made from the matrix that bank lines are judged by.
import { MATRIX } from '../src/statements/matching/matrix.ts';
import { BUTTONS, DIMENSIONS, type MatrixCell, PAGES } from '../src/statements/matching/matrix-words.ts';

const HEADS: Record<keyof MatrixCell, string> = {
  money: 'Money',
  came: 'How the payment came to its state',
  hand: 'Money by hand that no line shows',
  day: 'When the line was booked',
  by: 'How the line names the payment',
  payer: 'Who paid',
  amount: 'How much',
  beside: 'What stands beside it',
};

type Row = (typeof MATRIX)[number];

/** The values that a row is for, in words: `Payment: approved; amount: exact`. */
function conditions({ when }: Row): string {
  const parts = Object.entries(when as Partial<Record<keyof MatrixCell, readonly string[]>>).map(
    ([name, values]) => {
      const words = DIMENSIONS[name as keyof MatrixCell] as Readonly<Record<string, string>>;
      return `${values!.map((value) => words[value]).join(' or ')}`;
    },
  );
  return parts.length === 0 ? 'anything else' : parts.join('; ');
}

const LEVELS = {
  certain: 'certain',
  likely: 'likely',
  evidence: 'by the evidence',
  possible: 'possible',
} as const;

/** The numbers of the rows whose sentences are said beside others. */
const ADDS = MATRIX.flatMap((row, i) => ('adds' in row.gives ? [i + 1] : [])).join(', ');

/** The text of docs/matching.md. */
export function matchingPage(): string {
  const dimensions = (Object.keys(HEADS) as (keyof MatrixCell)[]).map(
    (name) => `| ${HEADS[name]} | ${Object.values(DIMENSIONS[name]).join(', ')} |`,
  );
  const rows = MATRIX.map(
    (row, i) =>
      `| ${i + 1} | ${conditions(row)} | ${LEVELS[row.gives.level]} | ${row.says} ${row.act} | ${row.gives.button} | ${PAGES[row.gives.page]} |`,
  );
  return `# How bank lines are matched

<!-- Written by npm run docs from src/statements/matching/matrix.ts; change it there. -->

A line and a payment that it may be for are one case of this matrix. It says how sure the two belong together, what the reviewer reads, what the button on the line's page does, and what the
customer's page says then. The program judges by this table and by nothing else, and tests make every case that can be. A line is evidence: an administrator decides.

## What is looked at

| | |
|---|---|
${dimensions.join('\n')}

- **Days** are those of [\`time_zone\`](configuration.md). The whole last day is in time, however late the statement is imported; where banks book nothing on it (weekends and holidays of the configured \`calendar\`), so is the next day on which they do. Where the bank names no day, that of its statement or list is the latest one it may be. What was announced in time may be booked after the end.
- **How much** is held against what is still due: the amount asked for, less what arrived before. Where a line shows money by hand, it is held against that.
- **Money by hand** is what an administrator recorded without a line, or approved the payment for. A line is the same money by the bank's reference that was typed with it. An equal amount alone proves nothing, and neither does a line with which more would have come than was asked for: the page asks. A line takes away only its own part of the money by hand; what no line shows stays as it was known.
- **A debit** is looked at by the payment's whole reference; by a part of it, the order number or the id only where money of the payment is known, and in its currency.
- **What takes money back** is a debit of any amount that carries the payment's reference (whole, its beginning, or with one wrong character), its order number or id, or the end-to-end reference of the line; or a reversal of no more than the line to
  the same payer. An order number, an end-to-end reference and a payer count from the day on which the payment was created. {how} says which of them it is. It counts whatever became of its line: open, ignored or matched.

## The rows

The first row that fits counts. Behind it stand the sentences of the rows ${ADDS} that fit as well; with one of them nothing is certain. *By the evidence*: likely by a whole reference, or by an exact
amount and more than the amount; else possible.

| | When | Level | What is said and proposed | Button | The customer then reads |
|---|---|---|---|---|---|
${rows.join('\n')}

## The buttons

| Button | What it does |
|---|---|
${Object.entries(BUTTONS)
  .map(([name, what]) => `| ${name} | ${what} |`)
  .join('\n')}

Where more than one payment fits as well as the first, no button has the focus, and an approval says why. Where the line may be money by hand, the page asks
whether it is before anything is approved. A payment above the four-eyes limit gets its first approval.
`;
}
