// The API of a running service as commands for developers call it: with a test key, over HTTP.

import { SECOND_MS } from '../../lib/time.ts';
import { webAddressFault } from '../../lib/web-address.ts';
import { DEVELOPMENT_KEY, KEY_PREFIX } from '../../merchants/merchant.ts';
import { configurationFile, readConfiguration } from '../config.ts';
import { placesOf } from '../settings/places.ts';
import { Failure } from './terminal.ts';
import { UsageError } from './usage.ts';

const ANSWER_MS = 15 * SECOND_MS;

export const KEY_OPTION = ['--key <key>', 'a test key (default: the development key)'] as const;
export const URL_OPTION = [
  '--url <url>',
  'base URL of the service (default: that of the configuration file)',
] as const;

export interface TestApiOptions {
  key?: string;
  url?: string;
  config?: string;
}

/** The service did not answer: it may do so later. */
export class Unreachable extends Failure {
  override readonly name = 'Unreachable';
}

export interface TestApi {
  baseUrl: string;
  /** Sends `init` to a path below the base URL. Throws `Unreachable`, and `Failure` for an answer that says no. */
  request(path: string, init?: RequestInit): Promise<Response>;
}

/** Returns the API that options name. Throws `ConfigurationError`, and `UsageError` for a live key and an address without https. */
export function testApi({ key: given, url, config }: TestApiOptions): TestApi {
  const key = given ?? DEVELOPMENT_KEY;
  if (!key.startsWith(KEY_PREFIX.test))
    throw new UsageError(
      '--key takes test keys alone: they begin with cfk_test_, and no live payment can be touched',
    );
  const baseUrl = (url ?? configuredUrl(config)).replace(/\/+$/, '');
  const fault = webAddressFault(baseUrl, { httpsOnly: true });
  if (fault) throw new UsageError(`--url ${fault.replace(/^M/, 'm')}`); // the key is never sent in the clear
  return {
    baseUrl,
    async request(path, init = {}) {
      const response = await fetched(`${baseUrl}${path}`, {
        signal: AbortSignal.timeout(ANSWER_MS),
        ...init,
        redirect: 'error',
        headers: { ...init.headers, authorization: `Bearer ${key}` },
      });
      if (response.ok) return response;
      const advice =
        response.status === 401 && given === undefined
          ? ' It does not know the development key: give a test key of it with --key.'
          : '';
      const said = `${baseUrl}${path} answered ${response.status}: ${await messageOf(response)}${advice}`;
      throw response.status === 429 || response.status >= 500 ? new Unreachable(said) : new Failure(said);
    },
  };
}

function configuredUrl(file: string | undefined): string {
  return placesOf(readConfiguration(configurationFile(file))).baseUrls.public;
}

async function fetched(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    throw new Unreachable(
      `${address} cannot be reached (${reasonOf(error)}): see whether the service runs there, or name the address that it printed at its start with --url`,
    );
  }
}

/** Why a request has no answer, in a word or two. */
export function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? cause?.message ?? message);
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error: { message: string; details?: object } };
    return error.details ? `${error.message} ${JSON.stringify(error.details)}` : error.message;
  } catch {
    return 'it is not Counterfoil that answers there';
  }
}
