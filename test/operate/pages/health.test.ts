// The health page of the console: everybody who is signed in sees it, and it says what doctor says, while the service runs.
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { MINUTE_MS } from '../../../src/lib/time.ts';
import { createAccount, MANY_SIGN_INS, pageThatSays, signIn } from '../../support/console.ts';
import { sharedHarness } from '../../support/harness.ts';
import { strictly } from '../../support/markup.ts';

/** What the page says of one check: its state, and its sentences. */
function finding(text: string, id: string): { state: string; says: string } {
  const row = new RegExp(`<tr id="check-${id}">(.*?)</tr>`, 's').exec(text)?.[1];
  assert.ok(row, `${id} is not on the page`);
  const [, state] = /class="stamp \w+">.*?<span>(\w+)<\/span>/s.exec(row)!;
  const [, says] = /data-label="Finding">(.*)/s.exec(row)!;
  return {
    state: state!,
    says: says!
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  };
}

describe('the health page', () => {
  const harness = sharedHarness('postgres', { configuration: MANY_SIGN_INS });
  let olga: Awaited<ReturnType<typeof signIn>>;
  before(async () => {
    olga = await signIn(harness, 'auditor', 'Olga Auditor');
    await harness.create();
  });

  test('It says what is well, what is to be fixed, and what production would refuse.', async () => {
    const page = await olga.get('/health');
    assert.equal(page.status, 200);
    assert.deepEqual(strictly(page.text).faults, []);
    assert.match(page.text, /aria-current="page"><svg.*?<\/svg>Health</);
    assert.match(page.body, /\d+ warnings, and nothing failed\./);
    for (const id of [
      'reach_api',
      'reach_checkout',
      'reach_console',
      'storage_served',
      'schema',
      'durability',
    ])
      assert.equal(finding(page.text, id).state, 'OK', id);
    const key = finding(page.text, 'development_key');
    assert.equal(key.state, 'Warning');
    assert.match(key.says, /merchants\[0\]\.keys\[0\]\.key .*development key, .*counterfoil\.yaml:\d+/);
    assert.ok(page.text.indexOf('id="production-heading"') < page.text.indexOf('id="check-development_key"'));
    assert.ok(page.text.indexOf('id="check-development_key"') < page.text.indexOf('id="well-heading"'));
  });

  test('It shows no key, no password and no connection string.', async () => {
    const { text } = await olga.get('/health');
    assert.doesNotMatch(text, /cfk_|postgres:\/\/|argon2/);
  });

  test('A newest verification that found the history broken is a failure there too.', async () => {
    assert.equal(finding((await olga.get('/health')).text, 'verification').state, 'Skipped');
    const { id } = await harness.create();
    await harness.service.database.script(`update payments set amount_minor = 1 where id = '${id}'`);
    await olga.send(await olga.get('/audit'), {}, 'Verify now');
    await pageThatSays(olga, '/audit', /Broken/);
    const page = await olga.get('/health');
    const found = finding(page.text, 'verification');
    assert.equal(found.state, 'Failed');
    assert.match(found.says, new RegExp(`history is not .*${id}`));
    assert.match(page.body, /1 check failed/);
  });

  test('Who has no second factor is told to administrators by name, to others as a number.', async () => {
    const ana = await signIn(harness, 'administrator', 'Ana Admin');
    await createAccount(harness, 'administrator', 'Cy Careless');
    const { database } = harness.service;
    await database.script("update administrators set totp_secret = null where name = 'Cy Careless'");
    const told = async (who: typeof olga) => finding((await who.get('/health')).text, 'second_factors').says;
    assert.match(await told(ana), /^administrator-\d+@example\.org .*second factor\./);
    assert.match(await told(olga), /^1 person .*second factor\./);
    assert.doesNotMatch((await olga.get('/health')).text, /administrator-\d+@example\.org/);
  });

  test('What becomes unsafe while it runs is seen, and seen to be fixed.', async () => {
    chmodSync(harness.store.storage, 0o755);
    try {
      const exposed = finding((await olga.get('/health')).text, 'storage_private');
      assert.equal(exposed.state, 'Failed');
      assert.match(exposed.says, / by others\. .* Run chmod -R go= /);
    } finally {
      chmodSync(harness.store.storage, 0o700);
    }
    assert.equal(finding((await olga.get('/health')).text, 'storage_private').state, 'OK');
  });

  test('Its own addresses are called once a minute, however often it is looked at.', async () => {
    const calls = () => harness.logged.filter((line) => line.includes('"route":"/health"')).length;
    harness.clock.advance(2 * MINUTE_MS);
    const begun = calls();
    for (let i = 0; i < 3; i++) await olga.get('/health');
    assert.equal(calls() - begun, 1);
    harness.clock.advance(MINUTE_MS + 1);
    await olga.get('/health');
    assert.equal(calls() - begun, 2);
  });

  test('A clock that is not the database’s is seen, where the database has its own.', async () => {
    // By now the tests have moved this clock by minutes.
    const { state, says } = finding((await olga.get('/health')).text, 'database_clock');
    assert.match(`${state}: ${says}`, /^Failed: .* clock .* 1\d\d s apart/);
  });
});
