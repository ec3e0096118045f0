// An administrator without a browser: set up through the domain, signed in over HTTP, opening pages and sending their forms.
import assert from 'node:assert/strict';
import { TOTP } from 'otpauth';
import type { Administrator, Role } from '../../src/administrators/administrator.ts';
import { createAdministrator } from '../../src/administrators/manage.ts';
import { newRecoveryCodes } from '../../src/administrators/recovery-codes.ts';
import { completeSetUp } from '../../src/administrators/set-up.ts';
import { newTotp } from '../../src/administrators/totp.ts';
import { type CheckoutPage, type Form, FROM_OUR_PAGE, read } from './customer.ts';
import { type Harness, OPERATOR } from './harness.ts';
import { PASSWORD, PASSWORD_KEPT } from './password.ts';
import { eventually } from './waiting.ts';

/** Configuration for tests that sign in more than ten times. */
export const MANY_SIGN_INS = 'sign_in_forms_per_address: 100000\n';

/** Somebody who is set up, and what they sign in with. */
export interface Account {
  administrator: Administrator;
  email: string;
  password: string;
  totpSecret: string;
  recoveryCodes: string[];
}

let made = 0;

/** Adds an administrator. Returns the link by which they set up their account, and its path below the console. */
export async function invite(
  { service: { journal } }: Pick<Harness, 'service'>,
  role: Role = 'administrator',
  name = 'Ana Admin',
): Promise<{ email: string; link: string; path: string }> {
  const email = `${role}-${++made}@example.org`;
  const { link } = await journal.commit((transaction) =>
    createAdministrator(transaction, { email, name, role }, OPERATOR),
  );
  return { email, link, path: `/set-up?link=${link}` };
}

/** An administrator who is set up, made straight through the domain. */
export async function createAccount(
  harness: Harness,
  role: Role = 'administrator',
  name = 'Ana Admin',
): Promise<Account> {
  const { journal, ring } = harness.service;
  const { email, link } = await invite(harness, role, name);
  const { secret } = newTotp(email);
  const { codes, digests } = newRecoveryCodes();
  const setUp = { password: PASSWORD_KEPT, factor: { totp: { secret, step: 0 } }, recoveryDigests: digests };
  const done = await journal.commit((transaction) => completeSetUp(transaction, ring, link, setUp, null));
  assert.ok(done, 'the set-up link works');
  return {
    administrator: done.administrator,
    email,
    password: PASSWORD,
    totpSecret: secret,
    recoveryCodes: codes,
  };
}

/** The code that an authenticator app shows now, `steps` of 30 seconds on. */
export function codeOf(harness: Harness, { totpSecret }: Pick<Account, 'totpSecret'>, steps = 0): string {
  return new TOTP({ secret: totpSecret }).generate({ timestamp: harness.clock.now() + steps * 30_000 });
}

/** A browser without a screen: keeps cookies, says where forms come from, follows 303 unless told otherwise. */
export interface Client {
  cookies: Map<string, string>;
  /** `path` below the console: `/queue`. Or an absolute address. */
  get(path: string | URL, options?: ClientOptions): Promise<ConsolePage>;
  /**
   * Sends `fields` to `path`, with the token of the page shown last; `token: ''` among them leaves it out. A page's own form is
   * better sent with `send`.
   */
  post(path: string | URL, fields?: Record<string, string>, options?: ClientOptions): Promise<ConsolePage>;
  /** Sends a form of a page as it stands, with `typed` over it: the first whose button says `button`, or the first within main. */
  send(page: ConsolePage, typed?: Record<string, string>, button?: string | RegExp): Promise<ConsolePage>;
}

export type ConsolePage = CheckoutPage;

export interface ClientOptions {
  follow?: boolean;
  headers?: Record<string, string>;
}

export function newClient(harness: Harness): Client {
  const cookies = new Map<string, string>();
  let token = '';

  async function call(target: string | URL, init: RequestInit, options: ClientOptions): Promise<ConsolePage> {
    const url =
      target instanceof URL ? target : new URL(`${harness.origin}/console${target === '/' ? '' : target}`);
    const headers: Record<string, string> = {
      ...(init.headers as Record<string, string>),
      ...options.headers,
    };
    if (cookies.size > 0) headers.cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (/max-age=0/i.test(line)) cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    if (response.headers.get('clear-site-data')?.includes('"cookies"')) cookies.clear();
    if (response.status === 303 && (options.follow ?? true)) {
      await response.arrayBuffer();
      return call(new URL(response.headers.get('location')!, url), {}, {});
    }
    const page = await read(url, response);
    token = page.forms.find(({ values }) => values.token)?.values.token ?? token;
    return page;
  }

  const post: Client['post'] = (path, fields = {}, options = {}) => {
    const { token: given = token, ...rest } = fields;
    const body = new URLSearchParams(given === '' ? rest : { token: given, ...rest }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', ...FROM_OUR_PAGE };
    return call(path, { method: 'POST', headers, body }, options);
  };
  return {
    cookies,
    get: (path, options = {}) => call(path, {}, options),
    post,
    send(page, typed = {}, button) {
      const form = formOf(page, button);
      return post(form.action, { ...form.values, ...typed });
    },
  };
}

/** Opens a page until it says what happens in the background. */
export async function pageThatSays(client: Client, path: string, wanted: RegExp): Promise<ConsolePage> {
  let page: ConsolePage | undefined;
  await eventually(
    async () => {
      page = await client.get(path);
      return wanted.test(page.body);
    },
    () => `${path} does not say ${wanted}: ${page!.body}`,
  );
  return page!;
}

/** The form of a page whose button says `button`, else the first that is no "Sign out". */
export function formOf(page: ConsolePage, button?: string | RegExp): Form {
  const found = page.forms.find((form) =>
    button === undefined
      ? form.button !== 'Sign out'
      : typeof button === 'string'
        ? form.button === button
        : button.test(form.button),
  );
  assert.ok(found, `no form ${button ?? ''} on the page "${page.h1}"`);
  return found;
}

/** Signs in somebody who has an account, as a person does; gives the page that it led to as well. */
export async function signInAs(
  harness: Harness,
  account: Account,
  client = newClient(harness),
  heading = 'Your account',
): Promise<{ client: Client; page: ConsolePage }> {
  const form = await client.get('/sign-in?next=/account');
  const { email, password } = account;
  const page = await client.send(form, { email, password, code: codeOf(harness, account) });
  assert.equal(page.h1, heading, page.body);
  return { client, page };
}

/** A new administrator with `role`, signed in. A network address may sign in ten times in a quarter of an hour: see MANY_SIGN_INS. */
export async function signIn(
  harness: Harness,
  role: Role = 'administrator',
  name?: string,
): Promise<Client & { account: Account }> {
  const account = await createAccount(harness, role, name);
  const { client } = await signInAs(harness, account);
  return { ...client, account };
}
