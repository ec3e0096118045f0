// The console's doors and account pages in a real browser: without scripts, with a passkey, by keys, and as everybody can read them.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { createAdministrator } from '../../src/administrators/manage.ts';
import { axeFaults, layoutFaults } from '../support/browser.ts';
import { startChromium } from '../support/chromium.ts';
import { type Account, codeOf, createAccount, MANY_SIGN_INS } from '../support/console.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const axePath = createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js');
/** The least height of a control with a mouse; fingers get 44 (ux, section 4.1). */
const CONTROL_PX = 36;
const PAGE_BYTES = 60 * 1024;

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
  context.setDefaultTimeout(10_000);
  return context.newPage();
}

/** Waits until a page is there, whatever part of it the address names. */
async function arrive(page: Page, below: string): Promise<void> {
  await page.waitForURL((url) => url.href.replace(/#.*/, '') === base + below);
}

async function enterPassword(page: Page, { email, password }: Account): Promise<void> {
  await page.fill('#email', email);
  await page.fill('#password', password);
  await page.click('main button.primary');
}

async function signInOn(page: Page, account: Account, path = '/account'): Promise<void> {
  await page.goto(`${base}${path}`);
  await enterPassword(page, account);
  await page.fill('#code', codeOf(harness, account));
  await page.click('main button.primary');
  await arrive(page, path);
}

async function newLink(email: string): Promise<string> {
  const wanted = { email, name: 'Nina New', role: 'reviewer' } as const;
  const { link } = await harness.service.journal.commit((transaction) =>
    createAdministrator(transaction, wanted, { actor: 'operator', request_id: null }),
  );
  return `${base}/set-up?link=${link}`;
}

/** Gives the browser a device that holds passkeys and always says yes. Returns what takes it away again. */
async function giveAuthenticator(page: Page): Promise<() => Promise<unknown>> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const;
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', { options });
  return () => session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
}

test('everything from set-up to signing out works with scripts off.', async () => {
  const page = await newPage({ javaScriptEnabled: false });
  const email = 'without-script@example.org';
  await page.goto(await newLink(email));
  const totpSecret = await page.locator('input[name=secret]').inputValue();
  const password = 'four words nobody says';
  await page.fill('#password', password);
  await page.fill('#password-again', password);
  await page.click('main button.primary');
  assert.match(await page.title(), /^Error: /);
  assert.equal(new URL(page.url()).hash, '#errors');
  await page.fill('#password', password);
  await page.fill('#password-again', password);
  await page.fill('#code', codeOf(harness, { totpSecret }));
  await page.click('main button.primary');
  assert.equal(await page.locator('.codes li').count(), 10);
  const recoveryCode = await page.locator('.codes li').first().innerText();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save them as a file' }).click();
  assert.equal((await download).suggestedFilename(), 'counterfoil-recovery-codes.txt');

  await page.goto(`${base}/account`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  assert.match(await page.locator('[role=status]').innerText(), /You are signed out/);
  await page.fill('#email', email);
  await page.fill('#password', password);
  await page.click('main button.primary');
  await page.locator('summary', { hasText: 'Use a recovery code' }).click();
  await page.fill('#recovery-code', recoveryCode);
  await page.click('main button.primary');
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
  await page.getByRole('button', { name: 'Use a passkey instead' }).click();
  await page.waitForSelector('.codes');
  await page.goto(`${base}/account/passkeys`);
  assert.match(await page.locator('main').innerText(), /First passkey/);
  await page.getByRole('button', { name: 'Sign out' }).click();

  await page.goto(`${base}/account/passkeys`);
  await enterPassword(page, account);
  assert.equal(await page.locator('#code').count(), 0, 'there is no app to have a code from');
  await page.getByRole('button', { name: 'Use your passkey' }).click();
  await arrive(page, '/account/passkeys');
  assert.match(await page.locator('main').innerText(), /used last/);

  await takeAway(); // another device: the first would say that it holds one of this account already
  await giveAuthenticator(page);
  await page.fill('#name', 'Phone');
  await page.fill('#current-password', account.password);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await arrive(page, '/account/passkeys?done=passkey');
  assert.match(await page.locator('main').innerText(), /Phone/);
  await page.getByRole('link', { name: 'Remove Phone' }).click();
  await page.fill('#current-password', account.password);
  await page.click('main button.primary');
  await arrive(page, '/account/passkeys?done=removed');
  assert.doesNotMatch(await page.locator('main').innerText(), /Phone/);
  await page.context().close();
  await harness.verify();
});

test('without scripts the page of a passkey says what to do instead.', async () => {
  const account = await createAccount(harness);
  const page = await newPage();
  await giveAuthenticator(page);
  await signInOn(page, account, '/account/passkeys');
  await page.fill('#name', 'Laptop');
  await page.fill('#current-password', account.password);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.waitForURL(/done=passkey/);
  await page.context().close();
  const bare = await newPage({ javaScriptEnabled: false });
  await bare.goto(`${base}/sign-in`);
  await enterPassword(bare, account);
  assert.match(
    await bare.locator('main').innerText(),
    /Your passkey needs JavaScript, which is off\. Use a code instead\./,
  );
  assert.equal(await bare.getByRole('button', { name: 'Use your passkey' }).isVisible(), false);
  await bare.context().close();
});

test('letters are keys while nothing is typed into, until they are switched off.', async () => {
  const account = await createAccount(harness);
  const page = await newPage();
  await signInOn(page, account);
  const isOpen = () =>
    page.locator('details.keys').evaluate((one) => (one as unknown as { open: boolean }).open);
  await page.keyboard.press('?');
  assert.equal(await isOpen(), true);
  await page.keyboard.press('?');
  assert.equal(await isOpen(), false);
  await page.goto(`${base}/account/password`);
  await page.focus('#current-password');
  await page.keyboard.press('?');
  assert.equal(await isOpen(), false);
  assert.equal(await page.inputValue('#current-password'), '?');
  await page.goto(`${base}/account`);
  await page.getByRole('link', { name: 'Switch them off', exact: true }).click();
  await arrive(page, '/account');
  assert.equal(await page.locator('details.keys').count(), 0);
  await page.keyboard.press('?');
  assert.equal(await page.locator('details.keys').count(), 0);
  await page.context().close();
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

for (const [width, colorScheme] of [
  [320, 'light'],
  [320, 'dark'],
  [1280, 'light'],
  [1280, 'dark'],
] as const)
  describe(`at ${width} px, ${colorScheme}`, () => {
    let page: Page;
    let account: Account;
    before(async () => {
      page = await newPage({ viewport: { width, height: 800 }, colorScheme, bypassCSP: true });
      await page.context().addInitScript({ path: axePath });
      account = await createAccount(harness);
    });
    after(() => page.context().close());

    async function check(name: string): Promise<void> {
      const faults = [...(await axeFaults(page)), ...(await layoutFaults(page, CONTROL_PX))];
      assert.deepEqual(faults, [], name);
      assert.ok(Buffer.byteLength(await page.content()) < PAGE_BYTES, name);
    }

    test('every page can be read and used by everybody.', async () => {
      await page.goto(`${base}/sign-in?out=1`);
      await check('signed out');
      await page.click('main button.primary');
      await page.waitForSelector('#errors');
      await check('sign-in with faults');
      await page.goto(`${base}/account`);
      await enterPassword(page, account);
      await page.waitForSelector('#code');
      await page.locator('summary', { hasText: 'Use a recovery code' }).click();
      await check('second factor');
      await page.click('main button.primary');
      await page.waitForSelector('#errors');
      await check('second factor with faults');
      await page.fill('#code', codeOf(harness, account));
      await page.click('main button.primary');
      await arrive(page, '/account');
      await check('account');
      await page.keyboard.press('?');
      await check('keys');
      for (const path of ['password', 'authenticator', 'passkeys', 'recovery-codes']) {
        await page.goto(`${base}/account/${path}`);
        await check(path);
      }
      await page.goto(`${base}/account/password`);
      await page.click('main button.primary');
      await page.waitForSelector('#errors');
      await check('password with faults');
      await page.goto(`${base}/account/recovery-codes`);
      await page.fill('#current-password', account.password);
      await page.click('main button.primary');
      await page.waitForSelector('.codes');
      await check('recovery codes');
      await page.goto(`${base}/none`);
      await check('no such page');
      await page.goto(await newLink(`nina-${width}-${colorScheme}@example.org`));
      await check('set-up');
      await page.click('main button.primary');
      await page.waitForSelector('#errors');
      await check('set-up with faults');
      await page.goto(`${base}/set-up?link=none`);
      await check('a link that does not work');
    });
  });
