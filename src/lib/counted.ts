// Numbers of things, as a sentence says them.

/** `3,907 seals`, `1 seal`; nothing counts as none. */
export function counted(n: number | undefined, one: string, many = `${one}s`): string {
  return `${(n ?? 0).toLocaleString('en')} ${n === 1 ? one : many}`;
}
