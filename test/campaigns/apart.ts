// Clients in a process of their own, whose files and whose time are their own: they say when they are there, and at the end what they met.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The kernel counts processor time in hundredths of a second. */
const TICK_MS = 10;

/**
 * Runs a program, named from this folder, with `orders` as JSON. `there` when its first line came, `gone` with what its last line tells, as soon as
 * it came.
 */
export function runApart<Told>(
  program: string,
  orders: object,
): { there: Promise<void>; gone: Promise<Told>; end(): void } {
  const file = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const there = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<Told>();
  let lines = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (lines++ === 0) there.resolve();
    else gone.resolve(JSON.parse(line));
  });
  once(child, 'close').then(([code]) => {
    const early = new Error(`${program} ended with ${code} and told nothing`);
    there.reject(early);
    gone.reject(early);
  });
  for (const promise of [there.promise, gone.promise]) promise.catch(() => {}); // told to whoever waits by then
  return { there: there.promise, gone: gone.promise, end: () => child.kill('SIGKILL') };
}

/** Resident memory of a process, MiB. */
export function residentMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

/** Processor time that a process has had, milliseconds. */
export function processorMs(pid: number): number {
  const [, fields] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!;
  const [user, system] = fields!.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}
