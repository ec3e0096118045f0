// The pages of registration: their headers and markup, and hundreds of texts that would run scripts and stay text.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Applicant, anotherShop, CORNER_SHOP, KEY_PATTERN, keyOn } from '../../support/applicant.ts';
import { type CheckoutPage, open } from '../../support/customer.ts';
import { sampled } from '../../support/extent.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { markupFaults, strictly } from '../../support/markup.ts';
import { XSS_PAYLOADS } from '../../support/xss-payloads.ts';
import { type Scene, scenesOf, startServices } from './scenes.ts';

/** Of a page that is nobody else's, and kept nowhere. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

let services: Record<Scene['by'], Harness>;
let scenes: readonly Scene[];
before(async () => {
  services = await startServices();
  scenes = scenesOf(services);
});
after(() => Promise.all(Object.values(services).map((one) => one.close())));

const shown = ({ by, show }: Scene, lang: string) => show(new Applicant(services[by].origin), lang);

const TAGS = globSync('*.json', { cwd: new URL('../../../src/web/markup/languages', import.meta.url) });

for (const tag of sampled(TAGS, 5).map((file) => basename(file, '.json')))
  test(`every page has strict markup, its status, and the headers of a page without a script: ${tag}.`, async () => {
    for (const scene of scenes) {
      const { status, text, headers } = await shown(scene, tag);
      assert.equal(status, scene.status, scene.name);
      assert.deepEqual(markupFaults(text), [], scene.name);
      assert.match(text, new RegExp(`^<!doctype html>\\n<html lang="${tag}" dir="(ltr|rtl)">`));
      assert.doesNotMatch(text, /<script|style="|\{\w+\}/, scene.name);
      for (const [name, value] of Object.entries(HEADERS)) assert.equal(headers.get(name), value, name);
      const policy = headers.get('content-security-policy')!;
      assert.match(policy, /^default-src 'none';.* script-src 'none'.*; report-uri \/register\/csp-report;/);
    }
  });

test('a key page leads nowhere else: no link on it loses the key.', async () => {
  const page = await shown(scenes.find(({ name }) => name === 'key')!, 'en');
  const links = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, to]) => to!);
  const leading = links.filter((to) => !/^(#|data:text\/plain|\/register\/assets\/)/.test(to));
  assert.deepEqual(leading, []);
});

/** The texts of a page that one click selects. */
const commandsOn = ({ text }: CheckoutPage) =>
  strictly(text)
    .elements.filter(({ tagName }) => tagName === 'pre')
    .map(({ childNodes }) => childNodes.map((node) => ('value' in node ? node.value : '')).join(''));

test('what the key page says to paste creates a payment, lists it, and changes the key, in a real shell.', async () => {
  await using harness = await startHarness('sqlite');
  const ana = new Applicant(harness.origin);
  const business_name = "Ana's `shop` $(x)";
  const page = await ana.send(await ana.open(), { ...CORNER_SHOP, business_name });
  const [key, create, list, rotate] = commandsOn(page) as [string, string, string, string];
  assert.equal(key, keyOn(page));
  const { data } = await inShell(create);
  assert.deepEqual([data.object, data.amount, data.merchant_name], ['payment', '49.90', business_name]);
  const id = new URL(data.checkout_url).searchParams.get('payment_id')!;
  assert.equal((await open(harness, id)).h1, `Pay ${business_name}`);
  const listed = (await inShell(list)).data as { id: string }[];
  assert.deepEqual(listed, [data]);
  assert.match(JSON.stringify(await inShell(rotate)), KEY_PATTERN);
});

/** What a command prints, which is JSON. Never in step with this process, which serves what the command asks for. */
async function inShell(command: string) {
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  return JSON.parse(stdout);
}

test('an address that a shell would read otherwise is quoted.', async () => {
  await using harness = await startHarness('sqlite', { configuration: "base_url: 'http://[::1]:8080'\n" });
  const ana = new Applicant(harness.origin);
  const [, create] = commandsOn(await ana.send(await ana.open(), anotherShop()));
  assert.match(create!, /^curl -s 'http:\/\/\[::1\]:8080\/v1\/payments' \\\n/);
});

describe('injection', () => {
  /** Faults of text that a page holds as it was typed, and that are no markup. */
  const OF_CHARACTERS = /^(control-character|noncharacter|surrogate|unexpected-null)/;
  const signaturesOf = (text: string) => {
    const { elements, faults } = strictly(text);
    assert.deepEqual(
      faults.filter((fault) => !OF_CHARACTERS.test(fault)),
      [],
      text,
    );
    return elements.map(({ tagName, attrs }) => `${tagName}[${attrs.map(({ name }) => name)}]`);
  };
  const cleaned = (payload: string) =>
    payload.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffe\uffff]|\p{M}{5,}/gu, '').trim();

  test('no text becomes an element or an attribute, on the form, beside its faults, or on the key page.', async () => {
    const { origin } = services.open;
    const harmless = new Set<string>();
    for (const scene of scenes.filter(({ name }) => /^(form$|errors|invite|key$)/.test(name)))
      for (const one of signaturesOf((await shown(scene, 'en')).text)) harmless.add(one);
    assert.ok(harmless.size > 20);
    const ana = new Applicant(origin);
    for (const [i, payload] of XSS_PAYLOADS.filter((_, index) => index % 7 === 0).entries()) {
      const check = ({ text, status }: CheckoutPage, wanted: number) => {
        assert.equal(status, wanted, payload);
        for (const one of signaturesOf(text)) assert.ok(harmless.has(one), `${one} by ${payload}`);
      };
      const page = await ana.open({ invite: payload, lang: payload });
      check(page, 200);
      check(await ana.send(page, { business_name: payload, email: payload, website: payload }), 422);
      const name = [...`${i}x${cleaned(payload)}`].slice(0, 120).join('');
      check(await ana.send(page, { ...CORNER_SHOP, business_name: name, invite: '' }), 201);
    }
  });
});
