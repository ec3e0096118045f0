// counterfoil audit acknowledge: records that rows which were changed outside the service are known, so that verifying goes on.
import type { Command } from 'commander';
import { acknowledgeFaults } from '../../journal/acknowledge.ts';
import { readCheckpoints } from '../../journal/checkpoint.ts';
import type { RowFault } from '../../journal/row-fault.ts';
import { HistoryBroken, verifyHistory } from '../../journal/verify.ts';
import { counted } from '../../lib/counted.ts';
import { reasonFault } from '../../merchants/suspend.ts';
import { ROW_CHECKS } from '../checks/row-checks.ts';
import { OPERATOR, type Store, type StoreOptions, withStore } from './store.ts';
import { Failure, withProgressBar } from './terminal.ts';
import { newCommand, UsageError } from './usage.ts';

interface AcknowledgeOptions extends StoreOptions {
  reason: string;
}

export function auditAcknowledgeCommand(): Command {
  return newCommand(
    'acknowledge',
    'record that rows which are not as the history says are known; audit verify reports them, and exits 0',
    [
      'audit acknowledge pay_01m7xy90z59x4m4bthzeq11xez7gvadtw35y --reason "Amount edited by hand on 20 November, incident 7"',
      'audit acknowledge key_4be2f08a51c7d936 --reason "Row lost with a disk page" --json',
    ],
    `
It verifies the whole history first, and refuses if anything but rows is wrong: a broken seal, entry or checkpoint cannot be acknowledged.
The rows stay as they are. Put right what you can before: docs/operating/runbook.md, under "audit verify is red".`,
  )
    .argument('<row...>', 'the rows as audit verify names them: pay_…, mer_…, key_…')
    .requiredOption(
      '--reason <text>',
      'what happened and who decided it; part of the history for ever, so nothing personal',
    )
    .action(acknowledge);
}

async function acknowledge(rows: string[], options: AcknowledgeOptions): Promise<void> {
  const reason = options.reason.trim();
  const wrong = reasonFault(reason);
  if (wrong) throw new UsageError(`--reason: ${wrong}`);
  await withStore(options, async (store) => {
    const wanted = new Set(rows);
    const { faults, others } = await findFaults(store, wanted);
    for (const fault of faults) requireNameable(fault);
    const left = [...wanted].filter((row) => !faults.some(({ subject }) => subject === row));
    if (left.length > 0)
      throw new Failure(
        `${left.join(', ')} ${left.length === 1 ? 'is' : 'are'} as the history says, or no row: name rows as audit verify does. Nothing was recorded`,
      );
    await store.journal.commit((transaction) => acknowledgeFaults(transaction, OPERATOR, faults, reason));
    if (options.json) {
      const acknowledged = faults.map(({ subject, kind: fault, entry = null }) => ({
        subject,
        fault,
        entry,
      }));
      console.log(JSON.stringify({ acknowledged, reason, others }));
      return;
    }
    const lines = faults.map(({ problem }) => `Acknowledged: ${problem}.`);
    if (others > 0) lines.push(`${counted(others, 'other row')} still not as the history says.`);
    console.log([...lines, 'Next: counterfoil audit verify'].join('\n'));
  });
}

/**
 * Verifies everything. Returns the faults of the `wanted` rows, and how many other rows are at fault. Throws `Failure` if the history
 * itself is broken.
 */
async function findFaults(
  { configuration, database }: Store,
  wanted: ReadonlySet<string>,
): Promise<{ faults: RowFault[]; others: number }> {
  const faults: RowFault[] = [];
  const onFault = (fault: RowFault) => wanted.has(fault.subject) && faults.push(fault);
  const reading = readCheckpoints(configuration.storage);
  try {
    await withProgressBar('verifying', (onProgress) =>
      verifyHistory(database, reading, ROW_CHECKS, { onProgress, onFault }),
    );
    return { faults, others: 0 };
  } catch (error) {
    if (!(error instanceof HistoryBroken)) throw error;
    if (error.rows === 0)
      throw new Failure(
        `the history itself is broken, which cannot be acknowledged: ${error.message}. See counterfoil audit verify`,
      );
    return { faults, others: error.rows - faults.length };
  }
}

/** Throws `Failure` if no entry can speak of a row. */
function requireNameable({ subject, problem, isNameable }: RowFault): void {
  if (!isNameable)
    throw new Failure(`${problem}, and ${subject} is no id that this program makes: delete the row`);
}
