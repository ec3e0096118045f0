// Checks of the clocks of a running service: whether the system's was set, and whether the database's agrees.

import { SteadyClock } from '../../lib/steady-clock.ts';
import { MINUTE_MS, SECOND_MS } from '../../lib/time.ts';
import { serverClock } from '../../store/server-clock.ts';
import { type Check, failed, intoStore, ok, skipped, warning } from './check.ts';

/** How far the service may be aside from the system clock, and from the database's. */
const WARNED_MS = 5 * SECOND_MS;
const MAXIMUM_MS = MINUTE_MS;

const system_clock: Check = {
  id: 'system_clock',
  about: 'System clock',
  stage: 'later',
  look({ clock, verification }) {
    if (!verification || !(clock instanceof SteadyClock))
      return skipped(
        'Whether the clock was set is known where the service runs',
        'see its health page or its log',
      );
    const { ahead } = clock;
    if (Math.abs(ahead) <= WARNED_MS) return ok('The service goes by the system clock');
    const apart = `${Math.round(Math.abs(ahead) / SECOND_MS)} s ${ahead < 0 ? 'ahead of' : 'behind'}`;
    const told = `The system clock was set, and the service is ${apart} it`;
    const fix = 'see that the clock is right, then restart the service';
    // One that is behind follows within a minute; one that is ahead stays so, ends what others made, and dates what it writes wrongly.
    return ahead < -MAXIMUM_MS ? failed(told, fix) : warning(told, fix);
  },
};

const database_clock: Check = {
  id: 'database_clock',
  about: "The database's clock",
  stage: 'later',
  look: intoStore(async (database, { clock }) => {
    const theirs = await serverClock(database);
    if (theirs === undefined) return skipped("SQLite has this machine's clock");
    const aside = Math.abs(theirs - clock.now());
    const told = `This machine's clock and the database's are ${Math.round(aside / SECOND_MS)} s apart`;
    const fix = 'let both keep time by NTP';
    if (aside > MAXIMUM_MS) return failed(told, fix);
    return aside > WARNED_MS ? warning(told, fix) : ok("The database's clock and this machine's agree");
  }),
};

export const CLOCK_CHECKS: readonly Check[] = [system_clock, database_clock];
