// A process that is a crowd: connections that are kept by a small request now and then, and more of them than are taken.
import { connect } from 'node:net';

/** What it is told, as JSON in its one argument. */
export interface Crowd {
  port: number;
  connections: number;
  /** How often each connection asks for /health; undefined where it says nothing at all. */
  everyMs?: number;
  /** How long they stay when all are there. */
  stayMs: number;
  /** So many are tried besides, once all are there. */
  beyond?: number;
}

/** What it tells: a line `there` when all are there, then this as JSON. */
export interface Crowded {
  opened: number;
  answered: number;
  /** Answers that were no 200, and connections that ended before their time while everybody was at work. */
  failed: number;
  /** Of those beyond: how many were closed, and how long that took at most. */
  turnedAway: number;
  turnedAwayMs: number;
}

const OPENED_AT_ONCE = 200;
const REQUEST = 'GET /health HTTP/1.1\r\nHost: pay.test\r\n\r\n';
/**
 * A crowd that asks all the time and has no answer for so long has stood still, or its server has: until a while later, connections
 * that nothing was heard on are closed. Others take their place.
 */
const STILL_MS = 1000;
const AFTERWARDS_MS = 5000;
/** One that is beyond and not closed by then hangs. */
const HANGS_MS = 3000;

async function crowd({ port, connections, everyMs, stayMs, beyond = 0 }: Crowd): Promise<void> {
  const told: Crowded = { opened: 0, answered: 0, failed: 0, turnedAway: 0, turnedAwayMs: 0 };
  let asked = 0;
  let over = false;
  let answeredAt = Number.POSITIVE_INFINITY;
  let stillUntil = Number.NEGATIVE_INFINITY;
  const stoodStill = () => {
    const now = performance.now();
    if (now - answeredAt > STILL_MS) stillUntil = now + AFTERWARDS_MS;
    return now < stillUntil;
  };
  const open = (index: number) =>
    new Promise<void>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      let asking: NodeJS.Timeout | undefined;
      let isOpen = false;
      socket.on('close', () => {
        clearInterval(asking);
        if (!over && isOpen && stoodStill()) {
          told.opened--;
          open(index).then(resolve);
          return;
        }
        if (!over) told.failed++;
        resolve();
      });
      socket.on('data', (chunk) => {
        stoodStill();
        answeredAt = performance.now();
        if (chunk.toString('latin1', 0, 12) === 'HTTP/1.1 200') told.answered++;
        else told.failed++;
      });
      socket.on('connect', () => {
        isOpen = true;
        told.opened++;
        resolve();
        if (everyMs === undefined) return;
        // Spread over the time between two, as those of strangers are.
        asking = setTimeout(
          () => {
            socket.write(REQUEST);
            asking = setInterval(() => socket.write(REQUEST), everyMs);
          },
          ((index % 100) / 100) * everyMs,
        );
      });
    });
  while (asked < connections) {
    const wave = Math.min(OPENED_AT_ONCE, connections - asked);
    await Promise.all(Array.from({ length: wave }, () => open(asked++)));
  }
  process.stdout.write('there\n');
  for (let i = 0; i < beyond; i++) {
    const ms = await turnedAway(port);
    if (ms === undefined) continue;
    told.turnedAway++;
    told.turnedAwayMs = Math.max(told.turnedAwayMs, ms);
  }
  await new Promise((resolve) => setTimeout(resolve, stayMs));
  over = true;
  process.stdout.write(`${JSON.stringify(told)}\n`, () => process.exit(0));
}

/** Milliseconds until one more is closed; undefined where it is not. */
function turnedAway(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const begun = performance.now();
    const socket = connect({ port, host: '127.0.0.1' });
    const hangs = setTimeout(() => socket.destroy(), HANGS_MS);
    let ended = false;
    socket.on('error', () => (ended = true));
    socket.on('end', () => (ended = true));
    socket.on('data', () => {});
    socket.on('close', () => {
      clearTimeout(hangs);
      resolve(ended ? performance.now() - begun : undefined);
    });
    socket.write(REQUEST);
  });
}

await crowd(JSON.parse(process.argv[2]!) as Crowd);
