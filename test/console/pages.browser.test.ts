// The console's review pages in a real browser: in every light and width, by keys alone, and without scripts.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { axeFaults, layoutFaults, unfold } from '../support/browser.ts';
import { startChromium } from '../support/chromium.ts';
import type { Client } from '../support/console.ts';
import { open, send } from '../support/customer.ts';
import type { Harness } from '../support/harness.ts';
import { strictly } from '../support/markup.ts';
import { createAt } from '../support/shop.ts';
import { approveAs, people, rejectAs, startReview, statusOf, waiting } from './review-stage.ts';

const axePath = createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js');

interface Scene {
  name: string;
  path: string;
  client: Client;
  status?: number;
  /** The button that is pressed on the page, for what only a form shows. */
  press?: RegExp;
}

let harness: Harness;
let browser: Browser;
let who: Awaited<ReturnType<typeof people>>;
let scenes: Scene[];
before(async () => {
  harness = await startReview();
  who = await people(harness);
  const { ana, bob, olga } = who;
  const empty = { name: 'nothing for the filters', path: '/queue?mode=live', client: ana };
  const fields = {
    merchant_reference: 'ORDER-1001',
    metadata: { cart: 'c_1', lines: [1, 2] },
    return_url: 'https://corner.example/',
  };
  const approved = await waiting(harness, 'cash', fields);
  await approveAs(ana, approved, { note: 'Counted it.', bank_reference: 'TRX 4711' });
  const rejected = await waiting(harness, 'transfer', fields);
  await rejectAs(bob, rejected, { note: 'Twice.', message: 'You paid already.' });
  const expired = await createAt(harness, 'details', { expires_in: 300 });
  harness.clock.advance(300_001);
  await send(await open(harness, expired.id));
  const plain = await waiting(harness, 'transfer', {
    ...fields,
    customer: { name: 'Grace', email: 'g@example.org', phone: null },
  });
  const claimed = await waiting(harness, 'card', { amount: 999999999.99 });
  await bob.send(await bob.get(`/payments/${claimed}`), {}, 'Claim');
  const half = await waiting(harness, 'details', { amount: 5001, ...fields });
  await approveAs(bob, half);
  const named = (name: string, path: string, client: Client = ana, more: Partial<Scene> = {}): Scene => ({
    name,
    path,
    client,
    ...more,
  });
  scenes = [
    named('home', ''),
    named('queue', '/queue'),
    named('queue, filtered wrongly', '/queue?minimum=x&mode=test'),
    empty,
    named('queue, one open', `/queue?open=${plain}&done=${approved}`),
    named('queue, claimed by another', `/queue?open=${claimed}`),
    named('queue, half approved', `/queue?open=${half}&done=${half}`, bob),
    named('queue, an auditor', `/queue?open=${plain}`, olga),
    named('approve', `/payments/${plain}/approve`),
    named('approve, second', `/payments/${half}/approve`),
    named('approve, changed', `/payments/${plain}/approve?version=1`),
    named('reject', `/payments/${plain}/reject`),
    named('reject, errors', `/payments/${plain}/reject`, ana, { press: /^Reject/, status: 422 }),
    named('reject, preview', `/payments/${plain}/reject`, ana, { press: /^Preview/ }),
    named('approve, claimed', `/payments/${claimed}/approve`, ana, { status: 409 }),
    named('approve, decided', `/payments/${approved}/approve`, ana, { status: 409 }),
    named('approve, own', `/payments/${half}/approve`, bob, { status: 409 }),
    named('payment', `/payments/${plain}`),
    named('payment, approved', `/payments/${approved}`),
    named('payment, rejected', `/payments/${rejected}`, olga),
    named('payment, expired', `/payments/${expired.id}`),
    named('payment, note missing', `/payments/${plain}`, ana, { press: /^Add the note/, status: 422 }),
  ];
  browser = await startChromium();
});
after(async () => {
  await browser?.close();
  await harness.close();
});

/** A page of whoever `client` is, with axe where it is asked for. */
async function pageOf(
  client: Client,
  options: BrowserContextOptions & { withAxe?: boolean } = {},
): Promise<Page> {
  const { withAxe = false, ...rest } = options;
  const context = await browser.newContext({
    bypassCSP: withAxe,
    viewport: { width: 1280, height: 800 },
    ...rest,
  });
  await context.addCookies(
    [...client.cookies].map(([name, value]) => ({ name, value, url: harness.origin })),
  );
  if (withAxe) await context.addInitScript({ path: axePath });
  return context.newPage();
}

async function show(page: Page, { path, press }: Scene): Promise<{ status: number; text: string }> {
  let response = (await page.goto(`${harness.origin}/console${path}`))!;
  if (press) {
    const answered = page.waitForResponse((one) => one.request().method() === 'POST');
    await page.getByRole('button', { name: press }).click();
    response = await answered;
    await page.waitForLoadState();
  }
  return { status: response.status(), text: await response.text().catch(() => '') };
}

describe('in every light and width', { concurrency: 2 }, () => {
  for (const width of [320, 1280])
    for (const colorScheme of ['light', 'dark'] as const)
      test(`axe finds nothing, all fits, can be hit and is well-formed: ${width} px, ${colorScheme}.`, async () => {
        const faults: string[] = [];
        for (const client of new Set(scenes.map((scene) => scene.client))) {
          const page = await pageOf(client, { withAxe: true, viewport: { width, height: 800 }, colorScheme });
          for (const scene of scenes.filter((one) => one.client === client)) {
            const { status, text } = await show(page, scene);
            assert.equal(status, scene.status ?? 200, scene.name);
            // Only colours differ by the light.
            const folded = colorScheme === 'light' ? await layoutFaults(page) : [];
            await unfold(page);
            const found =
              colorScheme === 'light'
                ? [...strictly(text).faults, ...(await layoutFaults(page)), ...(await axeFaults(page))]
                : await axeFaults(page, ['color-contrast', 'link-in-text-block']);
            const all = [...folded, ...found];
            faults.push(
              ...all.filter((fault) => !isSmallOnPurpose(fault)).map((fault) => `${scene.name}: ${fault}`),
            );
          }
          await page.context().close();
        }
        assert.deepEqual([...new Set(faults)], []);
      });
});

/** Controls of the console are 36 px high where a mouse points, 44 px for fingers. */
function isSmallOnPurpose(fault: string): boolean {
  if (/input#reason-/.test(fault)) return true; // its label is as much of a target
  const size = /is ([\d.]+) × ([\d.]+) px, under 44$/.exec(fault);
  return size !== null && Number(size[2]) >= 36;
}

test('No page breaks its own policy or asks another host for anything.', async () => {
  const page = await pageOf(who.ana);
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(harness.origin)) said.push(request.url());
  });
  for (const scene of scenes.filter(({ client }) => client === who.ana)) await show(page, scene);
  assert.deepEqual(
    said.filter((text) => !/^Failed to load resource: .* status of [45]\d\d/.test(text)),
    [],
  );
  await page.context().close();
});

test('By keys alone a payment is approved from the queue with three presses and Enter, and the next is open.', async () => {
  const page = await pageOf(who.ana);
  await page.goto(`${harness.origin}/console/queue`);
  await page.keyboard.press('j');
  const focused = await page.evaluate('document.activeElement.href');
  const id = new URL(String(focused)).searchParams.get('open')!;
  await Promise.all([page.waitForURL(/open=/), page.keyboard.press('o')]);
  await Promise.all([page.waitForURL(/\/approve/), page.keyboard.press('a')]);
  assert.equal(await statusOf(harness, id), 'requires_review');
  await page.waitForFunction("document.activeElement.id === 'bank_reference'");
  await Promise.all([page.waitForURL(/done=/), page.keyboard.press('Enter')]);
  assert.equal(await statusOf(harness, id), 'approved');
  assert.match(await page.locator('[role=status]').innerText(), /^Approved by you/);
  await page.context().close();
});

test('Without scripts a payment is rejected with a preview on the way.', async () => {
  const id = await waiting(harness);
  const page = await pageOf(who.ana, { javaScriptEnabled: false });
  await page.goto(`${harness.origin}/console/queue?open=${id}`);
  await page.getByRole('link', { name: 'Reject…' }).click();
  await page.getByLabel('Duplicate').check();
  await page.getByLabel('Message to the customer').fill('You paid already.');
  await page.getByRole('button', { name: 'Preview the message' }).click();
  assert.match(await page.locator('.message').innerText(), /Message from Corner Shop\s+You paid already\./);
  assert.equal(await statusOf(harness, id), 'requires_review');
  assert.ok(await page.getByLabel('Duplicate').isChecked());
  await page.getByRole('button', { name: /^Reject/ }).click();
  assert.equal(await statusOf(harness, id), 'rejected');
  await page.context().close();
});
