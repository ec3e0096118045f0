// Checks of the serving process: its account, its Node options, the files it may open, and the clocks.
import { url as debuggerUrl } from 'node:inspector';
import { descriptorLimit } from '../../lib/descriptors.ts';
import { SteadyClock } from '../../lib/steady-clock.ts';
import { MINUTE_MS, SECOND_MS } from '../../lib/time.ts';
import { serverClock } from '../../store/host-states.ts';
import { check, checkTable, failed, ok, skipped, storeCheck, warning } from './check.ts';

/** Options of Node that open a door: a debugger, lenient parsing, the keys of TLS sessions in a file. */
const UNSAFE_OPTION = /^--(inspect(?:-brk|-wait)?|insecure-http-parser|tls-keylog)(?:=|$)/;

const DESCRIPTORS_MINIMUM = 4096;

/** In the order in which a start asks them. */
export const PROCESS_CHECKS = checkTable({
  root: check('System user', 'start', ({ settings: { allow_root, written } }) => {
    const uid = process.getuid?.();
    if (uid === undefined) return skipped('This system has no root');
    if (uid !== 0) return ok('It does not run as root');
    if (allow_root) return ok('It runs as root, which allow_root allows');
    return failed(
      'The service runs as root. It does not need root',
      'start it as an account of its own, or set allow_root: true',
      written.place(['allow_root']),
    );
  }),
  node_options: check("Node's options", 'start', ({ env }) => {
    const given: [where: string, options: readonly string[]][] = [
      ['NODE_OPTIONS', (env.NODE_OPTIONS ?? '').split(/[\s"]+/)],
      ['The command line of node', process.execArgv],
    ];
    for (const [where, options] of given) {
      // Node takes underscores for hyphens.
      const unsafe = options.find((one) => UNSAFE_OPTION.test(one.replaceAll('_', '-')));
      if (unsafe)
        return failed(
          `${unsafe.split('=')[0]} lets others look into the service or past its checks`,
          'start it without',
          where,
        );
    }
    // Opened from within, or by SIGUSR1.
    if (debuggerUrl() !== undefined)
      return failed(
        'A debugger listens, and lets others look into the service or past its checks',
        'start it without, and see who opened it',
        'Node',
      );
    return ok('Node runs without a debugger and with strict parsing');
  }),
  node_tls: check('Certificates of others', 'start', ({ env }) => {
    if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return ok('Certificates of other servers are checked');
    return failed(
      'Certificates of other servers would not be checked',
      'remove the variable; name a private issuer with NODE_EXTRA_CA_CERTS',
      'NODE_TLS_REJECT_UNAUTHORIZED=0',
    );
  }),
  descriptors: check('Open files', 'start', () => {
    const limit = descriptorLimit();
    if (limit === undefined) return skipped('This system does not say how many files may be open');
    if (limit >= DESCRIPTORS_MINIMUM)
      return ok(`${limit.toLocaleString('en')} files and connections may be open`);
    return failed(
      `Only ${limit} files and connections may be open at once, and ${DESCRIPTORS_MINIMUM} are needed`,
      `raise the limit: ulimit -n ${DESCRIPTORS_MINIMUM}, or LimitNOFILE in systemd`,
      'ulimit -n',
    );
  }),
});

/** How far the service may be aside from the system clock, and from the database's. */
const WARNED_MS = 5 * SECOND_MS;
const MAXIMUM_MS = MINUTE_MS;

export const CLOCK_CHECKS = checkTable({
  system_clock: check('System clock', 'later', ({ clock, verification }) => {
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
  }),
  database_clock: storeCheck("The database's clock", 'later', async (database, { clock }) => {
    const theirs = await serverClock(database);
    if (theirs === undefined) return skipped("SQLite has this machine's clock");
    const aside = Math.abs(theirs - clock.now());
    const told = `This machine's clock and the database's are ${Math.round(aside / SECOND_MS)} s apart`;
    const fix = 'let both keep time by NTP';
    if (aside > MAXIMUM_MS) return failed(told, fix);
    return aside > WARNED_MS ? warning(told, fix) : ok("The database's clock and this machine's agree");
  }),
});
