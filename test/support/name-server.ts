// A DNS server on loopback (RFC 1035, over UDP) that answers as a test says: other addresses each time, both kinds, late, or never.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const TYPES: Record<number, 4 | 6> = { 1: 4, 28: 6 };

export interface NameAnswer {
  addresses?: readonly string[];
  /** Milliseconds to wait first; `Infinity` never answers. */
  afterMs?: number;
  /** RCODE: 2 the server failed, 3 no such name. */
  code?: number;
}

export interface NameServer {
  /** As `Resolver.setServers` takes it. */
  address: string;
  /** Names that were asked for, each question once for IPv4 and once for IPv6. */
  asked: string[];
  stop(): void;
}

function bytesOf(address: string): number[] {
  if (isIP(address) === 4) return address.split('.').map(Number);
  const [head, tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::') as [string, string?];
  const [first, last] = [head, tail ?? ''].map((text) => text.split(':').filter(Boolean)) as [
    string[],
    string[],
  ];
  const all = [...first, ...Array<string>(8 - first.length - last.length).fill('0'), ...last];
  return all.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]);
}

/** Starts one. `answer` is asked for a name and the family of addresses it is to have. */
export async function startNameServer(
  answer: (name: string, family: 4 | 6) => NameAnswer,
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  const numbered = new Set<string>();
  socket.on('message', async (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const question = query.subarray(12, at + 5);
    const type = query.readUInt16BE(at + 1);
    const name = labels.join('.').toLowerCase();
    // Who hears nothing for a while asks again, with the same number.
    const told = `${query.readUInt16BE(0)} ${type} ${name}`;
    if (!numbered.has(told)) asked.push(name);
    numbered.add(told);
    const { addresses = [], afterMs = 0, code = 0 } = answer(name, TYPES[type]!);
    if (afterMs === Number.POSITIVE_INFINITY) return;
    if (afterMs > 0) await delay(afterMs);
    const records = addresses
      .filter((one) => isIP(one) === TYPES[type])
      .map((one) => {
        const data = bytesOf(one);
        return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data]);
      });
    const header = Buffer.from([
      query[0]!,
      query[1]!,
      0x81,
      0x80 | code,
      0,
      1,
      0,
      records.length,
      0,
      0,
      0,
      0,
    ]);
    socket.send(Buffer.concat([header, question, ...records]), port, address, () => {});
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, asked, stop: () => void socket.close() };
}
