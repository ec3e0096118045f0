// counterfoil accept-clock: writes into the history that this machine's clock is right, where an earlier one was ahead of it.
import type { Command } from 'commander';
import { newestSeal } from '../../journal/queries.ts';
import { momentsIn } from '../../lib/moments.ts';
import { formatTimestamp, MINUTE_MS, systemClock } from '../../lib/time.ts';
import { OPERATOR, onStore, type Store } from './store.ts';
import { Failure } from './terminal.ts';
import { CONFIG_OPTION, JSON_OPTION, newCommand } from './usage.ts';

/** As much as a start takes: `history_clock` of `counterfoil doctor`. */
const BEHIND_MS = MINUTE_MS;

export function command(): Command {
  return newCommand(
    'accept-clock',
    "record that this machine's clock is right, although the newest entry of the history is later",
    ['accept-clock --config /etc/counterfoil.yaml'],
  )
    .option(...CONFIG_OPTION)
    .option(...JSON_OPTION)
    .action(onStore(acceptClock));
}

/** A start holds its clock to the newest entry: one with the right time is what lets it go on. */
async function acceptClock({ configuration, database, journal }: Store) {
  const [now, seal] = [systemClock.now(), await newestSeal(database)];
  if (!seal || seal.at - now <= BEHIND_MS)
    throw new Failure('the clock is not behind the history: there is nothing to accept');
  const facts = { newest_entry_at: formatTimestamp(seal.at), clock: formatTimestamp(now) };
  await journal.commit((transaction) =>
    transaction.record({ ...OPERATOR, action: 'clock.accepted', subject: 'clock', facts }),
  );
  const { clock, newest_entry_at } = facts;
  const words = momentsIn(configuration.time_zone);
  return {
    json: { clock, newest_entry_at },
    text: `It is ${words.moment(now)}, and so the history says from now on; its newest entry was of ${words.moment(seal.at)}.\nNext: start the server. What was to end by that time lives on until it comes.`,
  };
}
