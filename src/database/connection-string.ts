// What a PostgreSQL connection string says that matters to others: what it overrules, and whether it leaves the network to listen in.
import { isLoopbackHost } from '../lib/web-address.ts';

/** The parameter of a connection string (`postgres://…`) that sets options or deadlines of sessions; nothing where none does. */
export function overridingParameter(url: string): string | undefined {
  const names = [...new URLSearchParams(url.split('?')[1])].map(([name]) => name);
  return names.find((name) => /^options$|timeout/i.test(name));
}

/** Whether a connection string turns encryption off for a database on another machine. */
export function speaksInTheClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  const isHere = host === '' || host.startsWith('/') || host.startsWith('%2F') || isLoopbackHost(host);
  return searchParams.get('sslmode') === 'disable' && !isHere;
}
