// Numbers of things, as a sentence says them.

/** `3,907 seals`, `1 seal`; nothing counts as none. */
export function counted(n: number | undefined, one: string, many = `${one}s`): string {
  return `${figure(n ?? 0)} ${n === 1 ? one : many}`;
}

/** With commas between thousands. The formatter takes a process 10 ms to make, which few commands need. */
const figure = (n: number) => (n < 1000 ? String(n) : n.toLocaleString('en'));
