// Ports of loopback that nobody listens on, for settings that must name one.
import { randomInt } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';
import { eventually } from './waiting.ts';

const HOST = '127.0.0.1';
/**
 * As they come, systems choose ports above these, for connections and for whoever leaves it to them: what was free there may not be a
 * moment later. 10080 is below them: `fetch` refuses it.
 */
const PORTS = { from: 10_400, to: 32_000 };
/** How many a process has for itself, the first among them, by which it has them. */
const BLOCK = 100;

let block: Promise<number> | undefined;
let given = 0;

/** So many different ports, of which no other process that asks here is given any; this one, when it has had all that are its own. */
export async function freePorts(count: number): Promise<number[]> {
  block ??= takeBlock();
  const first = await block;
  const ports: number[] = [];
  for (let tried = 1; tried < BLOCK && ports.length < count; tried++) {
    const port = first + 1 + (given++ % (BLOCK - 1));
    const probe = await listen(port);
    if (!probe) continue;
    await new Promise((closed) => probe.close(closed));
    ports.push(port);
  }
  if (ports.length < count) throw new Error(`fewer than ${count} ports above ${first} are free`);
  return ports;
}

/** One as `freePorts` gives them. */
export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!;
}

/** Whether a port takes connections. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, HOST, () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', () => resolve(false));
  });
}

/** Answers when a port takes no more connections. */
export const untilRefused = (port: number) => eventually(async () => !(await listens(port)));

/** Listens on the first port of a block for as long as this process lives. */
async function takeBlock(): Promise<number> {
  const blocks = (PORTS.to - PORTS.from) / BLOCK;
  const begin = randomInt(blocks);
  for (let i = 0; i < blocks; i++) {
    const first = PORTS.from + ((begin + i) % blocks) * BLOCK;
    const holder = await listen(first);
    holder?.unref();
    if (holder) return first;
  }
  throw new Error(`from ${PORTS.from} to ${PORTS.to} all ports are taken`);
}

/** Nothing where somebody else has the port. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(undefined));
    server.listen(port, HOST, () => resolve(server));
  });
}
