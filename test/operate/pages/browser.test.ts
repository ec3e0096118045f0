// The console's doors and account pages in a real browser: without scripts, with a passkey, and by keys. How they look: `gallery.browser.test.ts`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { recordFailure, STRANGER, sourceOf } from '../../../src/administrators/failures.ts';
import { createAdministrator } from '../../../src/administrators/manage.ts';
import { loaded, startChromium } from '../../support/chromium.ts';
import { type Account, codeOf, createAccount, MANY_SIGN_INS } from '../../support/console.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { giveAuthenticator } from './gallery.ts';

let harness: Harness;
let browser: Browser;
let base: string;
before(async () => {
  harness = await startHarness('sqlite', { configuration: `${MANY_SIGN_INS}host: localhost\n` });
  base = `${harness.service.baseUrl}/console`;
  browser = await startChromium();
});
after(async () => {
  await browser.close();
  await harness.close();
});

async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  return context.newPage();
}

/** Waits until a page is there, whatever part of it the address names. */
async function arrive(page: Page, below: string): Promise<void> {
  await page.waitForURL((url) => url.href.replace(/#.*/, '') === base + below);
}

/** Sends the form that a page is about. */
const sendForm = (page: Page) => loaded(page, () => page.click('main button.primary'));

async function fillIn(page: Page, { email, password }: Pick<Account, 'email' | 'password'>): Promise<void> {
  await page.fill('#email', email);
  await page.fill('#password', password);
}

async function signInOn(page: Page, account: Account, path = '/account'): Promise<void> {
  await page.goto(`${base}${path}`);
  await fillIn(page, account);
  await page.fill('#code', codeOf(harness, account));
  await sendForm(page);
  await arrive(page, path);
}

async function newLink(email: string): Promise<string> {
  const wanted = { email, name: 'Nina New', role: 'reviewer' } as const;
  const { link } = await harness.service.journal.commit((transaction) =>
    createAdministrator(transaction, wanted, { actor: 'operator', request_id: null }),
  );
  return `${base}/set-up?link=${link}`;
}

test('everything from set-up to signing out works with scripts off.', async () => {
  const page = await newPage({ javaScriptEnabled: false });
  const email = 'without-script@example.org';
  await page.goto(await newLink(email));
  const totpSecret = await page.locator('input[name=secret]').inputValue();
  const password = 'four words nobody says';
  await page.fill('#password', password);
  await page.fill('#password-again', password);
  await sendForm(page);
  assert.match(await page.title(), /^Error: /);
  assert.equal(new URL(page.url()).hash, '#errors');
  await page.fill('#password', password);
  await page.fill('#password-again', password);
  await page.fill('#code', codeOf(harness, { totpSecret }));
  await sendForm(page);
  assert.equal(await page.locator('.codes li').count(), 10);
  const recoveryCode = await page.locator('.codes li').first().innerText();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save them as a file' }).click();
  assert.equal((await download).suggestedFilename(), 'counterfoil-recovery-codes.txt');

  await page.goto(`${base}/account`);
  await loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click());
  assert.match(await page.locator('[role=status]').innerText(), /signed out/);
  await fillIn(page, { email, password });
  await page.locator('summary', { hasText: 'Use a recovery code' }).click();
  await page.fill('#recovery-code', recoveryCode);
  await sendForm(page);
  await page.goto(`${base}/account`);
  assert.match(await page.locator('main').innerText(), /9 left/);
  await page.context().close();
});

test('a passkey sets an account up and signs it in, and another is added and removed.', async () => {
  const page = await newPage();
  const takeAway = await giveAuthenticator(page);
  const account = { email: 'passkey@example.org', password: 'four words nobody says' } as Account;
  await page.goto(await newLink(account.email));
  await page.fill('#password', account.password);
  await page.fill('#password-again', account.password);
  await loaded(page, () => page.getByRole('button', { name: 'Use a passkey instead' }).click());
  await page.waitForSelector('.codes');
  await page.goto(`${base}/account/passkeys`);
  assert.match(await page.locator('main').innerText(), /First passkey/);
  await loaded(page, () => page.getByRole('button', { name: 'Sign out' }).click());

  await page.goto(`${base}/account/passkeys`);
  await fillIn(page, account);
  await page.getByRole('button', { name: 'Sign in with your passkey' }).click();
  await arrive(page, '/account/passkeys');
  assert.match(await page.locator('main').innerText(), /last used/);

  await page.context().clearCookies(); // as in a new browser, which the passkey went along to
  await harness.service.journal.commit((transaction) => {
    for (let i = 0; i < 10; i++) {
      const caller = { ...STRANGER, network: `192.0.2.${i % 3}` };
      const source = sourceOf(harness.service.ring, account.email, undefined, caller, harness.clock.now());
      recordFailure(transaction, account.email, 'password', null, source);
    }
  });
  await page.goto(`${base}/account/passkeys`);
  await fillIn(page, account);
  await page.fill('#code', '000000');
  await sendForm(page);
  assert.match(await page.locator('main').innerText(), /not wait[\s\S]*Too many/);
  await page.fill('#password', account.password);
  await page.getByRole('button', { name: 'Sign in with your passkey' }).click();
  await arrive(page, '/account/passkeys');

  await takeAway(); // another device: the first would say that it holds one of this account already
  await giveAuthenticator(page);
  const deviceCookie = async () =>
    (await page.context().cookies()).find(({ name }) => name.endsWith('counterfoil_device'))?.value;
  const devices = [await deviceCookie()];
  await page.fill('#name', 'Phone');
  await page.fill('#current-password', account.password);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await arrive(page, '/account/passkeys?done=passkey');
  assert.match(await page.locator('main').innerText(), /Phone/);
  devices.push(await deviceCookie());
  await loaded(page, () => page.getByRole('link', { name: 'Remove Phone' }).click());
  await page.fill('#current-password', account.password);
  await sendForm(page);
  await arrive(page, '/account/passkeys?done=removed');
  assert.doesNotMatch(await page.locator('main').innerText(), /Phone/);
  devices.push(await deviceCookie());
  assert.equal(new Set(devices).size, 3, 'each change of the passkeys ends the cookie and brings another');
  await page.context().close();
  await harness.verify();
});

test('nothing that the policy forbids is tried.', async () => {
  const account = await createAccount(harness);
  const page = await newPage();
  const said: string[] = [];
  page.on('console', (message) => void said.push(message.text()));
  page.on('pageerror', (error) => void said.push(error.message));
  await signInOn(page, account);
  for (const path of ['', '/password', '/authenticator', '/passkeys', '/recovery-codes'])
    await page.goto(`${base}/account${path}`);
  assert.deepEqual(said, []);
  await page.context().close();
});
