// A history that audit verify found broken is told wherever somebody looks, until a verification finds it intact.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BackgroundVerification } from '../../src/journal/background-verification.ts';
import { ROW_CHECKS } from '../../src/operate/checks/row-checks.ts';
import { acknowledgeAll } from '../support/acknowledge.ts';
import { operatorOf, run } from '../support/command.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { editOutside } from '../support/outside.ts';

describe('a verification by a command that found the history broken', () => {
  let service: Harness;
  let env: Record<string, string>;
  let id: string;
  before(async () => {
    service = await startHarness('sqlite');
    env = operatorOf(service.store);
    ({ id } = await service.create());
    await editOutside(service.store, `update payments set amount_minor = 1 where id = '${id}'`);
    assert.equal((await run(['audit', 'verify'], { env })).code, 1);
  });
  after(() => service.close());

  const inBackground = () => {
    const { database } = service.service;
    const { storage } = service.store;
    return new BackgroundVerification({ database, storage, clock: service.clock }, ROW_CHECKS, () =>
      assert.fail(),
    );
  };
  const doctor = async () => {
    const { stdout } = await run(['doctor', '--json'], { env });
    return JSON.parse(stdout).findings.find(({ about }: { about: string }) => about === 'History').outcome;
  };

  test('is told by doctor, payments show, and what Home and the health page look at', async () => {
    assert.equal(await doctor(), 'failed');
    assert.equal(inBackground().newest?.is, 'broken');
    const shown = await run(['payments', 'show', id], { env });
    assert.match(shown.stdout, /^Changed outside /);
    assert.match(shown.stderr, /history is not/);
  });

  test('is told no more once it is acknowledged and verified again', async () => {
    await acknowledgeAll(service, 'A test changed it.');
    assert.equal((await run(['audit', 'verify'], { env })).code, 0);
    assert.notEqual(await doctor(), 'failed');
    assert.equal(inBackground().newest, undefined);
    const shown = await run(['payments', 'show', id], { env });
    assert.deepEqual([/Changed outside/.test(shown.stdout), shown.stderr], [false, '']);
  });
});
