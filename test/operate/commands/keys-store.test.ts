// counterfoil keys beside a server that runs: what the store holds is changed at once, without a signal.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { before, describe, test } from 'node:test';
import { DAY_MS } from '../../../src/lib/time.ts';
import { issueKey } from '../../../src/merchants/api-keys.ts';
import {
  COMMAND,
  hasTerminal,
  operatorOf,
  requireRefusal,
  run,
  startOnTerminal,
} from '../../support/command.ts';
import { type Harness, KEY, OTHER_KEY, sharedHarness, startHarness } from '../../support/harness.ts';
import { idOfKey } from '../../support/keys.ts';
import { addMerchant } from '../../support/store-merchant.ts';
import { becomes } from '../../support/waiting.ts';

/** A key in the store of a merchant that neither the configuration nor the store knows. */
async function issueFor({ service }: Harness, merchantId: string): Promise<{ id: string }> {
  const wish = { merchantId, mode: 'test', name: null, expires_at: null } as const;
  const act = { actor: 'operator', request_id: null };
  return (await service.journal.commit((transaction) => issueKey(transaction, wish, act))).row;
}

test('a live key for a merchant that registered wants its id, or a yes', async () => {
  await using harness = await startHarness('sqlite', { environment: 'production' });
  const env = operatorOf(harness.store, 'production');
  const { id } = (await addMerchant(harness, 'Corner Shop')).merchant;
  const named = await run(['keys', 'create', '--merchant', 'Corner Shop', '--live'], { env });
  assert.deepEqual([named.code, named.stdout], [1, '']);
  assert.match(named.stderr, new RegExp(`Corner Shop \\(${id}, \\S+@\\S+, registered \\d+ \\w+ 20\\d\\d\\)`));
  for (const args of [[id], ['Corner Shop', '--yes']])
    assert.match(
      (await run(['keys', 'create', '--live', '--merchant', ...args], { env })).stdout,
      /^cfk_live_/,
    );
});

describe('keys of the store', () => {
  const harness = sharedHarness('sqlite', { isVerified: true });
  let env: Record<string, string>;
  let firstKey: string;
  let tillKey: string;
  let merchantId: string;
  const keys = (...args: string[]) => run(['keys', ...args], { env });
  const status = async (key: string) => (await harness.request('/v1/payments?limit=1', { key })).status;
  /** Answers when the running server says so to a key. */
  const isAnswered = (key: string, wanted: number) => becomes(wanted, () => status(key));
  /** A key's first use is written down soon, and another process sees it. */
  const isShownUsed = (key: string) =>
    becomes(1, async () => {
      const sql = 'select key_id from api_key_uses where key_id = ?';
      return (await harness.service.database.query(sql, idOfKey(key))).length;
    });

  before(async () => {
    env = operatorOf(harness.store);
    const registered = await addMerchant(harness, 'Corner Shop');
    firstKey = registered.key;
    merchantId = registered.merchant.id;
  });

  test('create gives a merchant of the store a key that works at once, and leaves the file alone', async () => {
    const file = readFileSync(env.COUNTERFOIL_CONFIG!, 'utf8');
    for (const [named, name] of [
      ['Corner Shop', 'Till'],
      [merchantId, undefined],
    ] as const) {
      const { code, stdout, stderr } = await keys(
        'create',
        '--merchant',
        named,
        ...(name ? ['--name', name] : []),
      );
      assert.equal(code, 0, stderr);
      const key = stdout.trim();
      if (name === 'Till') tillKey = key;
      assert.equal(await status(key), 200);
      assert.match(stderr, new RegExp(`Key ${idOfKey(key)} .*\\(${merchantId}\\), for test payments`));
      assert.match(stderr, /only this once\. The store holds its digest\.\nIt works already/);
      assert.ok(!stderr.includes(key));
    }
    assert.equal(readFileSync(env.COUNTERFOIL_CONFIG!, 'utf8'), file);
    const slip = await keys('create', '--merchant', 'Corner Shpo');
    assert.match(slip.stderr, new RegExp(`mean Corner Shop \\(${merchantId}\\)\\?`));
    const json = await keys('create', '--merchant', merchantId, '--expires', '12h', '--json');
    const { file: kept, expires_at, new: isNew } = JSON.parse(json.stdout);
    assert.deepEqual([kept, isNew, Date.parse(expires_at) > Date.now()], [null, false, true]);
  });

  test('list shows both places, names and last uses', async () => {
    await isShownUsed(tillKey);
    const { stdout } = await keys('list', '--merchant', 'Corner Shop');
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 4);
    assert.match(lines.find((line) => line.includes('Till'))!, /^key_[0-9a-f]{16} {2}cfk_test_…\w{4}/);
    assert.equal(lines.filter((line) => / {2}never used +expires \d+ \w+ 20/.test(line)).length, 1);
    const all = JSON.parse((await keys('list', '--json')).stdout).keys;
    assert.ok(all.length >= 7);
    const first = all.find((one: { id: string }) => one.id === idOfKey(firstKey));
    assert.deepEqual(
      [first.last_four, first.prefix, first.status, first.configured],
      [firstKey.slice(-4), 'cfk_test_', 'active', false],
    );
  });

  test('rotate prints the new key and says whether the old one is in use; both work until the overlap is over', async () => {
    await status(firstKey);
    await harness.service.keyUses.write();
    const { code, stdout, stderr } = await keys('rotate', idOfKey(firstKey), '--overlap', '1h');
    assert.equal(code, 0, stderr);
    const key = stdout.trim();
    await isAnswered(key, 200);
    assert.equal(await status(firstKey), 200);
    assert.match(stderr, /works until \d+ \w+ 20.* UTC; .*last used (under )?\d+ min/);
    const again = await keys('rotate', idOfKey(firstKey));
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.equal(again.stderr, `counterfoil: the key was rotated already: ${idOfKey(key)} replaces it\n`);
    await isShownUsed(key);
    const leaked = await keys('rotate', idOfKey(key), '--overlap', '0', '--json');
    const told = JSON.parse(leaked.stdout);
    assert.equal(told.replaced.id, idOfKey(key));
    assert.ok(told.replaced.last_used_at, 'a key that was used a second ago was used');
    await isAnswered(key, 401);
    await isAnswered(told.key, 200);
    harness.clock.advance(3_601_000);
    assert.equal(await status(firstKey), 401);
  });

  test('revoke ends a key on the running server within a second', async () => {
    const key = (await keys('create', '--merchant', merchantId)).stdout.trim();
    await isAnswered(key, 200);
    await isShownUsed(key);
    const used = await keys('revoke', idOfKey(key), '--yes');
    assert.equal(used.code, 0, used.stderr);
    assert.match(used.stdout, /^Revoked key_\w+ .* last used under \d+ min/);
    await isAnswered(key, 401);
    const again = await keys('revoke', idOfKey(key));
    assert.equal(again.stderr, 'counterfoil: the key is revoked already\n');
  });

  test('a key of the file is replaced and revoked there: the command names the line, and ends what was made with it', async () => {
    for (const act of ['rotate', 'revoke']) {
      const { code, stderr } = await keys(act, idOfKey(OTHER_KEY));
      const [, line, file] = /^counterfoil: key_\w+ stands in line (\d+) of (\S+): put another /.exec(
        stderr,
      )!;
      assert.equal(code, 1);
      assert.ok(
        readFileSync(resolve(tmpdir(), file!), 'utf8').split('\n')[Number(line) - 1]!.includes(OTHER_KEY),
      );
    }
    const made = (await harness.request('/v1/api_keys', { method: 'POST', body: {}, key: OTHER_KEY })).json
      .data;
    await harness.service.keyUses.write();
    const leaked = await keys('revoke', idOfKey(OTHER_KEY), '--with-those-it-made', '--yes');
    assert.deepEqual([leaked.code, leaked.stdout.includes(made.id)], [1, true]);
    assert.match(leaked.stderr, /stands in line \d+/);
    await isAnswered(made.key, 401);
    assert.equal(await status(OTHER_KEY), 200);
  });

  test('revoke does not end a key that was used in the last day, unless that is said twice', async () => {
    const key = (await keys('create', '--merchant', merchantId)).stdout.trim();
    harness.clock.advance(-harness.clock.now() + Date.now()); // commands read the machine's own clock
    await isAnswered(key, 200); // SQLite's readers look again each tenth of a second
    await harness.service.keyUses.write();
    requireRefusal(
      await keys('revoke', idOfKey(key)),
      1,
      / used (under )?\d+ min ago: .* not revoked; add --yes/,
    );
    assert.equal(await status(key), 200);
    if (hasTerminal) {
      const line = `'${process.execPath}' '${COMMAND}' keys revoke ${idOfKey(key)}`;
      for (const [answer, code] of [
        ['n\n', 1],
        ['yes\n', 0],
      ] as const) {
        const terminal = startOnTerminal(line, { env });
        await terminal.until(/Revoke it\? \[y\/N\]/);
        terminal.child.stdin!.write(answer);
        assert.equal((await terminal.ended).code, code, terminal.stdout);
      }
    } else assert.equal((await keys('revoke', idOfKey(key), '--yes')).code, 0);
    await isAnswered(key, 401);
  });

  test('an id that is none is told so, with the one that was probably meant', async () => {
    const id = idOfKey(KEY);
    const slip = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
    for (const act of ['rotate', 'revoke']) {
      assert.equal(
        (await keys(act, slip)).stderr,
        `counterfoil: there is no key ${slip}; did you mean ${id}?\n`,
      );
      assert.match((await keys(act, 'x')).stderr, /no key x; counterfoil keys/);
      const key = await keys(act, KEY);
      assert.match(key.stderr, /a key itself/);
      assert.ok(!key.stderr.includes(KEY));
    }
    assert.equal((await keys('rotate', id, '--overlap', '2h')).code, 2);
  });

  test('keys whose merchant left the file are listed, revoked by their ids, and suspended with it', async () => {
    const gone = await issueFor(harness, 'mer_gone');
    const { stdout } = await keys('list');
    assert.match(stdout, new RegExp(`${gone.id} .* any more {2}mer_gone`));
    const suspended = await run(['merchants', 'suspend', 'mer_gone', '--reason', 'It left'], { env });
    assert.equal(suspended.code, 0, suspended.stderr);
    const revoked = await keys('revoke', gone.id);
    assert.equal(revoked.code, 0, revoked.stderr);
    assert.match(revoked.stdout, /mer_gone; .*never used/);
  });

  test('a key that leaked is ended with those that were made with it, and else they are named', async () => {
    const leaked = (await keys('create', '--merchant', merchantId)).stdout.trim();
    await isAnswered(leaked, 200);
    const made = await harness.request('/v1/api_keys', { method: 'POST', body: {}, key: leaked });
    assert.equal(made.status, 201, made.text);
    const { id, key } = made.json.data;
    const alone = await keys('revoke', idOfKey(leaked), '--yes');
    assert.match(alone.stdout, new RegExp(`With it 1 key .*: ${id}\\.`));
    assert.equal(await status(key), 200);
    const both = await keys('revoke', idOfKey(leaked), '--with-those-it-made', '--yes');
    assert.equal(both.code, 0, both.stderr);
    assert.match(both.stdout, new RegExp(`^Revoked ${id} of Corner Shop`));
    await isAnswered(key, 401);
  });

  test('of what the server and a command do at the same moment, nothing is lost', async () => {
    const made = await Promise.all([
      keys('create', '--merchant', merchantId),
      ...Array.from({ length: 20 }, () => harness.request('/v1/api_keys', { method: 'POST', body: {} })),
      keys('create', '--merchant', merchantId),
    ]);
    for (const one of made) assert.ok('code' in one ? one.code === 0 : one.status === 201);
    harness.clock.advance(DAY_MS);
    await harness.verify();
  });
});
