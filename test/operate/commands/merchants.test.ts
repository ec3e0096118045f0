// counterfoil merchants beside a server that runs: what an operator does is heard within a second, without a signal.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newSecret } from '../../../src/lib/secrets.ts';
import { COMMAND, operatorOf, requireRefusal, run } from '../../support/command.ts';
import { EXPIRED_KEY, KEY, OTHER_KEY, sharedHarness } from '../../support/harness.ts';
import { idOfKey } from '../../support/keys.ts';
import { addMerchant } from '../../support/store-merchant.ts';
import { becomes } from '../../support/waiting.ts';

const LOGO = fileURLToPath(new URL('../../../src/web/markup/touch-icon.png', import.meta.url));
const MOVING_KEY = newSecret('cfk_test_');
const MOVING = `  # Moves into the store
  - id: mer_moving
    name: Moving Shop
    website: https://moving.example
    rate_limits: {writes_per_second: 7}
    keys:
      - key: ${MOVING_KEY}
`;

describe('merchants', () => {
  const harness = sharedHarness('sqlite', { isVerified: true, configuration: MOVING });
  let env: Record<string, string>;
  let id: string;
  let key: string;
  const merchants = (...args: string[]) => run(['merchants', ...args], { env });
  const shown = async (name: string) => JSON.parse((await merchants('show', name, '--json')).stdout).merchant;
  const isAnswered = (key: string, wanted: number) => {
    const status = async () => (await harness.request('/v1/payments?limit=1', { key })).status;
    return becomes(wanted, status);
  };

  before(async () => {
    env = operatorOf(harness.store, 'development', MOVING);
    const registered = await addMerchant(harness, 'Corner Shop');
    id = registered.merchant.id;
    key = registered.key;
  });

  test('list shows all merchants, where they stand, and how many keys work', async () => {
    const { stdout } = await merchants('list');
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 4);
    assert.match(lines[0]!, /^mer_development .* 1 for tests +in the/);
    assert.match(lines[3]!, /^mer_\w{20} +Corner Shop +0 live keys, 1 for tests +in the store +active$/);
    const all = JSON.parse((await merchants('list', '--json')).stdout).merchants;
    assert.deepEqual(all[3], {
      id,
      name: 'Corner Shop',
      status: 'active',
      live_keys: 0,
      test_keys: 1,
      configured: false,
    });
  });

  test('set says what receipts and letters have, --unset takes it away, and what does not fit is refused', async () => {
    const logo = `data:image/png;base64,${readFileSync(LOGO, 'base64')}`;
    const said = {
      legal_name: 'Corner GmbH',
      address: '1 High St\nTown',
      tax_id: 'DE 123',
      logo,
      language: 'de',
      remind_days: 2,
    };
    const done = await merchants(
      ...[
        'set',
        'Corner Shop',
        '--legal-name',
        'Corner GmbH',
        '--address',
        '1 High St\\nTown',
        '--tax-id',
        'DE 123',
        '--logo',
        LOGO,
      ],
      ...['--remind-days', '2', '--language', 'de', '--support', 'help@corner.example'],
      ...['--letters-off', 'receipt, key_made'],
    );
    assert.equal(done.code, 0, done.stderr);
    const letters_off = ['receipt', 'key_made'];
    const profile = () => harness.service.directory.profile(id);
    await becomes<object | undefined>({ ...said, letters_off }, () => profile().particulars);
    assert.equal(profile().support, 'help@corner.example');
    const { stdout } = await merchants('show', 'Corner Shop');
    assert.match(stdout, /^legal name +Corner GmbH$/m);
    assert.match(stdout, /^address +1 High St, Town$/m);
    await merchants('set', 'Corner Shop', '--unset', 'letters_off,support,remind_days');
    const { remind_days: _, ...rest } = said;
    await becomes<object | undefined>(rest, () => profile().particulars);
    assert.equal(profile().support, null);
    for (const [options, code, words] of [
      [['--tax-id', 'x'.repeat(41)], 2, /tax-id/],
      [['--logo', 'nothing.png'], 2, /cannot be read \(ENOENT\)/],
      [['--logo', COMMAND], 2, /must be a PNG or JPEG picture/],
      [['--letters-off', 'gossip'], 2, /letters-off/],
      [['--remind-days', '31'], 2, /remind-days/],
      [['--email', 'nobody'], 2, /e-mail address/],
      [['--unset', 'name'], 2, /It must be some of legal_name/],
      [[], 2, /at least one/],
    ] as const) {
      const refused = await merchants('set', 'Corner Shop', ...options);
      assert.equal(refused.code, code, options.join(' '));
      assert.match(refused.stderr, words);
    }
    requireRefusal(await merchants('set', 'Other Shop', '--tax-id', '1'), 1, /stands in the configuration/);
  });

  test('suspend and resume are heard by the running server, and show tells who and why', async () => {
    await isAnswered(key, 200);
    const done = await merchants('suspend', 'Corner Shop', '--reason', 'Under inquiry');
    assert.equal(done.code, 0, done.stderr);
    await isAnswered(key, 403);
    assert.match(done.stdout, new RegExp(`\\(${id}\\) is suspended[\\s\\S]*merchants resume ${id} `));
    assert.equal((await merchants('suspend', id, '--reason', 'Again')).code, 1);
    const { status, suspensions, email } = await shown(id);
    assert.deepEqual([status, email, suspensions.length], ['suspended', 'owner@corner.example', 1]);
    assert.deepEqual([suspensions[0].by, suspensions[0].reason], ['operator', 'Under inquiry']);
    assert.match((await merchants('show', id)).stdout, /by operator: Under inquiry/);
    assert.equal((await merchants('resume', id, '--reason', 'All is well', '--json')).code, 0);
    await isAnswered(key, 200);
    for (const reason of [[], ['--reason', ' ']])
      assert.equal((await merchants('suspend', id, ...reason)).code, 2, 'a reason is not optional');
  });

  test('limit gives a merchant of the store its own, and those of all again', async () => {
    const { directory } = harness.service;
    const limits = () => directory.find(key, harness.clock.now())!.limits;
    const until = (wanted: object) => becomes(wanted, limits);
    assert.equal((await merchants('limit', id, '--writes', '200', '--reads', '900')).code, 0);
    await until({ writes_per_second: 200, reads_per_second: 900 });
    assert.match((await merchants('show', id)).stdout, /limits +200 writes .* 900 reads/);
    assert.equal(
      (await merchants('limit', id, '--writes', '5', '--json')).stdout,
      `{"id":"${id}","name":"Corner Shop","limits":{"writes_per_second":5}}\n`,
    );
    await until({ writes_per_second: 5 });
    assert.equal((await merchants('limit', id, '--default')).code, 0);
    await until({});
    for (const args of [
      [],
      ['--default', '--reads', '1'],
      ['--reads', '0'],
      ['--reads', '1.5'],
      ['--writes', '1000001'],
    ])
      assert.equal((await merchants('limit', id, ...args)).code, 2, args.join(' '));
    requireRefusal(await merchants('limit', 'mer_moving', '--default'), 1, /rate_limits/);
  });

  test('import takes a merchant over with its keys, which go on without its lines in the file', async () => {
    const done = await merchants('import', 'mer_moving');
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /^Took over 1 merchant with 1 key\./);
    const [, from, to] = /\n {2}(\d+)–(\d+) +mer_moving \(Moving Shop\)\n$/.exec(done.stdout)!;
    const lines = readFileSync(env.COUNTERFOIL_CONFIG!, 'utf8').split('\n');
    const removed = lines.splice(Number(from) - 1, Number(to) - Number(from) + 1);
    assert.match(removed[0]!, /^ +- id: mer_moving$/);
    assert.match(removed.at(-1)!, /key: cfk_test_/);
    await isAnswered(MOVING_KEY, 200);
    assert.match((await merchants('import', 'mer_moving')).stdout, /^The store has/);

    writeFileSync(env.COUNTERFOIL_CONFIG!, lines.join('\n'));
    const { directory } = harness.service;
    directory.replace([]); // as SIGHUP does
    await isAnswered(MOVING_KEY, 200);
    await isAnswered(KEY, 401);
    const { website, limits, configured } = await shown('Moving Shop');
    assert.deepEqual(
      [website, limits, configured],
      ['https://moving.example', { writes_per_second: 7 }, false],
    );
    requireRefusal(await merchants('import', 'mer_moving'), 1, /in the store already/);
    requireRefusal(await merchants('import'), 2, /--all/);
  });

  test('import --all leaves the key that everybody knows behind, for no store gives it back', async () => {
    const done = await merchants('import', '--all', '--json');
    assert.equal(done.code, 0, done.stderr);
    const all = JSON.parse(done.stdout).merchants;
    assert.deepEqual(
      all.map((one: { id: string; keys: number }) => [one.id, one.keys]),
      [
        ['mer_development', 1],
        ['mer_other', 1],
      ],
    );
    const stored = (secret: string) =>
      // No view a moment old.
      harness.service.database.snapshot((now) =>
        now.query('select expires_at from api_keys where id = ?', idOfKey(secret)),
      );
    assert.deepEqual(await stored(KEY), []);
    assert.equal(Number((await stored(EXPIRED_KEY))[0]!.expires_at), Date.parse('2020-01-01T00:00:00Z'));
    await isAnswered(OTHER_KEY, 200);
  });
});
