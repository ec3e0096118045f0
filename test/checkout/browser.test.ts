// Every page of checkout in a real browser without scripts: what is seen, reached, printed and read aloud.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { COLOUR_RULES, faultsEveryWay, faultsOfNewLooks } from '../support/axe.ts';
import {
  AT_ONCE,
  canvasOf,
  chooseTheme,
  colours,
  fetched,
  focusable,
  layoutFaults,
  lengthen,
  motions,
  newPage,
  type ReadyScene,
  type Stop,
  show,
  startStage,
  tab,
  unfold,
} from '../support/browser.ts';
import { jump, loaded } from '../support/chromium.ts';
import { HEADINGS, TYPED } from '../support/customer.ts';
import { scan } from '../support/qr-reader.ts';
import { shared } from '../support/shared.ts';
import { createAt, KEYS, type OfferName } from '../support/shop.ts';
import { LONG_TEXT, RETURN } from './scenes.ts';

const THEME_COOKIE = 'counterfoil_theme';
const WIDTHS = [320, 1280];
/** What a small phone shows of a page of 390 px before it is scrolled. */
const FIRST_SCREEN_PX = 664;
/** A language that is read from the left, and one from the right. */
const DIRECTIONS = ['en', 'ar'];
/** WCAG 1.4.12. */
const TEXT_SPACING =
  '* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-block-end: 2em !important }';

const stage = shared(startStage);

/** Runs `check` for every scene and tells all faults at once, each with its scene. */
async function everyScene(
  check: (scene: ReadyScene) => Promise<string[]> | string[],
  scenes = stage.scenes,
): Promise<void> {
  assert.ok(scenes.length > 0, 'there are scenes');
  const faults: string[] = [];
  for (const scene of scenes) faults.push(...(await check(scene)).map((fault) => `${scene.name}: ${fault}`));
  assert.deepEqual(faults, []);
}

/** A test of all scenes in three parts, of which none takes long on a slow machine. */
function testInThirds(name: string, check: (scenes: readonly ReadyScene[]) => Promise<void>): void {
  for (const third of [1, 2, 3])
    test(`${name} (${third} of 3).`, () => check(stage.scenes.filter((_, index) => index % 3 === third % 3)));
}

const named = (start: RegExp) => stage.scenes.filter(({ name }) => start.test(name));
const size = (width: number) => ({ width, height: 720 });

describe('in every light, width and direction', { concurrency: 3 }, () => {
  for (const language of DIRECTIONS)
    testInThirds(
      `axe finds nothing, all fits and can be hit, and colours can be told apart: ${language}`,
      async (scenes) => {
        const page = await newPage(stage, { withAxe: true, ...AT_ONCE });
        await everyScene(async (scene) => {
          assert.equal(await show(stage, page, scene, language), scene.status, scene.name);
          return faultsEveryWay(page, { inTheDark: language === 'en' });
        }, scenes);
        await page.context().close();
      },
    );

  testInThirds(
    'a customer who chose dark on a light system sees the colours of a dark one, and the other way round',
    async (scenes) => {
      const page = await newPage(stage, AT_ONCE);
      const themeOf = (html: string) => /<html[^>]* data-theme="(\w+)"/.exec(html)?.[1];
      await everyScene(async (scene) => {
        for (const theme of ['light', 'dark'])
          assert.equal(themeOf(await fetched(stage, scene, 'en', `${THEME_COOKIE}=${theme}`)), theme);
        await page.emulateMedia({ colorScheme: 'light' });
        await show(stage, page, scene);
        const light = await colours(page);
        await chooseTheme(page, 'dark');
        const chosenDark = await colours(page);
        await page.emulateMedia({ colorScheme: 'dark' });
        await chooseTheme(page, 'light');
        const chosenLight = await colours(page);
        await chooseTheme(page, undefined);
        const dark = await colours(page);
        assert.notDeepEqual(light, dark);
        return [
          ...chosenDark.filter((one, i) => one !== dark[i]),
          ...chosenLight.filter((one, i) => one !== light[i]),
        ];
      }, scenes);
      await page.context().close();
    },
  );
});

test('no page breaks its own policy, asks another host for anything, or moves for whoever asked for less motion.', async () => {
  const page = await newPage(stage, { reducedMotion: 'reduce' });
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(stage.harness.origin)) said.push(request.url());
  });
  page.on('requestfailed', (request) => said.push(`failed: ${request.url()}`));
  await everyScene(async (scene) => {
    await show(stage, page, scene);
    const moving = await motions(page);
    // The browser tells of every error page by itself.
    const told = said
      .splice(0)
      .filter((text) => !/^Failed to load resource: .* status of [45]\d\d/.test(text));
    return [...told, ...moving];
  });
  const reports = stage.harness.logged.filter((line) => line.includes('content security policy'));
  assert.deepEqual(reports, []);
  await page.context().close();
});

describe('by keyboard', { concurrency: 2 }, () => {
  // In English and wide, Tab is followed below, in forced colours.
  for (const [language, width] of [
    ['en', 320],
    ['ar', 1280],
  ] as const)
    testInThirds(
      `Tab reaches everything once, in the order it is seen, and shows where it is: ${language}, ${width} px`,
      async (scenes) => {
        const page = await newPage(stage, { viewport: size(width) });
        await everyScene(async (scene) => {
          await show(stage, page, scene, language);
          return focusFaults(page);
        }, scenes);
        await page.context().close();
      },
    );

  test('a card is sent after at most 14 stops of Tab.', async () => {
    const page = await newPage(stage);
    await show(stage, page, stage.scene('pending, test card'));
    const stops: string[] = [];
    while (!stops.at(-1)?.startsWith('button')) {
      assert.ok(stops.length < 14, stops.join(', '));
      stops.push((await tab(page)).what);
    }
    await page.context().close();
  });

  testInThirds(
    'Tab reaches everything, and what has focus shows it, in forced colours too',
    async (scenes) => {
      const page = await newPage(stage, { forcedColors: 'active' });
      await everyScene(async (scene) => {
        assert.equal(await show(stage, page, scene), scene.status);
        assert.ok(await page.locator('h1').isVisible());
        return focusFaults(page);
      }, scenes);
      await page.context().close();
    },
  );
});

/** Presses Tab through a page, and tells what is wrong with where it stops. */
async function focusFaults(page: Page): Promise<string[]> {
  const { count, first, isRtl } = await focusable(page);
  const stops: Stop[] = [];
  for (let index = first; index < count; index++) stops.push(await tab(page));
  return stops.flatMap((stop, place) => stopFaults(stop, first + place, stops[place - 1], isRtl));
}

function stopFaults(stop: Stop, place: number, before: Stop | undefined, isRtl: boolean): string[] {
  const { index, what, box, isInView, outlinePx } = stop;
  const faults: string[] = [];
  if (index !== place) faults.push(`stop ${place} is ${what}, number ${index}`);
  if (outlinePx < 2) faults.push(`${what} has an outline of ${outlinePx} px`);
  if (!isInView) faults.push(`${what} is not in view`);
  if (!before) return faults;
  const isBeside = isRtl ? box.right <= before.box.left : box.left >= before.box.right;
  const isBelow = box.top >= before.box.bottom - 1;
  if (!isBelow && !isBeside) faults.push(`${what} is seen before ${before.what}`);
  return faults;
}

test('every fault is told in the title, in the summary with a link to its field, and at the field in the same words.', async () => {
  const page = await newPage(stage);
  await everyScene(
    async (scene) => {
      await show(stage, page, scene);
      assert.match(await page.title(), /^Error: /);
      const links = await page.locator('.errors a').all();
      assert.ok(links.length > 0);
      assert.equal(await page.locator('[aria-invalid=true]').count(), links.length);
      for (const link of links) {
        const id = (await link.getAttribute('href'))!.slice(1);
        const field = page.locator(`[id="${id}"][aria-invalid=true]`);
        const described = (await field.getAttribute('aria-describedby'))!.split(' ');
        assert.ok(described.includes(`${id}-error`));
        assert.equal(await page.locator(`[id="${id}-error"]`).textContent(), await link.textContent());
        await jump(page, () => link.click());
        assert.equal(await page.locator(':focus').getAttribute('id'), id);
      }
      return [];
    },
    named(/^errors/),
  );
  await page.context().close();
});

test('every state says once where the money is, what to do next, and by what to ask.', async () => {
  const page = await newPage(stage);
  await everyScene(
    async (scene) => {
      await show(stage, page, scene);
      assert.equal(await page.locator('.money').count(), 1, scene.name);
      const primary = await page
        .locator('main :is(.primary, button):not(.trial *, .cancel *)')
        .allTextContents();
      const onward = await page.locator('main .actions :is(a, button):not(.trial *, .cancel *)').count();
      assert.equal(primary.length, onward > 0 ? 1 : 0, `${scene.name}: ${primary}`);
      const numbers = page.locator('.facts dd');
      assert.equal(await numbers.filter({ hasText: /^pay_/ }).count(), 1, scene.name);
      // Of recorded money, the customer is told no moment: they sent no form.
      if (!/recorded/.test(scene.name)) assert.ok((await page.locator('dd time').count()) > 0, scene.name);
      assert.ok(await page.locator('footer .help').isVisible());
      const [contact] = await page.locator('.help a').allTextContents();
      if (contact) assert.equal(await page.getByText(contact).count(), 1, `${scene.name}: ${contact}`);
      const isReferred = /review|approved|rejected/.test(scene.name);
      assert.equal(await page.locator('.stub').getByText('ORDER-1001').count(), isReferred ? 1 : 0);
      return [];
    },
    named(/^(requires review|approved|rejected|cancelled|expired)/),
  );
  await page.context().close();
});

describe('a customer without scripts', () => {
  const read = async (id: string, offer: OfferName) =>
    (await stage.harness.request(`/v1/payments/${id}`, { key: KEYS[offer] })).json.data;
  const heading = (page: Page) => page.locator('h1').textContent();

  for (const offer of Object.keys(TYPED) as (keyof typeof TYPED)[])
    test(`pays by ${offer}, and the merchant has it to review.`, async () => {
      const { id, checkout_url } = await createAt(stage.harness, offer, RETURN);
      const page = await newPage(stage, { viewport: size(390) });
      await page.goto(checkout_url);
      for (const summary of await page.locator('form .more summary').all()) await summary.click();
      for (const [name, value] of Object.entries(TYPED[offer])) await page.locator(`#${name}`).fill(value);
      await loaded(page, () => page.locator('form button.primary').click());
      await page.waitForURL((url) => !url.searchParams.has('method'));
      assert.equal(await heading(page), HEADINGS[offer]);
      // How to pay stays above the way back.
      const first = page.locator('.leaf :is(.details, .instructions, .primary)').first();
      const { y, height } = (await first.boundingBox())!;
      const end = y + (offer === 'transfer' ? 0 : height);
      assert.ok(end < FIRST_SCREEN_PX, `what comes first ends at ${end} px`);
      assert.ok(await page.getByRole('link', { name: 'Return to Corner Shop' }).isVisible());
      const { status, payment_details } = await read(id, offer);
      assert.equal(status, 'requires_review');
      assert.ok(!JSON.stringify(payment_details).includes('Ada'));
      assert.ok(JSON.stringify(payment_details).includes('•••') || offer === 'card');
      await page.context().close();
    });

  test('reaches the button of a transfer or of cash without what may stay empty, which a refused form shows.', async () => {
    const page = await newPage(stage, { viewport: size(390) });
    for (const [offer, wanted] of [
      ['transfer', ['payer-email']],
      ['cash', ['payer-name', 'payer-email']],
    ] as const) {
      const { checkout_url } = await createAt(stage.harness, offer);
      await page.goto(checkout_url);
      const fields = page.locator('form :is(input, textarea):visible');
      assert.deepEqual(await fields.evaluateAll((all) => all.map(({ id }) => id)), wanted);
      await page.locator('form .more summary').click();
      assert.ok((await fields.count()) > wanted.length);
      await page.goto(checkout_url);
      await loaded(page, () => page.locator('form button.primary').click());
      assert.ok((await fields.count()) > wanted.length, 'nothing typed hides');
    }
    await page.context().close();
  });

  test('chooses a way to pay by keys or by hand: nothing typed is lost, and each opens where it stands.', async () => {
    const { checkout_url } = await createAt(stage.harness, 'all');
    const page = await newPage(stage, { viewport: { width: 390, height: 700 } });
    await page.goto(checkout_url);
    const sizeOf = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).fontSize`);
    assert.equal(await sizeOf('.panel button'), await sizeOf('body'));
    await page.emulateMedia({ media: 'print' });
    assert.ok(await page.locator('.panel > p').first().isVisible(), 'what to do is printed');
    await page.emulateMedia({ media: 'screen' });
    const way = (name: string) => page.getByRole('radio', { name });
    const visible = () => page.locator('.panel form:visible').count();
    /** Whether the form of a way lies right below its row. */
    const isOpenBelow = async (name: string) => {
      const row = page.locator('.way').filter({ has: way(name) });
      const [label, panel] = await Promise.all([
        row.locator('> label').boundingBox(),
        row.locator('> .panel').boundingBox(),
      ]);
      return Math.abs(label!.y + label!.height - panel!.y) < 1;
    };
    await page.fill('#payer-email', 'ada@example.org');
    await way('Test card').focus();
    for (const [key, name] of [
      ['ArrowDown', 'Bank transfer'],
      ['ArrowDown', 'Cash on delivery'],
      ['ArrowUp', 'Bank transfer'],
    ] as const) {
      await page.keyboard.press(key);
      assert.ok(await way(name).isChecked(), name);
      assert.equal(await visible(), 1);
      assert.ok(await isOpenBelow(name), name);
    }
    await page.getByText('DE89 3704 0044 0532 0130 00').waitFor();
    await way('Leave your contact details').focus();
    await page.keyboard.press('Space');
    assert.ok(await way('Leave your contact details').isChecked());
    await way('Test card').click();
    assert.equal(await page.inputValue('#payer-email'), 'ada@example.org');
    assert.equal(page.url(), checkout_url);
    await way('Cash on delivery').click();
    await page.fill('#cash-payer-name', 'Ada Lovelace');
    await page.fill('#cash-payer-email', 'ada@');
    await loaded(page, () => page.getByRole('button', { name: 'Pay this way' }).click());
    assert.ok(await way('Cash on delivery').isChecked(), 'the refused form is shown');
    await jump(page, () => page.locator('.errors a').click());
    assert.equal(await page.evaluate('document.activeElement.id'), 'payer-email');
    assert.equal(await page.inputValue('#payer-name'), 'Ada Lovelace');
    await page.context().close();
  });

  test('cancels through the disclosure and the question.', async () => {
    const { id, checkout_url } = await createAt(stage.harness, 'details');
    const page = await newPage(stage);
    await page.goto(checkout_url);
    await page.getByText('Cancel…').click();
    await loaded(page, () => page.getByRole('link', { name: 'Cancel this payment' }).click());
    assert.equal(await heading(page), 'Cancel this payment?');
    await loaded(page, () => page.getByRole('button', { name: 'Cancel this payment' }).click());
    await page.getByRole('heading', { name: 'This payment was cancelled' }).waitFor();
    assert.equal((await read(id, 'details')).status_reason, 'cancelled_by_customer');
    await page.context().close();
  });

  test('finds the first line of a transfer on the first screen of a phone.', async () => {
    const { checkout_url } = await createAt(stage.harness, 'transfer', { description: LONG_TEXT, ...RETURN });
    const page = await newPage(stage, { viewport: size(390) });
    await page.goto(checkout_url);
    const line = (await page.getByText('Corner Shop GmbH').boundingBox())!;
    assert.ok(line.y + line.height < FIRST_SCREEN_PX, `${line.y + line.height} px`);
    await page.context().close();
  });

  test('reaches every detail of a transfer by keyboard, whole and selected, and keeps it by mail and calendar.', async () => {
    const { checkout_url } = await createAt(stage.harness, 'transfer');
    const page = await newPage(stage);
    await page.goto(checkout_url);
    for (const name of ['Payee (account holder)', 'IBAN', 'Amount', 'Payment reference']) {
      const field = page.getByRole('textbox', { name, exact: true });
      const seen = await page
        .locator('.details > div')
        .filter({ hasText: name })
        .locator('bdi')
        .first()
        .innerText();
      assert.equal(await field.inputValue(), seen);
      assert.equal(await field.getAttribute('name'), null, 'it is not sent');
    }
    await page.locator('main').focus();
    while (!(await page.evaluate("document.activeElement.matches('.taken')")))
      await page.keyboard.press('Tab');
    await page.waitForFunction("getComputedStyle(document.activeElement).opacity === '1'");
    const selected = await page.evaluate(
      'document.activeElement.selectionEnd - document.activeElement.selectionStart',
    );
    assert.equal(selected, 'Corner Shop GmbH'.length);
    const mail = new URL(
      (await page.getByRole('link', { name: 'Send these details to myself' }).getAttribute('href'))!,
    );
    assert.match(mail.searchParams.get('body')!, /IBAN: DE89 3704 0044 0532 0130 00\r\n.*payment_id=pay_/s);
    const calendar = await page
      .getByRole('link', { name: 'Add the day to my calendar' })
      .getAttribute('href');
    const entry = await fetch(new URL(calendar!, stage.harness.origin));
    assert.match(entry.headers.get('content-type')!, /^text\/calendar/);
    const text = await entry.text();
    assert.match(
      text,
      /^BEGIN:VCALENDAR\r\n.*DTSTART;VALUE=DATE:\d{8}\r\nSUMMARY:Payment to Corner Shop: €49\.90\r\n/s,
    );
    for (const line of text.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 75, line);
    await page.context().close();
  });

  test('goes on on their phone by the code of the page.', async () => {
    const { checkout_url } = await createAt(stage.harness, 'transfer');
    const page = await newPage(stage);
    await page.goto(checkout_url);
    await page.getByText('Continue on your phone').click();
    const picture = page.getByRole('img', { name: 'QR code with the address of this page' });
    await picture.scrollIntoViewIfNeeded();
    const reader = await newPage(stage, { javaScriptEnabled: true });
    assert.equal(await scan(reader, await picture.screenshot()), checkout_url);
    await reader.context().close();
    await page.context().close();
  });

  test('asks for a new link when theirs expired.', async () => {
    const { id, checkout_url } = await createAt(stage.harness, 'details', { expires_in: 300 });
    stage.harness.clock.advance(300_001);
    const page = await newPage(stage);
    await page.goto(checkout_url);
    await page.getByRole('button', { name: 'Ask Corner Shop for a new link' }).click();
    await page.getByRole('status').waitFor();
    assert.match((await read(id, 'details')).link_requested_at, /^\d{4}-/);
    await page.context().close();
  });

  test('chooses another language above and dark at the foot of the page, and both stay.', async () => {
    const page = await newPage(stage, { colorScheme: 'light' });

    await page.goto((await createAt(stage.harness, 'all')).checkout_url);
    const light = await canvasOf(page);
    await page.locator('.menu summary').click();
    await loaded(page, () => page.getByRole('link', { name: 'Deutsch' }).click());
    assert.equal(await page.locator('html').getAttribute('lang'), 'de');
    await loaded(page, () => page.getByRole('link', { name: 'Dunkel' }).click());
    const dark = await canvasOf(page);
    assert.notEqual(dark, light);
    await loaded(page, () => page.goto(page.url()));
    assert.deepEqual([await page.locator('html').getAttribute('lang'), await canvasOf(page)], ['de', dark]);
    await page.goto((await createAt(stage.harness, 'card')).checkout_url);
    assert.equal(await canvasOf(page), dark);
    await page.context().close();
  });
});

test('receipts and transfer slips print on one page of A4 and of Letter.', async () => {
  const page = await newPage(stage);
  await everyScene(
    async (scene) => {
      const faults: string[] = [];
      for (const language of ['en', 'de', 'ar']) {
        await show(stage, page, scene, language);
        for (const format of ['A4', 'Letter']) {
          const pdf = (await page.pdf({ format })).toString('latin1');
          const pages = pdf.match(/\/Type\s*\/Page\b/g)?.length;
          if (pages !== 1) faults.push(`${pages} pages of ${format} in ${language}`);
        }
      }
      return faults;
    },
    named(/^(approved|pending, transfer in (EUR|CHF)|requires review, transfer)$/),
  );
  await page.context().close();
});

test('a code can be scanned off the screen, in light, dark and forced colours.', async () => {
  const page = await newPage(stage);
  const reader = await newPage(stage, { javaScriptEnabled: true });
  for (const [currency, begins] of Object.entries({ EUR: 'BCD', CHF: 'SPC', INR: 'upi://', BRL: '000201' }))
    for (const look of [
      { colorScheme: 'light', forcedColors: 'none' },
      { colorScheme: 'dark', forcedColors: 'none' },
      { colorScheme: 'dark', forcedColors: 'active' },
    ] as const) {
      await page.emulateMedia(look);
      await show(stage, page, stage.scene(`pending, transfer in ${currency}`));
      const scanned = await scan(reader, await page.locator('.qr').screenshot());
      assert.ok(scanned?.startsWith(begins), `${currency} in ${look.colorScheme}: ${scanned}`);
      if (look.forcedColors === 'active') continue;
      const link = page.getByRole('link', { name: 'Save the code as a picture' });
      const picture = await fetch(new URL((await link.getAttribute('href'))!, page.url()));
      assert.equal(picture.headers.get('content-type'), 'image/png');
      assert.equal(await scan(reader, Buffer.from(await picture.arrayBuffer())), scanned);
    }
  await page.context().close();
  await reader.context().close();
});

test('paper has dark words on white, also where the screen was dark.', async () => {
  const page = await newPage(stage, { withAxe: true, colorScheme: 'dark' });
  await page.emulateMedia({ media: 'print' });
  const printed = named(/^(pending, transfer|requires review|approved|rejected|cancelled|expired)/);
  const faults = async (scene: ReadyScene) => {
    await show(stage, page, scene);
    assert.equal(await canvasOf(page), 'rgb(255, 255, 255)');
    return faultsOfNewLooks(page, COLOUR_RULES);
  };
  await everyScene(faults, printed);
  await page.context().addCookies([{ name: THEME_COOKIE, value: 'dark', url: stage.harness.origin }]);
  await everyScene(faults, printed);
  await page.context().close();
});

test('words two fifths longer, and text spaced as readers may need it, fit in both widths.', async () => {
  // A style is added. A stamp that is still coming down is larger than it will be.
  const page = await newPage(stage, { javaScriptEnabled: true, bypassCSP: true, ...AT_ONCE });
  const inBoth = async (what: string) => {
    const faults: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize(size(width));
      faults.push(...(await layoutFaults(page)).map((fault) => `${what}, ${width} px: ${fault}`));
    }
    return faults;
  };
  await everyScene(async (scene) => {
    await show(stage, page, scene);
    await unfold(page);
    const style = await page.addStyleTag({ content: TEXT_SPACING });
    const spaced = await inBoth('spaced');
    await style.evaluate((one) => one.remove());
    await lengthen(page);
    return [...spaced, ...(await inBoth('longer'))];
  });
  await page.context().close();
});
