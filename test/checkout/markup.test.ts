// The markup of every page: no fault of HTML, one heading above the others, and no name that leads nowhere.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fetched, type Stage, startStage } from '../support/browser.ts';
import { strictly } from '../support/markup.ts';

let stage: Stage;
before(async () => {
  stage = await startStage();
});
after(() => stage.close());

for (const language of ['en', 'ar'])
  test(`the markup is strict, and every name in it leads somewhere: ${language}.`, async () => {
    const faults: string[] = [];
    for (const scene of stage.scenes)
      for (const fault of markupFaults(await fetched(stage, scene, language)))
        faults.push(`${scene.name}: ${fault}`);
    assert.deepEqual(faults, []);
  });

function markupFaults(text: string): string[] {
  const { elements, faults } = strictly(text);
  const values = (name: string) =>
    elements.flatMap(({ attrs }) => attrs.filter((one) => one.name === name).map(({ value }) => value));
  const ids = values('id');
  if (new Set(ids).size !== ids.length) faults.push(`ids twice: ${ids}`);
  const levels = elements
    .filter(({ tagName }) => /^h[1-6]$/.test(tagName))
    .map(({ tagName }) => Number(tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) faults.push(`h1: ${levels}`);
  levels.forEach((level, place) => {
    // The summary of faults stands above the page's own heading.
    const before = levels[place - 1] ?? (ids.includes('errors') ? 1 : 0);
    if (level > before + 1) faults.push(`h${level} behind h${before}`);
  });
  const named = ['for', 'aria-describedby', 'aria-labelledby'].flatMap(values);
  const linked = values('href')
    .filter((address) => address.startsWith('#'))
    .map((address) => address.slice(1));
  for (const id of [...named.flatMap((list) => list.split(' ')), ...linked])
    if (!ids.includes(id)) faults.push(`nothing is called ${id}`);
  for (const { tagName, attrs } of elements) {
    const own = Object.fromEntries(attrs.map(({ name, value }) => [name, value]));
    if (/^(input|textarea)$/.test(tagName) && own.type !== 'hidden' && !values('for').includes(own.id ?? ''))
      faults.push(`no label for ${own.name}`);
  }
  return faults;
}
