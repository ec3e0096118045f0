// A merchant's colour at checkout: whatever it is, everything on it can be read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  colourOf,
  coloursNamed,
  coloursOf,
  contrast,
  contrastOnStub,
  nameOfColours,
} from '../../src/web/markup/colours.ts';
import { load } from '../support/customer.ts';
import { LIVE_KEY, sharedHarness } from '../support/harness.ts';

const service = sharedHarness('sqlite', {
  configuration: `  - id: mer_green
    name: Green Grocer
    colour: "#0B6B3A"
    privacy_url: https://green.example/privacy
    terms_url: https://green.example/terms
    keys:
      - key: ${LIVE_KEY}
`,
});
const READABLE = 4.5;
const GROUNDS = { light: ['#ffffff', '#f4f3ef'], dark: ['#1b1d23', '#23252c'] } as const;
const hex = (digits: number) =>
  `#${[8, 4, 0].map((by) => ((digits >> by) & 15).toString(16).repeat(2)).join('')}`;

test('of 4096 colours each gives a stub, links and buttons that can be read, in the light and in the dark.', () => {
  for (let digits = 0; digits < 4096; digits++) {
    const own = hex(digits);
    const colours = coloursOf(own);
    for (const light of ['light', 'dark'] as const) {
      const [brand, onBrand, accent, onAccent] = ['--brand', '--on-brand', '--accent', '--on-accent'].map(
        (token) => colourOf(colours[light][token]!),
      ) as [
        ReturnType<typeof colourOf>,
        ReturnType<typeof colourOf>,
        ReturnType<typeof colourOf>,
        ReturnType<typeof colourOf>,
      ];
      assert.ok(contrastOnStub(brand, onBrand) >= READABLE, `${own}: stub, ${light}`);
      assert.ok(contrast(accent, onAccent) >= READABLE, `${own}: button, ${light}`);
      for (const ground of GROUNDS[light])
        assert.ok(contrast(accent, colourOf(ground)) >= READABLE, `${own} on ${ground}`);
    }
  }
});

test('a colour that can be read stays as it is, and only six digits name a sheet.', () => {
  assert.equal(coloursOf('#2a47b0').light['--brand'], '#2a47b0');
  assert.ok(coloursNamed(nameOfColours('#2A47B0')));
  for (const name of [
    'assets/colours-2a47b.css',
    'assets/colours-2a47b0.css.map',
    'assets/colours-zzzzzz.css',
    'x',
  ])
    assert.equal(coloursNamed(name), undefined, name);
});

test('the pages of a merchant with a colour load its sheet, for ever, and link what it publishes.', async () => {
  const { id } = (await service.create({}, { key: LIVE_KEY })) as { id: string };
  const { text } = await load(new URL(`${service.service.checkoutBaseUrl}/payment.php?payment_id=${id}`));
  const [, address] = /<link rel="stylesheet" href="([^"]*colours[^"]*)">/.exec(text)!;
  const sheet = await fetch(new URL(address!, service.origin));
  assert.equal(sheet.status, 200);
  assert.match(sheet.headers.get('content-type')!, /^text\/css/);
  assert.match(sheet.headers.get('cache-control')!, /immutable/);
  assert.match(await sheet.text(), /--brand:#0b6b3a;/);
  for (const [address, word] of [
    ['https://green.example/privacy', 'Privacy'],
    ['https://green.example/terms', 'Terms'],
  ])
    assert.match(text, new RegExp(`<a href="${address}"[^>]*>${word}</a>`));
  assert.equal((await fetch(`${service.origin}/assets/colours-none.css`)).status, 404);
});
