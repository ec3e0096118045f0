// A stolen database or backup opens nothing: each "cannot" of docs/security.md about them, tried against a running server.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { TOTP } from 'otpauth';
import { createAdministrator } from '../../src/administrators/manage.ts';
import { hmac } from '../../src/lib/secrets.ts';
import { MINUTE_MS } from '../../src/lib/time.ts';
import { addToken } from '../support/admin.ts';
import { invited, register } from '../support/applicant.ts';
import { type BackupPlace, backupPlace } from '../support/backups.ts';
import { type Account, codeOf, createAccount, newClient, signInAs } from '../support/console.ts';
import { type Harness, sharedHarness, startHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';
import { FORGED, faultOfForged, isSignedIn, opened, PATIENT, tablesOf, textsIn, WAYS } from './thief.ts';

type Row = Record<string, string>;

const OPERATOR = { actor: 'operator', request_id: null };
const NEW_PASSWORD = 'violet harbour 92 onion tractor';
const FIVE_MINUTES_MS = 5 * MINUTE_MS;

for (const engine of ENGINES)
  describe(`a thief with the database on ${engine}`, () => {
    const harness = sharedHarness(engine, { configuration: PATIENT });
    let victim: Account;
    /** What the owners hold, by where it is good. */
    let secrets: Record<keyof typeof WAYS, string>;
    let texts: string[];
    const query = <R>(sql: string) => harness.service.database.query(sql) as Promise<R[]>;

    before(async () => {
      victim = await createAccount(harness);
      const { client } = await signInAs(harness, victim);
      const { journal } = harness.service;
      const { link } = await journal.commit((transaction) =>
        createAdministrator(
          transaction,
          { email: 'new@example.org', name: 'New', role: 'reviewer' },
          OPERATOR,
        ),
      );
      const { token } = await addToken(harness, victim.administrator.id, 'administrator');
      const registered = await register(harness, {
        business_name: 'Quill',
        email: 'q@example.org',
        invite: await invited(harness),
      });
      const session = client.cookies.get('counterfoil_session')!;
      secrets = {
        'as an API key': registered.json.data.api_key,
        "as an administrator's token": token,
        'as a session cookie': session,
        'as the secret of a session': session,
        'as a set-up link': link,
        'as an invitation': await invited(harness),
      };
      texts = textsIn((await tablesOf(query, engine)).values());
    });

    test('finds no text that opens anything, as it stands or in parts, while what its owner holds does', async () => {
      assert.ok(texts.length > 50, `${texts.length} texts`);
      for (const [how, secret] of Object.entries(secrets)) {
        assert.ok(!texts.includes(secret), `the store holds what is good ${how}`);
        if (how !== 'as an invitation' && how !== 'as the secret of a session')
          assert.equal(await WAYS[how as keyof typeof WAYS](harness, secret), true, how);
      }
      assert.deepEqual(await opened(harness, texts), []);
      assert.equal(
        await WAYS['as an invitation'](harness, secrets['as an invitation']),
        true,
        'invitations are taken',
      );
    });

    test("cannot compute the victim's codes: no text of the store is the secret of their app", async () => {
      const moments = [1, 2].map((step) => harness.clock.now() + step * FIVE_MINUTES_MS);
      const codesOf = (secret: string) =>
        moments.map((timestamp) => new TOTP({ secret }).generate({ timestamp })).join();
      const right = codesOf(victim.totpSecret);
      for (const text of texts) {
        const bytes = (['hex', 'base64', 'base64url'] as const).map((form) => Buffer.from(text, form));
        for (const secret of [text.toUpperCase(), ...bytes.map((one) => base32(one))])
          if (/^[A-Z2-7]{16,}$/.test(secret)) assert.notEqual(codesOf(secret), right, text);
      }
    });

    test('cannot make an old session cookie young, with the rows of the store beside it', async () => {
      const { client } = await signInAs(harness, await createAccount(harness));
      const cookie = client.cookies.get('counterfoil_session')!;
      assert.equal(await isSignedIn(harness, cookie), true);
      const keys = textsIn((await tablesOf(query, engine)).get('sessions')!);
      harness.clock.advance(20 * MINUTE_MS);
      assert.equal(await isSignedIn(harness, cookie), false, 'it was not used for too long');
      const [secret] = cookie.split('.');
      const seen = Math.floor(harness.clock.now() / 1000);
      for (const key of keys)
        assert.equal(
          await isSignedIn(harness, `${secret}.${seen}.${hmac(key, `seen ${secret} ${seen}`)}`),
          false,
          key,
        );
    });

    test('cannot pass for a browser that is known', async () => {
      const account = await createAccount(harness);
      const { client: real } = await signInAs(harness, account);
      const { id } = account.administrator;
      const [row] = (await tablesOf(query, engine)).get('administrators')!.filter((one) => one.id === id);
      const stranger = newClient(harness);
      const attempt = async (client: typeof stranger) =>
        (
          await client.send(await client.get('/sign-in'), {
            email: account.email,
            password: 'never their password',
            code: '000000',
          })
        ).status;
      for (let i = 0; (await attempt(stranger)) !== 429; i++)
        assert.ok(i < 50, 'a stranger is throttled in the end');
      const body = `${id}.${harness.clock.now() + 100 * 24 * 60 * MINUTE_MS}.${'A'.repeat(22)}`;
      for (const key of textsIn(Object.values(row!)))
        for (const signed of [`device ${body} ${row!.password}`, `device ${body}`, body]) {
          stranger.cookies.set('counterfoil_device', `${body}.${hmac(key, signed)}`);
          assert.equal(await attempt(stranger), 429, key);
        }
      const known = newClient(harness);
      known.cookies.set('counterfoil_device', real.cookies.get('counterfoil_device')!);
      assert.notEqual(await attempt(known), 429, 'a browser that is known goes on');
    });

    test('who may write cannot sign in as another by moving their own password and app into the row of that one', async () => {
      const [own, other] = [await createAccount(harness), await createAccount(harness)];
      const { database } = harness.service;
      const rowOf = async ({ administrator: { id } }: Account) =>
        (await database.query<Row>('select password, totp_secret from administrators where id = ?', id))[0]!;
      const write = ({ password, totp_secret }: Row, { administrator: { id } }: Account) =>
        database.transaction((transaction) =>
          transaction.query(
            'update administrators set password = ?, totp_secret = ? where id = ? returning id',
            password!,
            totp_secret!,
            id,
          ),
        );
      const before = await rowOf(other);
      await write(await rowOf(own), other);
      try {
        const client = newClient(harness);
        const page = await client.send(await client.get('/sign-in?next=/account'), {
          email: other.email,
          password: own.password,
          code: codeOf(harness, own),
        });
        assert.equal(client.cookies.has('counterfoil_session'), false, page.body);
        await assert.rejects(harness.verify(), /administrator/);
      } finally {
        await write(before, other);
      }
      await signInAs(harness, own);
    });

    test('cannot sign a checkpoint: one with another key is told at once', async () => {
      await harness.create();
      await harness.stop(); // signs one
      try {
        assert.equal(faultOfForged(harness, generateKeyPairSync('ed25519').privateKey), FORGED);
      } finally {
        await harness.start();
      }
    });
  });

for (const engine of ENGINES)
  describe(`a thief with an old backup of ${engine}`, () => {
    let harness: Harness;
    let place: BackupPlace;
    before(async () => {
      harness = await startHarness(engine, { configuration: PATIENT });
      place = backupPlace(harness.store);
    });
    after(async () => {
      place.remove();
      await harness.close();
    });

    test('is not signed in by what it holds after the password was changed, nor with any key in it, for it has none', async () => {
      const victim = await createAccount(harness);
      const { client } = await signInAs(harness, victim);
      const backup = await place.backUp();
      const changed = await client.send(await client.get('/account/password'), {
        'current-password': victim.password,
        password: NEW_PASSWORD,
        'password-again': NEW_PASSWORD,
      });
      assert.match(changed.body, /Your password is changed/, harness.logged.slice(-5).join(''));
      const rows = administratorsIn(backup);
      const stolen = textsIn(rows);
      const thief = newClient(harness);
      for (const code of [codeOf(harness, victim), ...codesFrom(stolen, harness.clock.now())]) {
        const form = await thief.get('/sign-in');
        const page = await thief.send(form, { email: victim.email, password: victim.password, code });
        assert.notEqual(page.status, 200, page.body);
      }
      assert.deepEqual(await opened(harness, stolen), []);
    });
  });

/** The rows of administrators in a backup, as its thief reads them. */
function administratorsIn(backup: string): Row[] {
  const copy = new DatabaseSync(join(backup, 'counterfoil.sqlite'), { readOnly: true });
  try {
    return copy.prepare('select * from administrators').all() as Row[];
  } finally {
    copy.close();
  }
}

/** The codes of an app whose secret is one of the texts; six digits of the thief's choice if none can be one. */
function codesFrom(texts: readonly string[], timestamp: number): string[] {
  const secrets = texts.filter((text) => /^[A-Z2-7]{16,}$/.test(text));
  return secrets.length === 0
    ? ['123456']
    : secrets.map((secret) => new TOTP({ secret }).generate({ timestamp }));
}

/** RFC 4648, without padding. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)])
    .join('');
}
