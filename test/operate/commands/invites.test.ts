// counterfoil invites: beside a server that runs, as an operator types it and reads it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Applicant, CORNER_SHOP, register } from '../../support/applicant.ts';
import { operatorOf, requireRefusal, run } from '../../support/command.ts';
import { freePorts } from '../../support/free-ports.ts';
import { type Harness, startHarness, writeConfiguration } from '../../support/harness.ts';

const INVITES = 'registration:\n  mode: invite\n';

interface Place {
  harness: Harness;
  invites(...args: string[]): ReturnType<typeof run>;
}

async function startPlace(
  configuration = INVITES,
  environment: 'development' | 'production' = 'development',
): Promise<Place> {
  const harness = await startHarness('postgres', { configuration, environment });
  const env = operatorOf(harness.store, environment, configuration);
  return { harness, invites: (...args) => run(['invites', ...args], { env }) };
}

describe('invites', () => {
  let place: Place;
  before(async () => {
    place = await startPlace();
  });
  after(async () => {
    await place.harness.verify();
    await place.harness.close();
  });

  test('list says when there are none.', async () => {
    const { code, stdout } = await place.invites('list');
    assert.deepEqual([code, stdout.split('.')[0]], [0, 'There are no invitations']);
  });

  test('create prints a link alone on standard output, which registers one merchant.', async () => {
    const { code, stdout, stderr } = await place.invites('create', '--note', 'Corner Shop');
    assert.equal(code, 0);
    assert.match(stdout, /^http:\/\/127\.0\.0\.1:\d+\/register\?invite=cfi_[0-9A-Za-z]{49}\n$/);
    assert.match(stderr, /^\nInvitation inv_\w{36} makes one merchant with a test key, until \d+ \w+ \d{4},/);
    const invite = stdout.trim().split('=')[1]!;
    assert.ok(!stderr.includes(invite));
    const ana = new Applicant(place.harness.origin);
    const form = await ana.open({ invite });
    assert.equal(form.forms[0]!.values.invite, invite);
    assert.equal((await ana.send(form, CORNER_SHOP)).status, 201);
    assert.equal((await register(place.harness, { ...CORNER_SHOP, invite })).status, 422);
  });

  test('list tells what became of each, newest first, and no code; revoke ends one at once.', async () => {
    const { json } = await listed(place);
    const made = JSON.parse((await place.invites('create', '--json', '--expires-in-days', '2')).stdout);
    assert.deepEqual(Object.keys(made), ['link', 'code', 'id', 'mode', 'note', 'expires_at']);
    assert.equal(made.link.split('=')[1], made.code);
    const open = (await listed(place)).json.invites;
    assert.deepEqual([open.length, open[0].id, open[0].state], [json.invites.length + 1, made.id, 'open']);
    assert.deepEqual(await place.invites('revoke', made.id), {
      code: 0,
      stdout: `Revoked ${made.id}.\n`,
      stderr: '',
    });
    assert.equal((await register(place.harness, { ...CORNER_SHOP, invite: made.code })).status, 422);
    const { text, json: after } = await listed(place);
    assert.deepEqual(
      after.invites.map(({ state }: { state: string }) => state),
      ['revoked', 'used'],
    );
    assert.doesNotMatch(text, /cfi_/);
    assert.match(text, /^inv_\w+ {2}test {2} {13}revoked \d+ .* UTC\ninv_\w+ {2}test {2}Corner Shop {2}used/);
  });
});

async function listed({ invites }: Place) {
  const [text, json] = [await invites('list'), await invites('list', '--json')];
  return { text: text.stdout, json: JSON.parse(json.stdout) };
}

test('no command writes to a host whose history ends before a checkpoint of this node.', async (context) => {
  const place = await startPlace();
  context.after(() => place.harness.close());
  await place.harness.create();
  await place.harness.stop(); // which signs a checkpoint
  const stale = await startPlace(); // stands for a primary that was left behind
  context.after(() => stale.harness.close());
  const [silent] = await freePorts(1);
  const { host, pathname } = new URL(stale.harness.store.database_url!);
  const two = `postgres://postgres:postgres@${host},127.0.0.1:${silent}${pathname}`;
  const env = {
    COUNTERFOIL_CONFIG: writeConfiguration(place.harness.store, 'development', INVITES),
    COUNTERFOIL_STORAGE: place.harness.store.storage,
    DATABASE_URL: two,
  };
  for (const args of [['invites', 'create'], ['migrate'], ['erase', '--payment', `pay_${'0'.repeat(36)}`]]) {
    requireRefusal(await run(args, { env }), 1, /has a history that ends before the newest seal this node/);
  }
  assert.match((await stale.invites('list')).stdout, /no invitations/);
});

test('in production a live invitation is made; where registration is closed, what to set is told.', async (context) => {
  const { harness, invites } = await startPlace('', 'production');
  context.after(() => harness.close());
  const { code, stdout, stderr } = await invites('create', '--live');
  assert.equal(code, 0);
  assert.match(stdout, /^https:\/\/pay\.example\/api\/register\?invite=cfi_/);
  assert.match(stderr, /a live key/);
  assert.match(stderr, /\nRegistration is closed: .* registration\.mode/);
});
