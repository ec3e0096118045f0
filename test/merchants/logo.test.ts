// A merchant's logo: shown at checkout, on receipts and in letters out of what is kept of it, so that nothing is fetched from elsewhere.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
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

const PNG = readFileSync(LOGO);
/** A PNG picture of `width` times `height` pixels that holds no pixel. */
function pngOf(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const counted = Buffer.concat([Buffer.from(type), data]);
    const numbers = Buffer.alloc(8);
    numbers.writeUInt32BE(data.length, 0);
    numbers.writeUInt32BE(crc32(counted), 4);
    return Buffer.concat([numbers.subarray(0, 4), counted, numbers.subarray(4)]);
  };
  const header = Buffer.from('00000000000000000800000000', 'hex');
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const chunks = [chunk('IHDR', header), chunk('IDAT', Buffer.alloc(0)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([PNG.subarray(0, 8), ...chunks]);
}
/** The segments of a JPEG picture with its size, and no pixel. */
function jpegOf(width: number, height: number): Buffer {
  const frame = Buffer.from(
    'ffd8ffe000104a46494600010100000100010000ffc00011080000000003012200021101031101ffd9',
    'hex',
  );
  frame.writeUInt16BE(height, 25);
  frame.writeUInt16BE(width, 27);
  return frame;
}

test('a logo is judged by its whole file and its size in pixels, and not by how it begins; its line says what is wrong', async () => {
  const store = await temporaryStore('sqlite');
  const shop = (logo: string) => `  - id: mer_logo\n    name: Shop\n    logo: ${logo}\n`;
  const read = (logo: string) => readConfiguration(writeConfiguration(store, 'development', shop(logo)), {});
  const [png, jpeg] = [PNG.subarray(0, 8), Buffer.from('ffd8ff', 'hex')];
  const SCRIPT = Buffer.from('<script>alert(1)</script>');
  const NO_PICTURE = /merchants\[2\]\.logo must be a PNG or JPEG picture/;
  try {
    for (const [what, bytes, words] of [
      ['a missing file', undefined, /names a file that cannot be read \(ENOENT\)/],
      ['an SVG', Buffer.from('<svg/>'), NO_PICTURE],
      ['a large PNG', Buffer.concat([PNG, Buffer.alloc(16_384)]), /at most 16 KB/],
      ['the beginning of a PNG', png, NO_PICTURE],
      ['that with a script', Buffer.concat([png, SCRIPT]), NO_PICTURE],
      ['a PNG with a script behind it', Buffer.concat([PNG, SCRIPT]), NO_PICTURE],
      ['a PNG that is cut off', PNG.subarray(0, -20), NO_PICTURE],
      ['a PNG with another byte', Buffer.from(PNG).fill(0x61, 60, 61), NO_PICTURE],
      ['a PNG without pixels', pngOf(0, 10), NO_PICTURE],
      ['the beginning of a JPEG', jpeg, NO_PICTURE],
      ['that with a script', Buffer.concat([jpeg, SCRIPT]), NO_PICTURE],
      ['a JPEG with a script behind it', Buffer.concat([jpegOf(10, 10), SCRIPT]), NO_PICTURE],
      ['a wide PNG', pngOf(10_000, 10), /at most 2000 pixels a side, and has 10000 × 10/],
      ['a high JPEG', jpegOf(10, 2001), /has 10 × 2001/],
    ] as const) {
      if (bytes) writeFileSync(join(store.storage, 'logo.png'), bytes);
      assert.throws(() => read('logo.png'), { message: words }, what);
    }
    for (const bytes of [PNG, pngOf(2000, 1), jpegOf(2000, 2000)]) {
      writeFileSync(join(store.storage, 'logo.png'), bytes);
      read('logo.png');
    }
  } finally {
    await store.drop();
  }
});
