// The markup of every page: no fault of HTML, one heading above the others, and no name that leads nowhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetched, startStage } from '../support/browser.ts';
import { markupFaults } from '../support/markup.ts';
import { shared } from '../support/shared.ts';

const stage = shared(startStage);

for (const language of ['en', 'ar'])
  test(`the markup is strict, and every name in it leads somewhere: ${language}.`, async () => {
    const faults: string[] = [];
    for (const scene of stage.scenes)
      for (const fault of markupFaults(await fetched(stage, scene, language)))
        faults.push(`${scene.name}: ${fault}`);
    assert.deepEqual(faults, []);
  });

test('the code of UPI is a link into an app, that of PIX is there to be copied, and others are scanned alone.', async () => {
  for (const [currency, hasLink, hasCopy] of [
    ['EUR', false, false],
    ['INR', true, false],
    ['BRL', false, true],
  ] as const) {
    const scene = stage.scenes.find(({ name }) => name === `pending, transfer in ${currency}`)!;
    const page = await fetched(stage, scene, 'en');
    assert.deepEqual([page.includes('href="upi://pay?'), page.includes('copy code')], [hasLink, hasCopy]);
  }
});
