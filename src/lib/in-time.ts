// Waits for a promise no longer than a time.

/** What `promise` gives within `ms` milliseconds, else what `late` does. Rejects as `promise` does; an error after that time is ignored. */
export function inTime<T>(ms: number, promise: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late()), ms);
  });
  return Promise.race([promise, expired]).finally(() => clearTimeout(timer));
}
