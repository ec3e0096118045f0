// Acknowledges whatever rows are not as the history says, as counterfoil audit acknowledge does with all of them.
import assert from 'node:assert/strict';
import { acknowledgeFaults, HistoryBroken, type RowFault } from '../../src/journal/rows.ts';
import { verifyHistory } from '../../src/journal/verify.ts';
import { ROW_CHECKS } from '../../src/operate/checks/row-checks.ts';
import { type Harness, OPERATOR } from './harness.ts';

/** Returns what it acknowledged; fails where the history is right, or wrong otherwise than in its rows. */
export async function acknowledgeAll({ service }: Harness, reason: string): Promise<RowFault[]> {
  const { database, journal } = service;
  const faults: RowFault[] = [];
  const onFault = (fault: RowFault) => faults.push(fault);
  await assert.rejects(verifyHistory(database, { checkpoints: [] }, ROW_CHECKS, { onFault }), HistoryBroken);
  assert.ok(faults.length > 0);
  await journal.commit((transaction) => acknowledgeFaults(transaction, OPERATOR, faults, reason));
  return faults;
}
