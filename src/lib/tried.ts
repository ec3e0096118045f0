// What may fail and has something to stand in for it.

/** What `read` returns; `instead` if it throws. */
export function tried<T, U = undefined>(read: () => T, instead?: U): T | U {
  try {
    return read();
  } catch {
    return instead as U;
  }
}
