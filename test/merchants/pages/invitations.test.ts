// Invitations in the console: made and revoked by administrators alone, shown once, and good for one merchant.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConsolePage, MANY_SIGN_INS, signIn } from '../../support/console.ts';
import { sharedHarness } from '../../support/harness.ts';
import { strictly } from '../../support/markup.ts';

const MAKE = 'Create an invitation';
/** How many invitations a page lists. */
const rowsOf = ({ text }: ConsolePage) => text.split('<tbody>')[1]?.match(/<tr\b/g)?.length ?? 0;
const harness = sharedHarness('sqlite', { isVerified: true, configuration: MANY_SIGN_INS });

test('An administrator makes an invitation whose link registers one merchant, and revokes another.', async () => {
  const ana = await signIn(harness);
  const form = await ana.get('/invitations');
  assert.equal(rowsOf(form), 0);
  const pages = await Promise.all([1, 2].map(() => ana.send(form, { note: 'Corner <Shop>' }, MAKE)));
  const [link] = /http\S+\/register\?invite=cfi_\w{49}/.exec(pages[0]!.text)!;
  assert.ok(
    pages.every(({ text }) => text.includes(link)),
    'a second click shows the same',
  );
  assert.equal(rowsOf(await ana.get('/invitations')), 1);
  assert.deepEqual(strictly(pages[0]!.text).faults, []);
  const another = await ana.send(form, { note: 'Corner <Shop>', days: '３' }, MAKE);
  assert.ok(
    another.text.includes('?invite=cfi_') && !another.text.includes(link),
    'what says else is another',
  );
  const code = new URL(link).searchParams.get('invite');
  const body = { business_name: 'Corner Shop', email: 'a@corner.example', invite: code };
  const registered = await harness.request('/register', { method: 'POST', key: null, body });
  assert.equal(registered.status, 201, registered.text);
  const list = await ana.get('/invitations');
  assert.ok(!list.text.includes(code!));
  assert.match(list.body, /Corner <Shop>|Corner &lt;Shop&gt;/);
  assert.match(list.body, new RegExp(`Used [\\s\\S]* by ${registered.json.data.merchant.id}`));
  assert.deepEqual(strictly(list.text).faults, []);

  const other = await ana.send(list, {}, MAKE);
  const after = await ana.send(await ana.get('/invitations'), {}, 'Revoke');
  assert.match(after.body, /Revoked/);
  const [, unused] = /invite=(cfi_\w{49})/.exec(other.text)!;
  const late = await harness.request('/register', {
    method: 'POST',
    key: null,
    body: { ...body, invite: unused },
  });
  assert.equal(late.status, 422);
});

test('What is wrong is told; whoever is no administrator sees none and makes none.', async () => {
  const ana = await signIn(harness);
  const form = await ana.get('/invitations');
  for (const faulty of [
    { days: '91' },
    { days: '٩١' },
    { days: 'x' },
    { note: 'x'.repeat(201) },
    { mode: 'live' },
  ]) {
    const page = await ana.send(form, faulty, MAKE);
    assert.equal(page.status, 422, JSON.stringify(faulty));
    assert.deepEqual(strictly(page.text).faults, []);
  }
  const bob = await signIn(harness, 'reviewer', 'Bob Reviewer');
  assert.equal((await bob.get('/invitations')).status, 403);
  assert.equal((await bob.post('/invitations', { mode: 'test', days: '7' })).status, 403);
  assert.doesNotMatch((await bob.get('/merchants')).body, /Invitations…/);
  assert.equal(rowsOf(await ana.get('/invitations')), rowsOf(form));
});
