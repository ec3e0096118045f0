// What a PostgreSQL connection string may not do: overrule what the program relies on, as the driver would let it.

/** The parameter of a connection string (`postgres://…`) that sets options or deadlines of sessions; nothing where none does. */
export function overridingParameter(url: string): string | undefined {
  const names = [...new URLSearchParams(url.split('?')[1])].map(([name]) => name);
  return names.find((name) => /^options$|timeout/i.test(name));
}
