// Loads two servers in turn and compares them, so that a machine that slows down slows both.
import autocannon from 'autocannon';
import { BODY, KEY } from './request.ts';

const CONNECTIONS = 64;
/** Long enough for the machine code of both to settle. */
const WARM_UP_S = 5;
const ROUND_S = Number(process.env.BENCH_ROUND_S ?? 4);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);

export interface Route {
  method: 'GET' | 'POST';
  path: string;
}

async function requestsPerSecond(port: number, route: Route, seconds: number): Promise<number> {
  const { requests, duration } = await load(port, route, seconds);
  return requests.total / duration;
}

/** Sends requests for some seconds, and returns how many were answered. */
export async function requestsDone(port: number, route: Route, seconds: number): Promise<number> {
  return (await load(port, route, seconds)).requests.total;
}

async function load(port: number, route: Route, seconds: number): Promise<autocannon.Result> {
  const post = route.method === 'POST';
  const result = await autocannon({
    url: `http://127.0.0.1:${port}${route.path}`,
    method: route.method,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { authorization: `Bearer ${KEY}`, ...(post ? { 'content-type': 'application/json' } : {}) },
    ...(post ? { body: JSON.stringify(BODY) } : {}),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${route.method} ${route.path}: ${result.non2xx} refused, ${result.errors} failed`);
  return result;
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

export interface Comparison {
  /** Requests per second, medians of the rounds. */
  ours: number;
  theirs: number;
  /** Median of the rounds' ratios. */
  ratio: number;
}

/** A B A B … after a warm-up of each. */
export async function compare(
  ours: number,
  theirs: number,
  route: Route,
  theirRoute = route,
): Promise<Comparison> {
  await requestsPerSecond(ours, route, WARM_UP_S);
  await requestsPerSecond(theirs, theirRoute, WARM_UP_S);
  const rounds: { ours: number; theirs: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = await requestsPerSecond(ours, route, ROUND_S);
    rounds.push({ ours: first, theirs: await requestsPerSecond(theirs, theirRoute, ROUND_S) });
  }
  return {
    ours: median(rounds.map((round) => round.ours)),
    theirs: median(rounds.map((round) => round.theirs)),
    ratio: median(rounds.map((round) => round.ours / round.theirs)),
  };
}

/** A few people at once, which is what a console sees. */
const READERS = 4;
const LOOK_S = Number(process.env.BENCH_LOOK_S ?? 8);
const LOOK_WARM_UP_S = 2;
const QUANTILE = 0.95;

/** How long the slowest of 20 answers to whoever has `cookie` takes, milliseconds; `paths` are asked for in turn. */
export async function p95(port: number, paths: readonly string[], cookie: string): Promise<number> {
  await look(port, paths, cookie, LOOK_WARM_UP_S);
  const times = (await look(port, paths, cookie, LOOK_S)).sort((a, b) => a - b);
  return times[Math.ceil(times.length * QUANTILE) - 1]!;
}

function look(port: number, paths: readonly string[], cookie: string, seconds: number): Promise<number[]> {
  const times: number[] = [];
  return new Promise((resolve, reject) => {
    const instance = autocannon(
      {
        url: `http://127.0.0.1:${port}`,
        connections: READERS,
        duration: seconds,
        requests: paths.map((path) => ({ method: 'GET', path, headers: { cookie } })),
      },
      (error, result) => {
        if (error) reject(error);
        else if (result.errors > 0 || result['2xx'] !== times.length || times.length === 0)
          reject(new Error(`${paths[0]}: ${result['2xx']} of ${times.length} answers were pages`));
        else resolve(times);
      },
    );
    instance.on('response', (_client, _status, _bytes, ms) => times.push(ms));
  });
}

/** Creates one payment and returns its id. */
export async function createOne(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(BODY),
  });
  return ((await response.json()) as { data: { id: string } }).data.id;
}
