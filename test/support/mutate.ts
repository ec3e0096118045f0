// Cheap damage to requests: a few bytes, a swapped part, a doubled header; what serialisers and well-meant generators never make.
import { CANARY, TEXTS } from './nasty-values.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { WireRequest } from './wire-client.ts';

/** What breaks parsers when it stands where it does not belong. */
const SPLINTERS = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '0',
  '-',
  '.',
  'e9',
  '\0',
  '\x7f',
  '\xff',
  '\ud800',
  ' ',
  '\r\n',
  '\n',
  '%',
  '&',
  '=',
].map((text) => Buffer.from(text));
const STRETCH_MAXIMUM = 80_000;

/** Damages bytes in one to three places: a bit, a byte, a stretch gone, doubled, moved or blown up. */
export function mutateBytes(bytes: Buffer, random: SeededRandom): Buffer {
  let damaged = bytes;
  for (let times = random.between(1, 3); times > 0; times--) {
    const at = random.between(0, damaged.length);
    const end = Math.min(damaged.length, at + random.between(0, 8));
    const before = damaged.subarray(0, at);
    const rest = damaged.subarray(end);
    const way = random.between(0, 99);
    if (way < 20 && at < damaged.length) {
      damaged = Buffer.from(damaged);
      damaged[at]! ^= 1 << random.between(0, 7);
    } else if (way < 40) damaged = Buffer.concat([before, rest]);
    else if (way < 55) damaged = Buffer.concat([before, damaged.subarray(at, end), damaged.subarray(at)]);
    else if (way < 80) damaged = Buffer.concat([before, random.pick(SPLINTERS), damaged.subarray(at)]);
    else if (way < 90) damaged = Buffer.concat([before, Buffer.from(random.pick(TEXTS)), rest]);
    else if (way < 96) damaged = before;
    else {
      const stretch = Buffer.alloc(
        random.between(1, STRETCH_MAXIMUM),
        damaged.subarray(at, at + 1).toString() || 'x',
      );
      damaged = Buffer.concat([before, stretch, rest]);
    }
  }
  return damaged;
}

/** A request like `request`, damaged in its body or its path, or with a part that belongs to one of `others`. */
export function mutateRequest(
  request: WireRequest,
  others: readonly WireRequest[],
  random: SeededRandom,
): WireRequest {
  const other = random.pick(others);
  const way = random.between(0, 99);
  if (way < 60 && request.body) return { ...request, body: mutateBytes(request.body, random) };
  if (way < 70) return { ...request, headers: [...request.headers, ...other.headers] };
  if (way < 75) return { ...request, headers: other.headers };
  if (way < 80)
    return { ...request, headers: [...request.headers, ['X-Junk', CANARY.repeat(random.between(1, 900))]] };
  if (way < 84) return { ...request, method: other.method };
  if (way < 88) return { ...request, body: other.body };
  if (way < 98) {
    const path = mutateBytes(Buffer.from(request.path), random).toString();
    return { ...request, path: path.startsWith('/') ? path : `/${path}` };
  }
  return {
    ...request,
    headers: Array.from({ length: random.between(60, 70) }, () => ['X-Junk', '1'] as const),
  };
}
