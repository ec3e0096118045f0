// The pieces that several settings are made of, and the messages about values that do not fit.
import { isIP } from 'node:net';
import { z } from 'zod';
import { isEmailAddress, textFault } from '../../lib/text.ts';
import { webAddressFault } from '../../lib/web-address.ts';

export const BASE_URL_CHECK =
  'http or https URL without a user name, ? or #; its path of A-Z a-z 0-9 . _ ~ - alone; https in production';

/** An address whose path is its own escaped form and means nothing to a router. */
const PLAIN_PATH = /^[^/]+\/\/[^/]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*\/*$/;

export const baseUrl = z
  .string()
  .refine((url) => !webAddressFault(url, { httpsOnly: false }) && !/[?#]/.test(url), {
    error: 'must be an http or https URL, without a user name, ? or #',
    abort: true,
  })
  .regex(
    PLAIN_PATH,
    'must have a path of the characters A-Z a-z 0-9 . _ ~ - alone, without empty, . and .. segments',
  )
  .transform((url) => url.replace(/\/+$/, ''));

export const CONTACT_CHECK = 'e-mail address, phone number, or http or https URL';
export const CONTACT_FAULT = 'must be an e-mail address, a phone number or an http or https URL';

const isWebAddress = (text: string) => !webAddressFault(text, { httpsOnly: false });

export function isContact(text: string): boolean {
  return (
    (isEmailAddress(text) && !textFault(text, 254)) || /^\+?[\d ()/-]{3,40}$/.test(text) || isWebAddress(text)
  );
}

export const perSecond = (meaning: string) => z.int().min(1).max(1_000_000).describe(meaning);

/** Whether text is an IP address, or one with the length of its network's prefix (CIDR, RFC 4632). */
export function isNetwork(text: string): boolean {
  const [address, prefix, ...rest] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address!)]!;
  return (
    bits > 0 &&
    rest.length === 0 &&
    (prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && +prefix <= bits))
  );
}
