// The page of one payment over HTTP: all that is known of it, its story, its place in the history, and texts that mean harm.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { sampled } from '../../support/extent.ts';
import { strictly } from '../../support/markup.ts';
import { editOutside } from '../../support/outside.ts';
import { createAt } from '../../support/shop.ts';
import { XSS_PAYLOADS } from '../../support/xss-payloads.ts';
import { people, rejectAs, sharedReview, waiting } from './review-stage.ts';

const harness = sharedReview('checkout_forms_per_address: 1000000\n', false);
let who: Awaited<ReturnType<typeof people>>;
before(async () => {
  who = await people(harness);
});

test('It shows everything that was asked and sent, whole, and where it leads.', async () => {
  const id = await waiting(harness, 'transfer', {
    merchant_reference: 'ORDER-77',
    description: 'Two loaves',
    return_url: 'https://shop.example/thanks',
    customer: { name: 'Ada Byron', email: 'ADA@example.org', phone: '+44 20 7946 0958' },
    metadata: { cart: 'c_1', nested: { lines: [1, 2] } },
  });
  for (const client of [who.ana, who.olga]) {
    const { body, text, link } = await client.get(`/payments/${id}`);
    for (const part of [
      'To review',
      '€49.90',
      'Corner Shop',
      'mer_transfer',
      'Test: no money moves',
      'ORDER-77',
      'Two loaves',
      'Ada Byron',
      'ADA@example.org',
      '+44 20 7946 0958',
      'c_1',
      '{"lines":[1,2]}',
      'Ada Lovelace',
      'GB82 WEST 1234 5698 7654 32',
      'DE89 3704 0044 0532 0130 00',
      id,
    ])
      assert.ok(body.includes(part), part);
    assert.match(text, /<span class="literal" dir="ltr" translate="no">GB82/);
    assert.equal(link('Open it as the customer sees it').searchParams.get('payment_id'), id);
    assert.equal(link('https://shop.example/thanks').href, 'https://shop.example/thanks');
    assert.deepEqual(strictly(text).faults, []);
  }
});

test('Its story has who, when, by which request and what was written, and where each part is sealed.', async () => {
  const id = await waiting(harness);
  await who.bob.send(await who.bob.get(`/payments/${id}`), { note: 'Called <the> bank.' }, 'Add the note');
  await rejectAs(who.ana, id, { note: 'Twice sent.', message: 'You paid already.' });
  await harness.stop(); // signs a checkpoint
  await harness.start();
  const { body, text } = await who.ana.get(`/payments/${id}`);
  const story = [
    'Corner Shop created',
    'The customer sent',
    'Bob added a note',
    'Called <the> bank.',
    'Ana rejected it: duplicate',
    'Twice sent.',
    'You paid already.',
  ];
  const places = story.map((part) => body.indexOf(part));
  assert.ok(!places.includes(-1), `all parts of ${story}`);
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.ok(text.match(/<dt>Request<\/dt><dd><span class="literal"/g)!.length >= 4);
  assert.match(body, /Seal ?\d+ [\w-]{43}[\s\S]*Sealed [^.]* \d+\. A checkpoint signed/);
});

test('A note must say something, and one too long stays in its field.', async () => {
  const id = await waiting(harness);
  const page = await who.bob.get(`/payments/${id}`);
  const empty = await who.bob.send(page, { note: '  ' }, 'Add the note');
  assert.deepEqual([empty.status, empty.faults], [422, ['note']]);
  const long = await who.bob.send(page, { note: `k${'x'.repeat(2000)}` }, 'Add the note');
  assert.equal(long.status, 422);
  assert.ok(long.text.includes(`k${'x'.repeat(2000)}`));
});

test('An address that runs something, however it came into the store, is text and no link.', async () => {
  const { id } = await createAt(harness, 'details');
  await editOutside(
    harness.store,
    `update payments set return_url = 'javascript:alert(1)' where id = '${id}'`,
  );
  const { text } = await who.ana.get(`/payments/${id}`);
  assert.match(text, /<span class="literal"[^>]*>javascript:alert\(1\)</);
  assert.doesNotMatch(text, /href="javascript:/);
});

const plain = (payload: string, maximum: number) =>
  [...payload.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '')].slice(0, maximum).join('').trim() || 'x';
const localPart = (payload: string) =>
  plain(payload.replace(/[\s"(),:;<>@[\]\\.\u2028\u2029\u00a0\ufeff]/gu, ''), 40);

const AT_ONCE = 8;

/** A page's elements in their order, each with the names of its attributes. */
function structureOf(text: string): string {
  const found: string[] = [];
  const visit = (node: DefaultTreeAdapterMap['node']): void => {
    if ('tagName' in node) found.push(`${node.tagName}[${node.attrs.map(({ name }) => name).join()}]`);
    else if (node.nodeName === '#comment') found.push('comment');
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  // A checkpoint is signed once a minute: those that came before it have it, those behind do not. Letters come when they do.
  const settled = text.replace(
    /<li class="letter">.*?<\/li>|<div><dt>Checkpoint<\/dt><dd>.*?<\/dd><\/div>|<p class="sealed">.*?<\/p>/g,
    '',
  );
  visit(parse(settled));
  return found.join('\n');
}

test('Texts that mean harm make the same elements of every page as a word does.', async () => {
  const hostile = sampled(
    XSS_PAYLOADS.filter((_, index) => index % 11 === 0), // all of them are for checkout/injection
    8,
  );
  // Each of its own address, name and reference, so that none has more facts than another.
  const pages = async (payload: string, number: number) => {
    const name = `${plain(payload, 80)} ${number}`;
    const id = await waiting(
      harness,
      'details',
      {
        description: plain(payload, 1000),
        merchant_reference: name,
        customer: { name, email: null, phone: plain(payload, 40) },
        return_url: `https://shop.example/${encodeURIComponent(plain(payload, 100))}`,
        metadata: { [plain(payload, 100)]: plain(payload, 1000) },
      },
      {
        'payer-name': name,
        'payer-email': `${localPart(payload)}${number}@example.org`,
        note: plain(payload, 100),
      },
    );
    const all = [];
    for (const path of [`/payments/${id}`, `/queue?open=${id}&claimed=mine`, `/payments/${id}/approve`])
      all.push((await who.bob.get(path)).text);
    const form = (await who.bob.get(`/payments/${id}/reject`)).forms.find(({ button }) =>
      /^Reject/.test(button),
    )!;
    const typed = {
      ...form.values,
      reason: 'other',
      note: payload,
      message: plain(payload, 500),
      preview: '1',
    };
    const asked = await who.bob.post(form.action, typed);
    if (asked.status === 200) all.push(asked.text);
    return all.map(structureOf);
  };
  const wanted = await pages('word', 0);
  assert.equal(wanted.length, 4);
  for (let first = 0; first < hostile.length; first += AT_ONCE)
    await Promise.all(
      hostile.slice(first, first + AT_ONCE).map(async (payload, index) => {
        const found = await pages(payload, first + index + 1);
        for (const [page, structure] of found.entries())
          assert.equal(structure, wanted[page], `${page}: ${payload}`);
      }),
    );
});
