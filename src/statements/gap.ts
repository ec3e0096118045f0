// Finds statements that are missing between two others of the same account, by the bank's numbers.
import type { Statement, StatementFault } from '#bank-statements';

/** `34` and `34/1`. Five digits are what SWIFT allows. What is longer is a name and counts nothing. */
const NUMBER = /^(\d{1,5})(?:\/\d{1,5})?$/;

/**
 * Returns a fault for each gap between the numbers of two statements that follow one another in time. Only booked statements
 * (camt.053, mt940) with a number and a day are compared. A number that is not above the one before begins a new count, as at a new year.
 * `at`: the line of a statement's first entry.
 */
export function gapFaults(
  statements: readonly Statement[],
  at: (statement: Statement) => number = ({ lines }) => lines[0]?.at ?? 0,
): (StatementFault & { file: string })[] {
  const accounts = Map.groupBy(
    statements.filter((one) => numberOf(one) !== undefined && dayOf(one) !== ''),
    ({ format, account }) =>
      JSON.stringify([format, account.iban ?? account.other ?? '', account.currency ?? '']),
  );
  return [...accounts.values()].flatMap((ofAccount) => {
    const inOrder = ofAccount.toSorted(
      (a, b) => dayOf(a).localeCompare(dayOf(b)) || numberOf(a)! - numberOf(b)!,
    );
    return inOrder.slice(1).flatMap((statement, index) => {
      const [before, number] = [numberOf(inOrder[index]!)!, numberOf(statement)!];
      if (number <= before + 1) return [];
      const missing = number - before === 2 ? `${before + 1}` : `${before + 1} to ${number - 1}`;
      const text = `Statement ${missing} of this account is not among the files: ${before} is followed by ${number}.`;
      return [{ file: statement.file, line: at(statement), text }];
    });
  });
}

function numberOf({ format, number }: Statement): number | undefined {
  const digits = format === 'camt.053' || format === 'mt940' ? NUMBER.exec(number ?? '')?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

function dayOf({ from, to }: Statement): string {
  return to ?? from ?? '';
}
