// A process that floods: creates payments as fast as answers come, or at a rate that does not ask how the server is doing.
import { connect, type Socket } from 'node:net';

/** What it is told, as JSON in its one argument. */
export interface Flood {
  port: number;
  key: string;
  /** At most so many requests are under way, each on a connection of its own. */
  connections: number;
  /** Requests that arrive each second, whatever became of those before; nothing: the next follows its answer. */
  perSecond?: number;
  durationMs: number;
}

/** What it tells: a line `there` when all are connected, then this as JSON. */
export interface Flooded {
  /** Answers by status, of those that came while requests arrived. */
  answers: Record<string, number>;
  /** Refusals without `Retry-After`. */
  withoutRetryAfter: number;
  /** Requests that arrived and found every connection waiting for its answer. */
  unsent: number;
  /** Requests that got no answer in time, or whose connection broke. */
  timedOut: number;
  broken: number;
  /** Milliseconds from a request's arrival to its answer, of those that were taken and of those refused, ascending, some of them. */
  takenMs: number[];
  refusedMs: number[];
  /** How long requests arrived, and how long after that the last of them was answered, or given up. */
  tookMs: number;
  drainMs: number;
  /** The longest time for which the flood itself stood still: it, or the whole machine. */
  stillMs: number;
}

const TICK_MS = 2;
const DEADLINE_MS = 10_000;
/** A turn that comes later than this was not spent waiting: what has come meanwhile is not read yet. */
const STILL_MS = 500;
const LOOK_MS = 500;
const DRAIN_LOOK_MS = 20;
const TIMES_TOLD = 1000;
const OPENED_AT_ONCE = 100;
const TAKEN = 201;

interface Client {
  socket: Socket;
  /** When the request that is under way arrived; nothing while there is none. */
  arrived: number | undefined;
  /** How long the flood had waited for answers by then. */
  waited: number;
  received: Buffer;
}

async function flood({ port, key, connections, perSecond, durationMs }: Flood): Promise<Flooded> {
  const body = '{"amount":12.34,"currency":"EUR","merchant_reference":"flood"}';
  const bytes = Buffer.from(
    `POST /v1/payments HTTP/1.1\r\nHost: pay.test\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  const told: Flooded = {
    ...{ answers: {}, withoutRetryAfter: 0, unsent: 0, timedOut: 0, broken: 0 },
    ...{ takenMs: [], refusedMs: [], tookMs: 0, drainMs: 0, stillMs: 0 },
  };
  const free: Client[] = [];
  const all = new Set<Client>();
  let over = false;
  /** Milliseconds for which answers could have come: a machine that stands still makes nobody wait. */
  let waited = 0;

  function send(client: Client, arrived: number): void {
    client.arrived = arrived;
    client.waited = waited;
    client.socket.write(bytes);
  }
  function answered(client: Client, head: string): void {
    const status = Number(head.slice(9, 12));
    told.answers[status] = (told.answers[status] ?? 0) + 1;
    if (status !== TAKEN && !/\r\nretry-after: \d/i.test(head)) told.withoutRetryAfter++;
    (status === TAKEN ? told.takenMs : told.refusedMs).push(performance.now() - client.arrived!);
    client.arrived = undefined;
    if (/\r\nconnection: close/i.test(head)) client.socket.destroy();
    else if (perSecond === undefined && !over) send(client, performance.now());
    else free.push(client);
  }
  function open(): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      const client: Client = { socket, arrived: undefined, waited: 0, received: Buffer.alloc(0) };
      all.add(client);
      socket.on('connect', () => {
        free.push(client);
        resolve();
      });
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        client.received = client.received.length === 0 ? chunk : Buffer.concat([client.received, chunk]);
        const end = client.received.indexOf('\r\n\r\n');
        if (end === -1) return;
        const head = client.received.toString('latin1', 0, end);
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
        if (client.received.length < end + 4 + length) return;
        client.received = client.received.subarray(end + 4 + length);
        answered(client, head);
      });
      socket.on('close', () => {
        resolve();
        if (client.arrived !== undefined) told.broken++;
        all.delete(client);
        const at = free.indexOf(client);
        if (at !== -1) free.splice(at, 1);
        if (!over) open().then(() => perSecond === undefined && sendNext());
      });
    });
  }
  function sendNext(): void {
    const client = free.pop();
    if (client) send(client, performance.now());
  }

  while (all.size < connections)
    await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, connections - all.size) }, open));
  process.stdout.write('there\n');
  const begun = performance.now();
  if (perSecond === undefined) while (free.length > 0) sendNext();
  let arrivals = 0;
  let turn = begun;
  const ticks = setInterval(() => {
    const now = performance.now();
    const sinceTurn = now - turn;
    turn = now;
    waited += Math.min(sinceTurn, STILL_MS);
    told.stillMs = Math.max(told.stillMs, sinceTurn);
    if (perSecond !== undefined && !over)
      for (const due = Math.floor(((now - begun) / 1000) * perSecond); arrivals < due; arrivals++) {
        const client = free.pop();
        if (client) send(client, begun + ((arrivals + 1) / perSecond) * 1000);
        else told.unsent++;
      }
  }, TICK_MS);
  const looks = setInterval(() => {
    for (const client of all) {
      if (client.arrived === undefined || waited - client.waited < DEADLINE_MS) continue;
      told.timedOut++;
      client.arrived = undefined;
      client.socket.destroy();
    }
  }, LOOK_MS);
  await new Promise((resolve) => setTimeout(resolve, durationMs));
  over = true;
  told.tookMs = performance.now() - begun;
  const answers = { ...told.answers };
  while ([...all].some(({ arrived }) => arrived !== undefined))
    await new Promise((resolve) => setTimeout(resolve, DRAIN_LOOK_MS));
  told.drainMs = performance.now() - begun - told.tookMs;
  told.answers = answers;
  clearInterval(ticks);
  clearInterval(looks);
  told.takenMs = some(told.takenMs);
  told.refusedMs = some(told.refusedMs);
  return told;
}

/** So many of them at even distances, ascending, the largest among them. */
function some(times: number[]): number[] {
  const ascending = times.sort((a, b) => a - b);
  if (ascending.length <= TIMES_TOLD) return ascending;
  return Array.from(
    { length: TIMES_TOLD },
    (_, i) => ascending[Math.ceil(((i + 1) * ascending.length) / TIMES_TOLD) - 1]!,
  );
}

const flooded = await flood(JSON.parse(process.argv[2]!) as Flood);
process.stdout.write(`${JSON.stringify(flooded)}\n`, () => process.exit(0));
