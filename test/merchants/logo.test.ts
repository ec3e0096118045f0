// A merchant's logo: shown at checkout, on receipts and in letters out of what is kept of it, so that nothing is fetched from elsewhere.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newSecret } from '../../src/lib/secrets.ts';
import { readConfiguration } from '../../src/operate/config.ts';
import { open } from '../support/customer.ts';
import { startHarness, writeConfiguration } from '../support/harness.ts';
import { startMailServer } from '../support/mail-server.ts';
import { temporaryStore } from '../support/stores.ts';
import { eventually } from '../support/waiting.ts';

const LOGO = fileURLToPath(new URL('../../src/web/markup/touch-icon.png', import.meta.url));
const key = newSecret('cfk_test_');
const SHOP = `  - id: mer_logo
    name: Corner Shop
    logo: ${LOGO}
    keys: [{ key: ${key} }]
`;

test('the page of a payment, its receipt and its letters have the logo of the merchant, and other merchants have none', async () => {
  await using server = await startMailServer();
  const configuration = SHOP + server.configuration;
  await using harness = await startHarness('sqlite', { configuration });
  const { id } = await harness.create({ customer: { email: 'ada@example.com' } }, { key });
  const picture = `/payment.php?payment_id=${id}&view=logo`;
  const isShown = async () =>
    (await open(harness, id)).text.includes(
      `<img class="logo" src="${picture.replaceAll('&', '&amp;')}" alt="">`,
    );
  assert.ok(await isShown());
  await harness.request(`/v1/payments/${id}/send_link`, { method: 'POST', key });
  const [{ letter, raw }] = (await server.next()) as [Awaited<ReturnType<typeof server.next>>[0]];
  assert.match(raw, /^Content-ID: <logo>\r$/im);
  assert.deepEqual(
    letter.attachments.map(({ content, contentType, related }) => [contentType, related, content]),
    [['image/png', true, readFileSync(LOGO)]],
  );
  for (const act of ['submit', 'approve'])
    await harness.request(`/v1/test/payments/${id}/${act}`, { method: 'POST', key });
  assert.ok(await isShown(), 'on the receipt');
  const fetched = await fetch(harness.origin + picture);
  assert.equal(fetched.headers.get('content-type'), 'image/png');
  assert.deepEqual(Buffer.from(await fetched.arrayBuffer()), readFileSync(LOGO));

  const other = await harness.create();
  assert.ok(!(await open(harness, other.id)).text.includes('class="logo"'));
  assert.equal((await open(harness, other.id, { view: 'logo' })).status, 404);
});

test('in development the letter at /dev/mail has the picture in it', async () => {
  await using harness = await startHarness('sqlite', { configuration: SHOP });
  const { id } = await harness.create({ customer: { email: 'ada@example.com' } }, { key });
  await harness.request(`/v1/payments/${id}/send_link`, { method: 'POST', key });
  const list = async () => /view=(ltr_\w+)/.exec((await harness.request('/dev/mail')).text)?.[1];
  await eventually(async () => (await list()) !== undefined);
  const page = await harness.request(`/dev/mail?view=${await list()}&typed=html`);
  assert.ok(page.text.includes(`src="data:image/png;base64,${readFileSync(LOGO, 'base64')}"`));
  assert.match(page.headers.get('content-security-policy')!, /img-src data:/);
});

test('a logo that is no PNG or JPEG file, is too large or missing is refused with its line', async () => {
  const store = await temporaryStore('sqlite');
  try {
    for (const [name, bytes, words] of [
      ['logo.svg', Buffer.from('<svg/>'), /merchants\[2\]\.logo must be a PNG or JPEG picture/],
      ['large.png', Buffer.concat([readFileSync(LOGO), Buffer.alloc(16_384)]), /at most 16 KB/],
      ['missing.png', undefined, /names a file that cannot be read \(ENOENT\)/],
    ] as const) {
      if (bytes) writeFileSync(join(store.storage, name), bytes);
      const file = writeConfiguration(
        store,
        'development',
        `  - id: mer_logo\n    name: Shop\n    logo: ${name}\n`,
      );
      assert.throws(() => readConfiguration(file, {}), { message: words });
    }
  } finally {
    await store.drop();
  }
});
