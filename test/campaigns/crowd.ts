// A process that is a crowd: connections that are kept by a small request now and then, and more of them than are taken.
import { connect, type Socket } from 'node:net';

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
  /** Answers that were no 200, and connections that ended before their time. */
  failed: number;
  /** Of those beyond: how many were closed, and how long that took at most. */
  turnedAway: number;
  turnedAwayMs: number;
}

const OPENED_AT_ONCE = 200;
const REQUEST = 'GET /health HTTP/1.1\r\nHost: pay.test\r\n\r\n';
/** One that is beyond and not closed by then hangs. */
const HANGS_MS = 3000;

async function crowd({ port, connections, everyMs, stayMs, beyond = 0 }: Crowd): Promise<void> {
  const told: Crowded = { opened: 0, answered: 0, failed: 0, turnedAway: 0, turnedAwayMs: 0 };
  const sockets: Socket[] = [];
  const timers: NodeJS.Timeout[] = [];
  let over = false;
  const open = (index: number) =>
    new Promise<void>((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        if (!over) told.failed++;
        resolve();
      });
      socket.on('data', (chunk) => {
        if (chunk.toString('latin1', 0, 12) === 'HTTP/1.1 200') told.answered++;
        else told.failed++;
      });
      socket.on('connect', () => {
        told.opened++;
        resolve();
        if (everyMs === undefined) return;
        // Spread over the time between two, as those of strangers are.
        const first = setTimeout(
          () => {
            socket.write(REQUEST);
            timers.push(setInterval(() => socket.write(REQUEST), everyMs));
          },
          ((index % 100) / 100) * everyMs,
        );
        timers.push(first);
      });
    });
  while (sockets.length < connections) {
    const wave = Math.min(OPENED_AT_ONCE, connections - sockets.length);
    await Promise.all(Array.from({ length: wave }, (_, i) => open(sockets.length + i)));
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
  for (const timer of timers) clearInterval(timer);
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
