// Forms of one browser that come eight times at once, as by a double click or a retry: each is answered, and counts once.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Account,
  type Client,
  type ConsolePage,
  codeOf,
  createAccount,
  invite,
  MANY_SIGN_INS,
  newClient,
  signIn,
} from '../../support/console.ts';
import { FROM_OUR_PAGE } from '../../support/customer.ts';
import { type Harness, sharedHarness } from '../../support/harness.ts';
import { addPasskey } from '../../support/passkey.ts';
import { ENGINES } from '../../support/stores.ts';

const AT_ONCE = 8;
const NEW_PASSWORD = 'quite another few words';

interface Sent {
  client: Client;
  page: ConsolePage;
  /** Fields of the copy with this index. */
  typed(index: number): Record<string, string>;
  button?: string;
  /** How many may be taken at most. A form that comes when another is done may be taken like any. */
  most: number;
}

/** Somebody whose session is so long unused that the same browser signs in again: every sign-in would end it. */
async function lapsed(harness: Harness): Promise<Client & { account: Account; page: ConsolePage }> {
  const client = await signIn(harness);
  harness.clock.advance(16 * 60_000);
  return { ...client, page: await client.get('/sign-in?next=/account') };
}
const credentials = ({ email, password }: Account) => ({ email, password });

const CASES: { what: string; make(harness: Harness): Promise<Sent> }[] = [
  {
    what: 'signing in with one code',
    async make(harness) {
      const { page, ...client } = await lapsed(harness);
      const code = codeOf(harness, client.account);
      return { client, page, most: 1, typed: () => ({ ...credentials(client.account), code }) };
    },
  },
  {
    what: 'signing in with a recovery code each',
    async make(harness) {
      const { page, ...client } = await lapsed(harness);
      const { recoveryCodes } = client.account;
      return {
        client,
        page,
        most: AT_ONCE,
        typed: (i) => ({ ...credentials(client.account), code: recoveryCodes[i]! }),
      };
    },
  },
  {
    what: 'signing in with one passkey',
    async make(harness) {
      const client = await signIn(harness);
      const passkey = await addPasskey(harness, client);
      harness.clock.advance(16 * 60_000);
      const page = await client.get('/sign-in?next=/account');
      const { expires } = page.forms[0]!.values;
      const credential = passkey.sign(page);
      return {
        client,
        page,
        most: 1,
        typed: () => ({ ...credentials(client.account), credential, ...(expires && { expires }) }),
      };
    },
  },
  {
    what: 'signing in as several who share a browser',
    async make(harness) {
      const { page, ...client } = await lapsed(harness);
      const other = await createAccount(harness);
      return {
        client,
        page,
        most: AT_ONCE,
        typed(i) {
          const account = [client.account, other][i % 2]!;
          return { ...credentials(account), code: account.recoveryCodes[i]! };
        },
      };
    },
  },
  {
    what: 'setting up by one link',
    async make(harness) {
      const client = newClient(harness);
      const page = await client.get((await invite(harness)).path);
      const code = codeOf(harness, { totpSecret: page.forms[0]!.values.secret! });
      return {
        client,
        page,
        most: 1,
        typed: () => ({ password: NEW_PASSWORD, 'password-again': NEW_PASSWORD, code }),
      };
    },
  },
  ...(['password', 'recovery-codes', 'sessions', 'authenticator', 'passkeys'] as const).map((part) => ({
    what: `changing ${part}`,
    async make(harness: Harness): Promise<Sent> {
      const client = await signIn(harness);
      const passkey = part === 'passkeys' ? await addPasskey(harness, client) : undefined;
      const shown = await client.get(`/account/${part}`);
      const page = passkey ? await client.get(shown.link(/Remove/)) : shown;
      const { secret } = page.forms.find(({ values }) => values.secret)?.values ?? {};
      const typed = {
        'current-password': client.account.password,
        ...(part === 'password' && { password: NEW_PASSWORD, 'password-again': NEW_PASSWORD }),
        ...(secret && { code: codeOf(harness, { totpSecret: secret }) }),
      };
      return {
        client,
        page,
        most: part === 'password' || part === 'passkeys' ? 1 : AT_ONCE,
        typed: () => typed,
      };
    },
  })),
  {
    what: 'signing out',
    async make(harness) {
      const client = await signIn(harness);
      return {
        client,
        page: await client.get('/account'),
        most: AT_ONCE,
        typed: () => ({}),
        button: 'Sign out',
      };
    },
  },
];

for (const engine of ENGINES)
  describe(`eight at once on ${engine}`, () => {
    const harness = sharedHarness(engine, { configuration: `host: localhost\n${MANY_SIGN_INS}` });
    for (const { what, make } of CASES)
      test(`${what}: all are answered, and no answer is a defect`, async () => {
        const { client, page, typed, button, most } = await make(harness);
        const form = page.forms.find((one) =>
          button ? one.button === button : one.button !== 'Sign out' && one.values.token,
        )!;
        const cookie = [...client.cookies].map((pair) => pair.join('=')).join('; ');
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, (_, i) =>
            fetch(new URL(form.action, page.url), {
              method: 'POST',
              redirect: 'manual',
              body: new URLSearchParams({ ...form.values, ...typed(i) }),
              headers: { cookie, ...FROM_OUR_PAGE },
            }),
          ),
        );
        const statuses = answers.map(({ status }) => status).sort();
        const defects = statuses.filter((status) => status >= 500 && status !== 503);
        assert.deepEqual(defects, []);
        const taken = statuses.filter((status) => status < 400).length;
        assert.ok(taken >= 1 && taken <= most, `${taken} are taken, of at most ${most}: ${statuses}`);
      });
  });
