// An address of this machine that is not loopback: a caller from there is a stranger to a service that listens everywhere.
import { networkInterfaces } from 'node:os';

/** IPv4; undefined where this machine has none. */
export const ownAddress: string | undefined = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
