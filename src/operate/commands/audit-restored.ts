// counterfoil audit restored: records that an older copy of the store is in use on purpose, and moves contradicted checkpoints aside.
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { checkpointFiles } from '../../journal/checkpoint.ts';
import { KNOWN_SEAL_FILE } from '../../journal/known-seal.ts';
import { type OtherHistory, otherHistory } from '../../journal/other-history.ts';
import { counted } from '../../lib/counted.ts';
import { sync } from '../../lib/durable-files.ts';
import { holdStorage } from '../../store/open.ts';
import { type Configuration, configurationFile, readConfiguration } from '../config.ts';
import { freshFolder } from './backup-folder.ts';
import { lendStore, OPERATOR, requireStore, type StoreOptions } from './store.ts';
import { Failure, shownPath } from './terminal.ts';
import { newCommand } from './usage.ts';

export function auditRestoredCommand(): Command {
  return newCommand(
    'restored',
    'record that an older copy of the store is used on purpose, with the server stopped; its contradicted checkpoints are moved aside',
    ['audit restored', 'audit restored --config /etc/counterfoil.yaml'],
    `
A start refuses a store that does not hold what its newest checkpoint vouches for. Look for the right database first. With several nodes,
run it on each node whose start is refused.`,
  ).action(restored);
}

async function restored(options: StoreOptions): Promise<void> {
  const configuration = readConfiguration(configurationFile(options.config));
  requireStore(configuration);
  const release = holdStorage(configuration);
  try {
    const other = await recordRestored(configuration);
    tell(other, await moveCheckpointsAside(configuration.storage), options.json);
  } finally {
    release();
  }
}

/** Records what was found in an entry. Throws `Failure` if the store and its newest checkpoint agree, or if the store is empty. */
function recordRestored(configuration: Configuration): Promise<Required<OtherHistory>> {
  return lendStore(configuration, async ({ database, journal }) => {
    const other = await otherHistory(database, configuration.storage);
    if (!other)
      throw new Failure('the store holds what its newest checkpoint vouches for: there is nothing to record');
    const { vouched, end } = other;
    if (!end)
      throw new Failure(
        'the store holds no entries: restore a backup (counterfoil restore BACKUP --replace), or move checkpoints.jsonl and newest-seal.json away and keep them, to begin a new store',
      );
    const facts = {
      seal: end.number,
      entry: end.last_entry,
      checkpoint_seal: vouched.number,
      checkpoint_entry: vouched.last_entry,
      checkpoint_hash: vouched.hash,
      [vouched.isSigned ? 'signed_at' : 'known_at']: vouched.at,
    };
    await journal.commit((transaction) =>
      transaction.record({ ...OPERATOR, action: 'history.restored', subject: 'history', facts }),
    );
    return { vouched, end };
  });
}

/**
 * Moves the checkpoints into a folder of their own in the storage directory, and returns the folder. The entry is committed before:
 * if this is cut short, the start is still refused and the command can be run again. Throws the system's errors.
 */
async function moveCheckpointsAside(storage: string): Promise<string> {
  const aside = await freshFolder(storage, 'replaced-');
  for (const file of [checkpointFiles(storage).file, join(storage, KNOWN_SEAL_FILE)])
    if (existsSync(file)) await rename(file, join(aside, basename(file)));
  await sync(aside);
  await sync(storage);
  return aside;
}

function tell({ vouched, end }: Required<OtherHistory>, aside: string, json: boolean | undefined): void {
  const lost = Math.max(0, vouched.last_entry - end!.last_entry);
  if (json) {
    const { last_entry: checkpoint_entry, at: signed_at } = vouched;
    const told = { entries: end!.last_entry, checkpoint_entry, signed_at, lost_at_least: lost };
    console.log(JSON.stringify({ restored: true, ...told, checkpoints: aside }));
    return;
  }
  const lines = [
    `Recorded: the store held ${counted(end!.last_entry, 'entry', 'entries')}, and ${vouched.isSigned ? `a checkpoint of ${vouched.at} vouched for` : `this node had acknowledged, at ${vouched.at},`} ${counted(vouched.last_entry, 'entry', 'entries')} of another history.`,
    ...(lost > 0 ? [`At least ${counted(lost, 'entry', 'entries')} are lost.`] : []),
    `The checkpoints are in ${shownPath(aside)}. Keep them: they show what was lost.`,
    'Next: start the server, then run counterfoil audit verify. Run this command on each other node whose start is refused.',
  ];
  console.log(lines.join('\n'));
}
