// From the set-up link to the customer's page, in a real browser, with scripts and without: what a reviewer's day is made of.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TOTP } from 'otpauth';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Role } from '../../../src/administrators/administrator.ts';
import { createAdministrator } from '../../../src/administrators/manage.ts';
import { FOUR_EYES_ABOVE_EUR, startReview, statusOf, waiting } from '../../review/pages/review-stage.ts';
import { loaded, startChromium } from '../../support/chromium.ts';
import type { Harness } from '../../support/harness.ts';
import { PASSWORD } from '../../support/password.ts';

const ABOVE = { amount: FOUR_EYES_ABOVE_EUR + 1 };
const OPERATOR = { actor: 'operator', request_id: null };

interface Person {
  email: string;
  totpSecret: string;
  context: BrowserContext;
  page: Page;
}

for (const scripts of [false, true])
  describe(`the console with scripts ${scripts ? 'on' : 'off'}`, () => {
    let harness: Harness;
    let browser: Browser;
    before(async () => {
      harness = await startReview();
      browser = await startChromium();
    });
    after(async () => {
      await browser.close();
      await harness.close();
    });

    const at = (path: string) => `${harness.origin}/console${path}`;
    const heading = (page: Page) => page.locator('h1').first().innerText();
    const code = (secret: string) => new TOTP({ secret }).generate({ timestamp: harness.clock.now() });
    const press = (page: Page, name: string | RegExp) =>
      loaded(page, () => page.getByRole('button', { name }).click());

    /** Follows a set-up link as a newcomer does. */
    async function setUp(role: Role, name: string): Promise<Person> {
      const email = `${name.toLowerCase()}@example.org`;
      const { link } = await harness.service.journal.commit((transaction) =>
        createAdministrator(transaction, { email, name, role }, OPERATOR),
      );
      const context = await browser.newContext({ javaScriptEnabled: scripts });
      const page = await context.newPage();
      await page.goto(at(`/set-up?link=${link}`));
      await page.locator('#password').fill(PASSWORD);
      await page.locator('#password-again').fill(PASSWORD);
      const totpSecret = await page.locator('input[name=secret]').inputValue();
      await page.locator('#code').fill(code(totpSecret));
      await press(page, 'Set up my account');
      assert.equal(await heading(page), 'Your recovery codes');
      return { email, totpSecret, context, page };
    }

    /** What the customer reads, who has no script at all. */
    async function customersPage(id: string): Promise<string> {
      const context = await browser.newContext({ javaScriptEnabled: false });
      const page = await context.newPage();
      await page.goto(`${harness.origin}/payment.php?payment_id=${id}&lang=en`);
      const text = await page.locator('main').innerText();
      await context.close();
      return text;
    }

    let ana: Person;
    let bob: Person;

    test('a set-up link and a second factor lead to the queue, and an approval to the customer.', async () => {
      const id = await waiting(harness);
      ana = await setUp('administrator', 'Ana');
      const { page } = ana;
      await page.goto(at('/queue'));
      await loaded(page, () => page.locator('[data-key-row]').first().click());
      await loaded(page, () => page.getByRole('link', { name: 'Approve…' }).click());
      assert.equal(await heading(page), 'Approve this payment?');
      await page.locator('[name=note]').fill('Seen on the statement.');
      await page.locator('[name=bank_reference]').fill('TX-1');
      await press(page, /^Approve/);
      assert.match(await page.locator('main').innerText(), /Approved by you/);
      assert.equal(await statusOf(harness, id), 'approved');
      assert.match(await customersPage(id), /You have paid/);
      await page.goto(at(`/payments/${id}`));
      const told = await page.locator('main').innerText();
      for (const words of ['Seen on the statement.', 'TX-1', 'Ana']) assert.ok(told.includes(words), words);
    });

    test('a rejection carries its message to the customer, and never the note.', async () => {
      const id = await waiting(harness, 'details');
      const { page } = ana;
      await page.goto(at(`/payments/${id}/reject`));
      await page.getByLabel('Transfer not received').check();
      await page.locator('[name=note]').fill('Looks odd to me.');
      await page.locator('[name=message]').fill('The money did not arrive.\nWrite to us when it was sent.');
      await press(page, 'Preview the message');
      assert.match(await page.locator('#preview').innerText(), /money did not/);
      assert.equal(await statusOf(harness, id), 'requires_review', 'a preview decides nothing');
      await page.waitForTimeout(scripts ? 1100 : 0); // a second click within a second is taken for a slip
      await press(page, /^Reject/);
      assert.equal(await statusOf(harness, id), 'rejected');
      const read = await customersPage(id);
      assert.match(read, /not arrive\.\s+Write to/);
      assert.doesNotMatch(read, /odd/);
    });

    test('above the limit a second person must confirm.', async () => {
      const id = await waiting(harness, 'transfer', ABOVE);
      bob = await setUp('reviewer', 'Bob');
      await ana.page.goto(at(`/payments/${id}/approve`));
      await press(ana.page, /^Approve/);
      assert.match(await ana.page.locator('main').innerText(), /Approval 1 of 2 is recorded/);
      assert.equal(await statusOf(harness, id), 'requires_review');
      await ana.page.goto(at(`/payments/${id}/approve`));
      assert.match(await ana.page.locator('main').innerText(), /nother administrator must/);
      await bob.page.goto(at(`/payments/${id}/approve`));
      assert.match(await bob.page.locator('main').innerText(), /1 of 2 approvals: by Ana/);
      await press(bob.page, /^Approve/);
      assert.equal(await statusOf(harness, id), 'approved');
    });

    test('of two reviewers at one payment, the second is told who decided.', async () => {
      const id = await waiting(harness);
      for (const { page } of [ana, bob]) await page.goto(at(`/payments/${id}/approve`));
      await press(bob.page, /^Approve/);
      const answer = ana.page.waitForResponse((response) => response.request().method() === 'POST');
      await press(ana.page, /^Approve/);
      assert.equal((await answer).status(), 409);
      assert.match(await ana.page.locator('main').innerText(), /Bob approved it/);
    });

    test('the history of all that verifies.', async () => {
      await harness.verify();
    });
  });
