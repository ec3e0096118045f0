// An attacker's process: opens connections that never finish what they begin, and reports how each of them ended.
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What it is told, as JSON in its one argument. */
export interface Attack {
  port: number;
  connections: number;
  /** What connections begin with, in turn, and what each then sends once a second; undefined where that is empty. */
  ways: { opening: string; drip: string }[];
}

/** What it tells at the end, as JSON on standard output, a line. */
export interface Casualties {
  /** Connections opened. */
  opened: number;
  /** Milliseconds from being opened to being cut, ascending. */
  cutAfterMs: number[];
  /** The longest that this process itself was kept from looking: its clock may be so much late. */
  lateMs: number;
  /** Status lines that came with the cut, and how often; `silence` where none came. */
  farewells: Record<string, number>;
}

const OPENED_AT_ONCE = 100;
const DRIP_EVERY_MS = 1000;
/** By then an attack is over, whoever has won. */
const GIVE_UP_MS = 40_000;

async function attack({ port, connections, ways }: Attack): Promise<Casualties> {
  const cutAfterMs: number[] = [];
  const farewells: Record<string, number> = {};
  let opened = 0;
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();

  function besiege({ opening, drip }: Attack['ways'][number]): { up: Promise<void>; over: Promise<void> } {
    const socket = connect({ port, host: '127.0.0.1' });
    const up = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    let begun = performance.now();
    let ended: number | undefined;
    let farewell = '';
    let dripping: NodeJS.Timeout;
    socket.on('connect', () => {
      begun = performance.now();
      opened++;
      if (opening) socket.write(opening);
      if (drip) dripping = setInterval(() => socket.write(drip), DRIP_EVERY_MS);
      up.resolve();
    });
    socket.on('data', (chunk) => (farewell += chunk.toString('latin1')));
    socket.on('end', () => (ended = performance.now()));
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(dripping);
      cutAfterMs.push(Math.round((ended ?? performance.now()) - begun));
      // The last answer is the farewell: one to an earlier part of the same connection may stand before it.
      const words = farewell.match(/HTTP\/1\.1 \d{3}/g)?.at(-1) ?? 'silence';
      farewells[words] = (farewells[words] ?? 0) + 1;
      up.resolve();
      over.resolve();
    });
    return { up: up.promise, over: over.promise };
  }

  const ends: Promise<void>[] = [];
  while (ends.length < connections) {
    const wave = Array.from({ length: Math.min(OPENED_AT_ONCE, connections - ends.length) }, (_, i) =>
      besiege(ways[(ends.length + i) % ways.length]!),
    );
    ends.push(...wave.map(({ over }) => over));
    await Promise.all(wave.map(({ up }) => up));
  }
  let patience: NodeJS.Timeout | undefined;
  const lost = new Promise((resolve) => (patience = setTimeout(resolve, GIVE_UP_MS)));
  await Promise.race([Promise.all(ends), lost]);
  clearTimeout(patience);
  const lateMs = Math.round(delays.max / 1e6);
  return { opened, cutAfterMs: cutAfterMs.sort((a, b) => a - b), lateMs, farewells };
}

process.stdout.write('there\n');
const casualties = await attack(JSON.parse(process.argv[2]!) as Attack);
process.stdout.write(`${JSON.stringify(casualties)}\n`, () => process.exit(0));
