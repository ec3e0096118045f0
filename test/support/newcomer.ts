// Somebody who sees Counterfoil for the first time: reads the terminal, opens what it names, and follows what the screens say.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { loaded } from './chromium.ts';
import { plainText } from './command.ts';

const BUSINESS = 'Corner Shop';
const PASSWORD = 'violet anchor drifts uphill';

/** One thing done, and what it took, in milliseconds. */
export interface Step {
  name: string;
  ms: number;
}

/** What a newcomer works with. `shell` is the environment of the terminal that they paste commands into. */
export interface Newcomer {
  browser: Browser;
  shell: NodeJS.ProcessEnv;
  told(step: Step): void;
}

/** The link that the banner shows beside `words`. Throws where there is none. */
function linkBeside(words: string, terminal: string): string {
  const banner = plainText(terminal);
  const [, link] = new RegExp(`^ *${words} +(http\\S+)$`, 'm').exec(banner) ?? [];
  assert.ok(link, `the banner has no link beside "${words}": ${banner}`);
  return link;
}

/** Pays the sample payment, sets up who reviews, and approves it. Throws the step that failed, and why. */
export async function reviewFirstPayment(newcomer: Newcomer, terminal: string): Promise<void> {
  const checkout = linkBeside('Pay it', terminal);
  const review = linkBeside('Review it', terminal);
  const inbox = linkBeside('Webhooks', terminal);
  const customer = await newPage(newcomer);
  const reviewer = await newPage(newcomer);
  const step = stepper(newcomer);
  const id = new URL(checkout).searchParams.get('payment_id')!;
  await step('opens the payment that the banner shows', () => customer.goto(checkout));
  await step('pays with the test card that the page names', () => pay(customer));
  await step('opens the set-up link that the banner shows', () => reviewer.goto(review));
  await step('chooses a password and adds an authenticator', () => setUp(reviewer));
  await step('keeps the recovery codes', async () => {
    assert.equal(await heading(reviewer), 'Your recovery codes');
    assert.ok((await reviewer.locator('main ol li').count()) >= 8);
    await loaded(reviewer, () => reviewer.getByRole('link', { name: /I have kept them/ }).click());
  });
  await step('finds the payment in the queue', async () => {
    await loaded(reviewer, () => reviewer.getByRole('link', { name: 'Review', exact: true }).click());
    await loaded(reviewer, () => reviewer.locator(`a[href*="${id}"]`).first().click());
    assert.match(await reviewer.locator('main').innerText(), /SAMPLE-1/);
  });
  await step('approves it', async () => {
    await loaded(reviewer, () => reviewer.getByRole('link', { name: /^Approve/ }).click());
    await loaded(reviewer, () => reviewer.getByRole('button', { name: /^Approve/ }).click());
    assert.match(await reviewer.locator('main').innerText(), /Approved by you/);
  });
  await step('sees as the customer that it is paid', async () => {
    await customer.reload();
    assert.match(await heading(customer), /^You have paid /);
  });
  await step('sees the verified webhook in the inbox that the banner shows', async () => {
    await customer.goto(inbox);
    const approved = customer.locator('section', { hasText: 'payment.approved' });
    while ((await approved.count()) === 0) await customer.reload();
    assert.match(await approved.first().innerText(), /Signature verified/);
  });
  for (const page of [customer, reviewer]) await page.context().close();
}

/** Registers a merchant, runs the command that its page shows as it stands there, and pays what that asks for. */
export async function sellAsMerchant(newcomer: Newcomer, terminal: string): Promise<void> {
  const register = linkBeside('Register', terminal);
  const page = await newPage(newcomer);
  const step = stepper(newcomer);
  let command = '';
  let checkout = '';
  await step('opens the registration that the banner shows', () => page.goto(register));
  await step('registers a business', async () => {
    await page.getByLabel('Business name').fill(BUSINESS);
    await page.getByLabel('Work email address').fill('ada@example.org');
    await loaded(page, () => page.getByRole('button', { name: 'Create the API key' }).click());
    assert.equal(await heading(page), 'Your API key');
    command = await page.locator('pre', { hasText: 'curl' }).first().innerText();
  });
  await step('pastes the command that its page shows into a shell', async () => {
    const { stdout } = await promisify(execFile)('sh', ['-c', command], {
      env: newcomer.shell,
    });
    const { data } = JSON.parse(stdout);
    assert.equal(data.merchant_name, BUSINESS, stdout);
    checkout = data.checkout_url;
  });
  await step('opens the checkout_url of the answer', async () => {
    await page.goto(checkout);
    assert.ok((await heading(page)).includes(BUSINESS));
  });
  await step('pays with the test card that the page names', () => pay(page));
  await page.context().close();
}

function stepper({ told }: Newcomer) {
  return async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const begun = performance.now();
    try {
      await work();
    } catch (error) {
      throw new Error(`A newcomer who ${name}: ${(error as Error).message}`, { cause: error });
    }
    told({ name, ms: performance.now() - begun });
  };
}

/** A window of its own, without scripts. */
async function newPage({ browser }: Newcomer): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled: false, locale: 'en' });
  const page = await context.newPage();
  return page;
}

const heading = (page: Page) => page.locator('h1').first().innerText();

/** Fills in the card that a payment's page names, and sends it. */
async function pay(page: Page): Promise<void> {
  const card = page.getByRole('link', { name: 'Test card', exact: true });
  if ((await card.count()) > 0) await loaded(page, () => card.click());
  const [number] = /\d{4}(?:\s\d{4}){3}/.exec(await page.locator('main').innerText()) ?? [];
  assert.ok(number, 'the page names a card number for trying');
  await page.locator('#card-number').fill(number);
  await page.locator('#card-expiry').fill('12/40');
  await page.locator('#payer-email').fill('ada@example.org');
  await loaded(page, () => page.locator('form:visible button.primary').click());
  assert.match(await heading(page), /is checking your payment/);
}

async function setUp(page: Page): Promise<void> {
  assert.equal(await heading(page), 'Set up your account');
  await page.locator('#password').fill(PASSWORD);
  await page.locator('#password-again').fill(PASSWORD);
  const secret = (await page.locator('.key').innerText()).replaceAll(' ', '');
  await page.locator('#code').fill(new TOTP({ secret }).generate());
  await loaded(page, () => page.getByRole('button', { name: 'Set up my account' }).click());
}
