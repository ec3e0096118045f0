// Numbers of things, as a sentence says them.

/** `3,907 seals`, `1 seal`; nothing counts as none. */
export function counted(n: number | undefined, one: string, many = `${one}s`): string {
  const figure = n === undefined || n < 1000 ? String(n ?? 0) : n.toLocaleString('en'); // which takes a process 10 ms the first time
  return `${figure} ${n === 1 ? one : many}`;
}
