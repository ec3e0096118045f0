// Signing in on both engines: what a password, a ticket and a second factor are good for, how often, and for how long.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { recordFailure } from '../../src/administrators/failures.ts';
import { disable, enable } from '../../src/administrators/manage.ts';
import { changeAdministrator } from '../../src/administrators/queries.ts';
import { recordAdministrator } from '../../src/administrators/record.ts';
import {
  cookieValue,
  findPrincipal,
  openCookie,
  SESSION_ABSOLUTE_MS,
  SESSION_IDLE_MS,
} from '../../src/administrators/session.ts';
import { checkPassword, completeWithCode, openTicket, type Parts } from '../../src/administrators/sign-in.ts';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { Journal } from '../../src/journal/journal.ts';
import { sha256 } from '../../src/lib/secrets.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { ENGINES } from '../support/stores.ts';
import {
  addPerson,
  codeAt,
  OPERATOR,
  PASSWORD,
  type Person,
  partsOf,
  STEP_MS,
  signIn,
  ticketFor,
  wrongCode,
} from './people.ts';

const MINUTE_MS = 60_000;

for (const engine of ENGINES) {
  describe(`signing in on ${engine}`, () => {
    let harness: Harness;
    let parts: Parts;
    /** Another node on the same store. */
    let other: Parts & { database: Database };
    let people = 0;
    const person = (role?: Person['principal']['role']) =>
      addPerson(parts, { email: `ana${++people}@example.org`, ...(role && { role }) });

    before(async () => {
      harness = await startHarness(engine);
      parts = partsOf(harness);
      const database = await openDatabase(harness.store, (error) => {
        throw error;
      });
      other = { database, journal: new Journal(database, harness.clock), clock: harness.clock };
    });
    after(async () => {
      await harness.verify();
      await other.journal.close();
      await other.database.close();
      await harness.close();
    });

    test('a password and a code of the authenticator app begin a session', async () => {
      const ana = await person();
      const { secret, session } = await signIn(parts, ana);
      const { id, email } = ana.administrator;
      assert.deepEqual(await findPrincipal(parts.database, secret, parts.clock.now()), {
        id,
        email,
        name: 'Ana Example',
        role: 'administrator',
        actor: `administrator:${id}`,
        session: session.id,
        token: null,
      });
      assert.equal(session.factor, 'totp');
      assert.notEqual(secret, ana.secret, 'a sign-in never goes on with a secret from before');
    });

    test('the address is taken in any letter case and with spaces about it', async () => {
      const { administrator } = await person();
      assert.ok(await ticketFor(parts, `  ${administrator.email.toUpperCase()} `));
    });

    test('a wrong password, nobody, somebody disabled and somebody not set up are answered alike', async () => {
      const { administrator } = await person('reviewer');
      const { id, email } = administrator;
      const wrong = { refused: 'wrong' };
      assert.deepEqual(await checkPassword(parts, email, `${PASSWORD}!`, null), wrong);
      assert.deepEqual(await checkPassword(parts, 'nobody@example.org', PASSWORD, null), wrong);
      await parts.journal.commit((transaction) => disable(transaction, id, OPERATOR), id);
      assert.deepEqual(await checkPassword(parts, email, PASSWORD, null), wrong);
      await parts.journal.commit((transaction) => enable(transaction, id, OPERATOR), id);
      assert.ok('ticket' in (await checkPassword(parts, email, PASSWORD, null)));
    });

    test('an address that nobody has takes as long as one that somebody has', async () => {
      const { administrator } = await person();
      const took = async (email: string) => {
        const begun = performance.now();
        await checkPassword(parts, email, 'not the password at all', null);
        return performance.now() - begun;
      };
      const known = Math.min(await took(administrator.email), await took(administrator.email));
      const unknown = Math.min(await took('who1@example.org'), await took('who2@example.org'));
      assert.ok(unknown > known / 2, `${unknown} ms against ${known} ms`);
    });

    test('a code works once, and those before it not at all', async () => {
      const ana = await person();
      await signIn(parts, ana);
      const now = parts.clock.now();
      for (const at of [now, now - STEP_MS]) {
        const ticket = await ticketFor(parts, ana.administrator.email);
        const again = await completeWithCode(parts, ticket, codeAt(ana.totpSecret, at), null);
        assert.equal('refused' in again && again.refused, 'wrong');
      }
      harness.clock.advance(STEP_MS);
      assert.ok(await signIn(parts, ana));
    });

    test('of two requests with one code on two nodes at once, exactly one wins', async () => {
      const ana = await person();
      for (let round = 0; round < 2; round++) {
        harness.clock.advance(2 * STEP_MS);
        const nodes = [parts, other];
        // On SQLite a node sees what the other wrote a moment later.
        await new Promise((resolve) => setTimeout(resolve, 120));
        const tickets = await Promise.all(nodes.map((node) => ticketFor(node, ana.administrator.email)));
        const code = codeAt(ana.totpSecret, parts.clock.now());
        const done = await Promise.all(
          nodes.map((node, i) => completeWithCode(node, tickets[i]!, code, null)),
        );
        const told = done.map((one) => ('refused' in one ? one.refused : 'in')).sort();
        assert.deepEqual(told, ['expired', 'in'], `round ${round}`);
      }
    });

    test('a ticket is used by a right code, and by a wrong one, which gives another', async () => {
      const ana = await person();
      const { email } = ana.administrator;
      const first = await ticketFor(parts, email);
      const wrong = await completeWithCode(parts, first, wrongCode(ana.totpSecret, parts.clock.now()), null);
      assert.ok('ticket' in wrong && wrong.refused === 'wrong');
      const code = codeAt(ana.totpSecret, parts.clock.now());
      assert.deepEqual(await completeWithCode(parts, first, code, null), { refused: 'expired' });
      assert.ok('secret' in (await completeWithCode(parts, wrong.ticket, code, null)));
      const spent = await completeWithCode(parts, wrong.ticket, ana.recoveryCodes[0]!, null);
      assert.deepEqual(spent, { refused: 'expired' });
    });

    test('guesses sent side by side with one ticket are one guess', async () => {
      const ana = await person();
      const ticket = await ticketFor(parts, ana.administrator.email);
      const code = wrongCode(ana.totpSecret, parts.clock.now());
      const nodes = [parts, other];
      const done = await Promise.all(
        Array.from({ length: 20 }, (_, i) => completeWithCode(nodes[i % 2]!, ticket, code, null)),
      );
      assert.equal(done.filter((one) => 'refused' in one && one.refused === 'wrong').length, 1);
    });

    test('a ticket ends after five minutes, when its administrator changes, and where a character of it does', async () => {
      const ana = await person();
      const { id, email } = ana.administrator;
      const ticket = await ticketFor(parts, email);
      const open = async (text: string) =>
        (await openTicket(parts.database, text, parts.clock.now())) !== undefined;
      assert.equal(await open(ticket), true);
      const pieces = ticket.split('.');
      for (const [i, piece] of pieces.entries()) {
        const forged = piece.slice(0, -2) + (piece.at(-2) === '1' ? '2' : '1') + piece.at(-1);
        assert.equal(await open(pieces.with(i, forged).join('.')), false, `part ${i}`);
      }
      for (const nonsense of ['', '.', ticket.slice(1), `${ticket}a`, 'adm_x.1.1.a.b'])
        assert.equal(await open(nonsense), false);
      harness.clock.advance(5 * MINUTE_MS);
      assert.equal(await open(ticket), false);
      const next = await ticketFor(parts, email);
      await parts.journal.commit(async (transaction) => {
        const changed = await changeAdministrator(transaction, id, undefined, { name: 'Ana Other' });
        recordAdministrator(transaction, OPERATOR, 'administrator.renamed', changed!);
      }, id);
      assert.equal(await open(next), false);
    });

    test('a recovery code works once, however it is typed', async () => {
      const ana = await person();
      const [code] = ana.recoveryCodes;
      const { email } = ana.administrator;
      const done = await completeWithCode(
        parts,
        await ticketFor(parts, email),
        ` ${code!.toUpperCase().replaceAll('-', ' ')}`,
        null,
      );
      assert.ok('session' in done && done.session.factor === 'recovery_code');
      const again = await completeWithCode(parts, await ticketFor(parts, email), code!, null);
      assert.equal('refused' in again && again.refused, 'wrong');
      const next = await completeWithCode(parts, await ticketFor(parts, email), ana.recoveryCodes[1]!, null);
      assert.ok('session' in next);
    });

    test('after five failures nobody may try until the first of them is a quarter of an hour old', async () => {
      const ana = await person();
      const { email } = ana.administrator;
      const begun = parts.clock.now();
      const ticket = await ticketFor(parts, email);
      const second = await completeWithCode(parts, ticket, wrongCode(ana.totpSecret, begun), null);
      assert.equal('refused' in second && second.refused, 'wrong', 'second factors count as well');
      for (let i = 0; i < 4; i++) {
        harness.clock.advance(MINUTE_MS);
        assert.deepEqual(await checkPassword(parts, email, 'wrong wrong wrong wrong', null), {
          refused: 'wrong',
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 120));
      for (const node of [parts, other]) {
        const refused = await checkPassword(node, email, PASSWORD, null);
        assert.ok('refused' in refused && refused.refused === 'throttled');
        assert.ok(Math.abs(refused.until - (begun + 15 * MINUTE_MS)) < 5000);
      }
      const held = 'ticket' in second ? second.ticket : '';
      harness.clock.advance(-4 * MINUTE_MS); // the ticket would have ended
      const code = codeAt(ana.totpSecret, parts.clock.now());
      const factor = await completeWithCode(parts, held, code, null);
      harness.clock.advance(4 * MINUTE_MS);
      assert.equal('refused' in factor && factor.refused, 'throttled');
      harness.clock.advance(11 * MINUTE_MS + 5000);
      assert.ok(await signIn(parts, ana));
    });

    test('passwords sent side by side are not all tried before the fifth failure counts', async () => {
      const ana = await person();
      const { email } = ana.administrator;
      const sent = Array.from({ length: 12 }, (_, i) =>
        checkPassword(parts, email, i === 11 ? PASSWORD : `wrong password ${i} wrong`, null),
      );
      const done = await Promise.all(sent);
      const refusals = done.map((one) => ('refused' in one ? one.refused : 'let in'));
      assert.ok(
        refusals.filter((one) => one === 'wrong').length < 11,
        'the wrong ones behind the fifth are told apart',
      );
      const last = done.at(-1)!;
      assert.equal(
        'refused' in last && last.refused,
        'throttled',
        'the right one came behind too many wrong ones',
      );
    });

    test('an unknown address is throttled like a known one', async () => {
      await parts.journal.commit((transaction) => {
        for (let i = 0; i < 5; i++) recordFailure(transaction, 'stranger@example.org', 'password', null);
      });
      const refused = await checkPassword(parts, 'Stranger@example.org', PASSWORD, null);
      assert.equal('refused' in refused && refused.refused, 'throttled');
    });

    test('a cookie is good for a quarter of an hour after its last use, and nobody makes an old one young', async () => {
      const { secret, session } = await person();
      const now = parts.clock.now();
      const open = (value: string, ms: number) => openCookie(parts.database, value, ms);
      const value = cookieValue(secret, session, now);
      assert.deepEqual((await open(value, now + 59_000))?.refreshed, undefined);
      const { refreshed } = (await open(value, now + 61_000))!;
      assert.equal(refreshed, cookieValue(secret, session, now + 61_000));
      assert.equal((await open(value, now + SESSION_IDLE_MS - 1000))?.secret, secret);
      assert.equal(await open(value, now + SESSION_IDLE_MS + 1001), undefined);
      assert.ok(await open(refreshed!, now + SESSION_IDLE_MS + 1001));
      assert.equal(await open(value, now - 62_000), undefined, 'a moment that is yet to come');
      const [, seen, seal] = value.split('.');
      const later = Number(seen) + 60;
      for (const forged of [
        `${secret}.${later}.${seal}`,
        // What a cookie holds is not enough to seal it anew.
        cookieValue(secret, { salt: secret }, later * 1000),
        cookieValue(secret, { salt: sha256(secret) }, later * 1000),
        `T${value.slice(1)}`,
        value.slice(0, -1),
        secret,
        '',
        `${value}.`,
      ])
        assert.equal(await open(forged, now), undefined, forged);
    });

    test('a session ends on every node when its administrator is disabled, and after eight hours', async () => {
      const ana = await person('reviewer');
      const { secret } = await signIn(parts, ana);
      const found = async (node: Parts) => (await findPrincipal(node.database, secret, node.clock.now()))?.id;
      const { id } = ana.administrator;
      assert.equal(await found(parts), id);
      await parts.journal.commit((transaction) => disable(transaction, id, OPERATOR), id);
      await new Promise((resolve) => setTimeout(resolve, 120));
      assert.deepEqual([await found(parts), await found(other)], [undefined, undefined]);
      await parts.journal.commit((transaction) => enable(transaction, id, OPERATOR), id);
      assert.equal(await found(parts), undefined, 'enabling brings no session back');
      assert.equal(await findPrincipal(parts.database, 'A'.repeat(43), parts.clock.now()), undefined);

      const again = await signIn(parts, { ...ana, totpSecret: ana.totpSecret }).catch(async () => {
        harness.clock.advance(STEP_MS);
        return signIn(parts, ana);
      });
      const end = again.session.created_at + SESSION_ABSOLUTE_MS;
      assert.ok(await findPrincipal(parts.database, again.secret, end - 1));
      for (const late of [end, end + 1])
        assert.equal(await findPrincipal(parts.database, again.secret, late), undefined);
    });

    test('the history tells each sign-in and failure, and nothing of whom', async () => {
      const entries = await parts.database.query<{ action: string; subject: string; facts: string }>(
        "select action, subject, facts from audit_entries where action like 'administrator.%' or action like 'sign_in.%' or action like 'session.%'",
      );
      const actions = new Set(entries.map(({ action }) => action));
      for (const action of ['administrator.signed_in', 'sign_in.failed', 'session.started', 'session.ended'])
        assert.ok(actions.has(action), action);
      const text = JSON.stringify(entries);
      assert.doesNotMatch(text, /@|example|\bAna\b/i);
      for (const { action, subject } of entries)
        if (action === 'sign_in.failed') assert.match(subject, /^sign_in:[0-9a-f]{4}$/);
    });
  });
}
