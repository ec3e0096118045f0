// Registration in a real browser: how its pages look in every light, width and direction, and what somebody does on them.
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { Applicant, KEY_PATTERN, register, stored } from '../../support/applicant.ts';
import { faultsEveryWay } from '../../support/axe.ts';
import { AT_ONCE, newPage, type Stage } from '../../support/browser.ts';
import { jump, loaded, startChromium } from '../../support/chromium.ts';
import type { CheckoutPage } from '../../support/customer.ts';
import type { Harness } from '../../support/harness.ts';
import { XSS_PAYLOADS } from '../../support/xss-payloads.ts';
import { type Scene, scenesOf, startServices } from './scenes.ts';

/** Characters of payloads in one field. */
const BATCH = 1200;

let services: Record<Scene['by'], Harness>;
let stage: Stage;
/** Every page as it came, by its language and name. */
const pages = new Map<string, Map<string, { page: CheckoutPage; origin: string }>>();

before(async () => {
  services = await startServices();
  const scenes = scenesOf(services);
  for (const lang of ['en', 'ar']) {
    const ofLanguage = new Map<string, { page: CheckoutPage; origin: string }>();
    for (const { name, by, show } of scenes) {
      const { origin } = services[by];
      ofLanguage.set(name, { page: await show(new Applicant(origin), lang), origin });
    }
    pages.set(lang, ofLanguage);
  }
  stage = { browser: await startChromium() } as Stage;
});
after(async () => {
  await stage.browser.close();
  await Promise.all(Object.values(services).map((one) => one.close()));
});

/** Has the browser show a page that came, with what it loads from the service it came from. */
async function showAgain(
  page: Page,
  { page: { text, headers }, origin }: { page: CheckoutPage; origin: string },
) {
  const address = `${origin}/register`;
  await page.route(address, (route) =>
    route.fulfill({ body: text, headers: Object.fromEntries(headers), status: 200 }),
  );
  await page.goto(address);
  await page.unroute(address);
}

describe('in every light, width and direction', { concurrency: 2 }, () => {
  for (const lang of ['en', 'ar'])
    test(`axe finds nothing, all fits and can be hit, and colours can be told apart: ${lang}.`, async () => {
      const faults: string[] = [];
      const page = await newPage(stage, { withAxe: true, ...AT_ONCE });
      for (const [name, shown] of pages.get(lang)!) {
        await showAgain(page, shown);
        const found = await faultsEveryWay(page, { inTheDark: lang === 'en' });
        faults.push(...found.map((fault) => `${name}: ${fault}`));
      }
      await page.context().close();
      assert.deepEqual(faults, []);
    });
});

test('without scripts somebody registers, fixes what was wrong, saves the key, reloads, and has one merchant.', async () => {
  const harness = services.open;
  const before = await stored(harness);
  const page = await newPage(stage, { acceptDownloads: true });
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('request', (request) => {
    if (!request.url().startsWith(harness.origin)) said.push(request.url());
  });
  await page.goto(`${harness.origin}/register?lang=en`);
  await page.getByLabel('Business name').fill('Corner Shop of Ben');
  await page.getByLabel('Work email address').fill('ana');
  await loaded(page, () => page.getByRole('button', { name: 'Create the API key' }).click());
  await jump(page, () =>
    page.getByRole('link', { name: 'Email address must look like name@example.com' }).click(),
  );
  assert.equal(await page.evaluate('document.activeElement.id'), 'email');
  assert.equal(await page.getByLabel('Business name').inputValue(), 'Corner Shop of Ben');
  await page.getByLabel('Work email address').fill('ana@corner.example');
  await page.getByRole('button', { name: 'Create the API key' }).dblclick();
  await page.getByRole('heading', { name: 'Your API key' }).waitFor();
  const key = await page.locator('pre').first().innerText();
  assert.match(key, new RegExp(`^${KEY_PATTERN.source}$`));

  await page.locator('pre').first().click();
  assert.equal(await page.evaluate('String(getSelection())'), key, 'one click selects the whole key');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: /^Save as/ }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'counterfoil.env');
  assert.equal(
    await text(await download.createReadStream()),
    `COUNTERFOIL_URL=${harness.service.baseUrl}\nCOUNTERFOIL_API_KEY=${key}\n`,
  );
  await page.reload();
  assert.equal(await page.locator('pre').first().innerText(), key);
  const { merchants, keys } = await stored(harness);
  assert.deepEqual([merchants - before.merchants, keys - before.keys], [1, 1]);
  const unexpected = said.filter((text) => !/status of 422|^data:text\/plain/.test(text));
  assert.deepEqual(unexpected, []);
  assert.ok(!harness.logged.some((line) => line.includes('content security policy')));
  await page.context().close();
});

test('no text that was typed runs, though the policy is off and scripts are on.', async () => {
  const { origin } = services.invite;
  const page = await newPage(stage, { withAxe: true });
  const ran: string[] = [];
  page.on('dialog', (dialog) => {
    ran.push(dialog.message());
    return dialog.dismiss();
  });
  await page.exposeFunction('ran', () => ran.push('ran'));
  const batches: string[] = [''];
  for (const payload of XSS_PAYLOADS) {
    if (batches.at(-1)!.length + payload.length > BATCH) batches.push('');
    batches[batches.length - 1] += `${payload} `;
  }
  const ana = new Applicant(origin);
  for (const batch of batches) {
    const typed = { business_name: batch, email: batch, website: batch, invite: batch };
    await showAgain(page, { page: await ana.send(await ana.open(), typed), origin });
  }
  assert.ok(batches.length > 10);
  assert.deepEqual([ran, await page.evaluate('self.ran === 1')], [[], false]);
  await page.context().close();
});

test('a name full of markup is shown as text on the key page and where customers pay.', async () => {
  const business_name = '<img src=x onerror=ran()>"><script>ran()</script>';
  const { json } = await register(services.open, { business_name, email: 'ana@corner.example' });
  const payment = await services.open.create({}, { key: json.data.api_key });
  const page = await newPage(stage, { withAxe: true });
  let ran = 0;
  await page.exposeFunction('ran', () => ran++);
  await page.goto(`${services.open.origin}/payment.php?payment_id=${payment.id}&lang=en`);
  assert.equal(await page.locator('h1').innerText(), `Pay ${business_name}`);
  assert.equal(ran, 0);
  await page.context().close();
});
