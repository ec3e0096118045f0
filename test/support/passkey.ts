// A passkey of an administrator without a browser: added on their account page, and used where a page asks for one.
import assert from 'node:assert/strict';
import { Authenticator } from './authenticator.ts';
import type { Account, Client, ConsolePage } from './console.ts';
import type { Harness } from './harness.ts';

export interface Passkey {
  /** The field `credential` for a page that asks for a passkey. */
  sign(page: ConsolePage): string;
}

/** Adds a passkey on the account page. The harness must have a name as its host. */
export async function addPasskey(harness: Harness, owner: Client & { account: Account }): Promise<Passkey> {
  const { hostname, origin } = new URL(harness.service.baseUrl);
  const device = new Authenticator();
  const asked = (page: ConsolePage) => ({ rpId: hostname, origin, challenge: challengeOn(page) });
  const page = await owner.get('/account/passkeys');
  const done = await owner.send(page, {
    name: 'Key',
    'current-password': owner.account.password,
    credential: JSON.stringify(device.register(asked(page))),
  });
  assert.match(done.body, /Key, added/);
  return { sign: (shown) => JSON.stringify(device.sign(asked(shown))) };
}

/** The challenge in the options of a page's passkey button. */
function challengeOn({ text }: ConsolePage): string {
  const [, options] = /data-options="([^"]+)"/.exec(text) ?? [];
  assert.ok(options, 'the page asks for a passkey');
  return JSON.parse(options.replaceAll('&quot;', '"')).challenge;
}
