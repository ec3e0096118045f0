// The picture of registration: the page that shows a key, as somebody sees it who has just started the service.
import type { Browser } from 'playwright-core';
import { startHarness } from '../../test/support/harness.ts';

/** Where the service of the picture says that it is. */
const SITE = 'http://127.0.0.1:8080';

/** Registers in `browser` and takes the page that comes of it, `width` pixels wide. */
export async function takeOfRegistration(browser: Browser, width: number): Promise<Buffer> {
  const harness = await startHarness('sqlite', { configuration: `base_url: ${SITE}\n` });
  try {
    const page = await browser.newPage({
      javaScriptEnabled: false,
      deviceScaleFactor: 1,
      colorScheme: 'light',
      locale: 'en',
      viewport: { width, height: 200 },
    });
    await page.goto(`${harness.origin}/register`);
    await page.getByLabel('Business name').fill('Corner Shop');
    await page.getByLabel('Work email address').fill('ana@corner.example');
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'Your API key' }).waitFor();
    const png = await page.screenshot({ fullPage: true, animations: 'disabled', caret: 'hide' });
    await page.close();
    return png;
  } finally {
    await harness.close();
  }
}
