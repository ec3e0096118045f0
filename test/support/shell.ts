// What a server without routes is made of, beside its log and its socket.
import type { ShellParts } from '../../src/web/shell.ts';

export const PLAIN_SHELL: Omit<ShellParts, 'log' | 'server'> = {
  trustProxy: [],
  https: false,
  plainHttp: undefined,
  actor: () => ({}),
  observe: undefined,
  defect: () => {},
  loggedAddress: (ip) => ip,
};
