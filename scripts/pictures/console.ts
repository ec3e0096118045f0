// The pictures of the console: which page each shows, at which width, and what is done on it first.
import type { Browser, Page } from 'playwright-core';
import type { ReviewDay } from './review-day.ts';

const WIDE = 1280;
/** As much of a wide page as a window shows: its panes scroll by themselves. */
const WINDOW = 800;
const NARROW = 320;
/** Where the console of the pictures says that it is. */
const SITE = 'https://pay.example';

export interface ConsolePicture {
  name: string;
  width: number;
  /** The most of the page that is shown, in pixels; all of it where nothing stands here. */
  height?: number;
  /** Below the console's address. */
  path(day: ReviewDay): string;
  /** Nobody is signed in. */
  isOutside?: boolean;
  act?(page: Page, day: ReviewDay): Promise<void>;
}

export const CONSOLE_PICTURES: readonly ConsolePicture[] = [
  { name: 'set-up', width: WIDE, isOutside: true, path: ({ setUpLink }) => `/set-up?link=${setUpLink}` },
  { name: 'home', width: WIDE, path: () => '' },
  {
    name: 'queue',
    width: WIDE,
    path: () => '/queue',
  },
  { name: 'facts', width: WIDE, height: 1000, path: ({ ids }) => `/queue?open=${ids.mismatch}` },
  {
    name: 'reject',
    width: WIDE,
    path: ({ ids }) => `/payments/${ids.mismatch}/reject`,
    async act(page) {
      await page.getByLabel('Details do not match').check();
      await page
        .locator('[name=note]')
        .fill('The account is in the name of P. Smit, who is not known to the shop.');
      await page
        .locator('[name=message]')
        .fill('The transfer came from an account in another name.\nPlease write to help@hillbooks.example.');
      await press(page, /^Preview/);
    },
  },
  { name: 'lost', width: WIDE, path: ({ ids }) => `/payments/${ids.lost}/approve` },
  { name: 'four-eyes', width: WIDE, path: ({ ids }) => `/payments/${ids.half}/approve` },
  {
    name: 'record',
    width: WIDE,
    path: ({ ids }) => `/payments/${ids.late}/record`,
    async act(page, { harness }) {
      const today = new Date(harness.clock.now()).toISOString().slice(0, 10);
      await page.locator('[name=amount]').fill('42.00');
      await page.locator('[name=received_on]').fill(today);
    },
  },
  { name: 'payment', width: WIDE, path: ({ ids }) => `/payments/${ids.settled}` },
  { name: 'search', width: WIDE, height: 760, path: () => '/payments?q=lena%40example.org' },
  {
    name: 'audit',
    width: WIDE,
    height: 900,
    path: () => '/audit',
    async act(page, { harness }) {
      await press(page, 'Verify now');
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await page.goto(`${SITE}${pathOf(harness.origin)}/console/audit`);
    },
  },
  { name: 'merchant', width: WIDE, path: () => '/merchants/mer_cafe_lune' },
  { name: 'account', width: WIDE, path: () => '/account' },
  { name: 'phone-queue', width: NARROW, height: 1000, path: () => '/queue' },
  { name: 'phone-payment', width: NARROW, path: ({ ids }) => `/payments/${ids.fresh}/approve` },
];

const pathOf = (origin: string) => new URL(origin).pathname.replace(/\/$/, '');

async function press(page: Page, name: string | RegExp): Promise<void> {
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name }).click();
  await answered;
  await page.waitForLoadState();
}

/** Shows a page of the console as from behind the proxy that speaks https, and takes its picture. */
export async function takeOfConsole(
  browser: Browser,
  day: ReviewDay,
  picture: ConsolePicture,
): Promise<Buffer> {
  const { width, height, path, isOutside, act } = picture;
  const { harness } = day;
  const context = await browser.newContext({
    colorScheme: 'light',
    deviceScaleFactor: 1,
    reducedMotion: 'reduce',
    viewport: { width, height: height ?? (width === WIDE ? WINDOW : 200) },
  });
  const cookies = isOutside ? new Map<string, string>() : day.cookies;
  const upstream = new URL(harness.origin).origin;
  await context.route(`${SITE}/**`, async (route) => {
    const request = route.request();
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(await request.allHeaders()), ...(cookie && { cookie }) };
    const response = await route.fetch({
      url: request.url().replace(SITE, upstream),
      headers,
      maxRedirects: 0,
    });
    await route.fulfill({ response });
  });
  const page = await context.newPage();
  const address = `${SITE}${pathOf(harness.origin)}/console${path(day)}`;
  const response = await page.goto(address);
  if (!response || response.status() >= 500) throw new Error(`${address} answered ${response?.status()}`);
  await act?.(page, day);
  // As high as what is shown: the way through the console goes along where a page is scrolled.
  const whole = (await page.evaluate('document.documentElement.scrollHeight')) as number;
  await page.setViewportSize({ width, height: Math.min(whole, height ?? whole) });
  await page.evaluate('scrollTo(0, 0)');
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  await context.close();
  return png;
}
