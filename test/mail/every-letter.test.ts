// Every letter in every language: what it weighs, that both its parts say the same, and how it is seen in a browser in light and dark.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ParsedMail } from 'mailparser';
import type { Page } from 'playwright-core';
import { phrasebook, tongueOf } from '../../src/administrators/pages/tongue.ts';
import { payersUrl, receiptOf } from '../../src/checkout/receipt.ts';
import { qrPicture } from '../../src/lib/qr-code.ts';
import { CUSTOMER_LETTERS, type CustomerLetter } from '../../src/mail/letter.ts';
import { customerLetter } from '../../src/mail/letters/customer.ts';
import { type LetterContent, letterHtml, letterText, unlinked } from '../../src/mail/letters/markup.ts';
import * as staff from '../../src/mail/letters/staff.ts';
import { logoFrom } from '../../src/merchants/particulars.ts';
import { asOf, type Payment } from '../../src/payments/payment.ts';
import { findPayment } from '../../src/payments/queries.ts';
import { LANGUAGES, Languages } from '../../src/web/markup/languages.ts';
import { LONG_TEXT, recorded, submitted } from '../checkout/scenes.ts';
import { faultsEveryWay } from '../support/axe.ts';
import { AT_ONCE } from '../support/browser.ts';
import { AXE, startChromium } from '../support/chromium.ts';
import { isWhole } from '../support/extent.ts';
import { type Harness, sharedHarness } from '../support/harness.ts';
import { assertSameWords } from '../support/mail-server.ts';
import { createAt, KEYS, SHOP } from '../support/shop.ts';

const BYTES_MAXIMUM = 60_000;
const harness = sharedHarness('sqlite', { configuration: SHOP });
const FIELDS = { description: LONG_TEXT, merchant_reference: 'ORDER-1001', customer: { name: 'Ada' } };
const PARTICULARS = {
  logo: logoFrom(qrPicture('https://corner.example')),
  legal_name: 'Corner Shop GmbH',
  address: 'Hauptstraße 1\n10115 Berlin',
  tax_id: 'DE123456789',
};
/** What brings a payment to where a letter tells of it. */
const ACTS: Record<CustomerLetter, readonly string[]> = {
  link: [],
  new_link: [],
  reminder: [],
  details_received: ['submit'],
  money_found: ['record'],
  receipt: ['submit', 'approve'],
  not_accepted: ['submit', 'reject'],
  cancelled: ['cancel'],
};

async function paymentFor(on: Harness, kind: CustomerLetter) {
  const acts = ACTS[kind];
  const asked = { ...FIELDS, return_url: undefined, cancel_url: undefined };
  const { id } = await (acts[0] === 'submit'
    ? submitted(on, 'transfer', asked)
    : createAt(on, 'all', FIELDS));
  const key = KEYS[acts[0] === 'submit' ? 'transfer' : 'all'];
  for (const act of acts.filter((one) => one !== 'submit')) {
    const path = act === 'cancel' ? `/v1/payments/${id}/cancel` : `/v1/test/payments/${id}/${act}`;
    const answer = await on.request(path, { method: 'POST', key });
    assert.equal(answer.status, 200, answer.text);
  }
  return asOf((await findPayment(on.service.database, id))!, on.clock.now());
}

/** What writes the letter of a kind about a payment in a language. */
async function writerOf({ service }: Harness, kind: CustomerLetter, payment: Payment) {
  const receipt = await receiptOf(service.database, payment);
  const { offer, ring, checkoutBaseUrl, directory } = service;
  const profile = { ...directory.profile(payment.merchant_id), particulars: PARTICULARS };
  return (tag: string) => {
    const words = Languages.in('Europe/Berlin').choose(tag);
    return customerLetter(kind, { payment, profile, words, offer, ring, checkoutBaseUrl, receipt });
  };
}

async function toCustomers(on: Harness) {
  const letters = [];
  for (const [kind, status_reason] of [
    ...CUSTOMER_LETTERS.map((one) => [one, undefined] as const),
    ['cancelled', 'cancelled_by_customer'] as const,
  ]) {
    const payment = { ...(await paymentFor(on, kind)), ...(status_reason && { status_reason }) };
    letters.push({ kind, write: await writerOf(on, kind, payment) });
  }
  return letters;
}

/** The letters to merchants and administrators, in each language of the console. */
async function toStaff(on: Harness): Promise<{ kind: string; tag: string; content: LetterContent }[]> {
  const payment = await paymentFor(on, 'details_received');
  return phrasebook.tags.flatMap((tag) => {
    const tongue = tongueOf(phrasebook.choose(tag), 'Europe/Berlin');
    const told = { ...tongue, consoleUrl: 'https://pay.example/console' };
    return ofStaff(payment, told).map((one) => ({ ...one, tag }));
  });
}

function ofStaff(payment: Payment, told: staff.Told): { kind: string; content: LetterContent }[] {
  const sum = { currency: 'EUR', mode: 'live', count: 2, amount_minor: 9980 } as const;
  const queue = { count: 2, oldest: 0, sums: [sum] };
  const key = { id: 'key_1', mode: 'live', name: 'Cash desk', created_at: 0 } as const;
  const endpoint = { id: 'whe_1', url: 'https://shop.example/hooks', mode: 'live' };
  return [
    { kind: 'needs_attention', content: staff.paymentLetter('needs_attention', payment, told) },
    { kind: 'link_requested', content: staff.paymentLetter('link_requested', payment, told) },
    { kind: 'key_made', content: staff.keyLetter('Corner Shop', key, told) },
    { kind: 'webhook_failing', content: staff.endpointLetter('Corner Shop', endpoint as never, 0, told) },
    { kind: 'queue_digest', content: staff.digestLetter(queue as never, told) },
    { kind: 'history_broken', content: staff.alertLetter('history_broken', told) },
    { kind: 'backup_old', content: staff.alertLetter('backup_old', told) },
    { kind: 'trial', content: staff.trialLetter(told) },
  ];
}

const parsed = (content: LetterContent) =>
  ({ html: letterHtml(content), text: letterText(content), subject: content.subject }) as ParsedMail;

describe('each letter', () => {
  test('weighs at most 60 KB, says the same in both parts and nothing in English elsewhere, in fourteen languages', async () => {
    for (const { kind, write } of await toCustomers(harness)) {
      const english = parsed(write('en'));
      for (const { tag, direction } of LANGUAGES) {
        const letter = parsed(write(tag));
        const name = `${kind} in ${tag}`;
        assert.ok(Buffer.byteLength(letter.html as string) <= BYTES_MAXIMUM, name);
        assertSameWords(letter);
        soundMarkup(letter.html as string, direction, name);
        if (tag === 'en') continue;
        differsFrom(english, letter, name);
      }
    }
    const letters = await toStaff(harness);
    for (const { kind, tag, content } of letters) {
      const letter = parsed(content);
      const name = `${kind} in ${tag}`;
      assert.ok(Buffer.byteLength(letter.html as string) <= BYTES_MAXIMUM, name);
      assertSameWords(letter);
      soundMarkup(letter.html as string, content.language.direction, name);
      const english = letters.find((one) => one.kind === kind && one.tag === 'en')!;
      if (tag !== 'en') differsFrom(parsed(english.content), letter, name);
    }
  });
});

/** Fails where a letter says a sentence, or its subject, in English. What the merchant wrote stays as it is. */
function differsFrom(english: ParsedMail, letter: ParsedMail, name: string): void {
  const sentences = english.text!.split('\n').filter((line) => /^[^>].* .*[.!?]$/.test(line));
  const same = sentences.filter((line) => letter.text!.includes(line));
  assert.deepEqual(same, [], name);
  assert.notEqual(letter.subject, english.subject, name);
}

test('a letter about a part of the money says what is still due, and how to pay that', async () => {
  const id = await recorded(harness, 20_00, 'transfer');
  const payment = (await findPayment(harness.service.database, id))!;
  const { text } = parsed((await writerOf(harness, 'money_found', payment))('en'));
  assert.match((await writerOf(harness, 'money_found', payment))('en').subject, /: €20\.00 received/);
  assert.match(text!, /^Your money has arrived\n\n€20\.00\n/m);
  for (const wanted of [/€20\.00/, /€29\.90/, /^IBAN: DE89/m, /^Amount: 29\.90 EUR$/m])
    assert.match(text!, wanted);
});

test('the letter of a receipt says where anyone checks its number, and names its payer', async () => {
  const payment = await paymentFor(harness, 'receipt');
  const { number } = (await receiptOf(harness.service.database, payment))!;
  const { html, text } = parsed((await writerOf(harness, 'receipt', payment))('en'));
  const url = `${harness.service.checkoutBaseUrl}/verify`;
  assert.ok(text!.includes(`by its number: ${url}`));
  assert.ok((html as string).includes(`href="${url}?number=${number}"`));
  const { ring, checkoutBaseUrl } = harness.service;
  assert.ok(text!.includes(` ${payersUrl(ring, checkoutBaseUrl, payment.id)}\n`));
  assert.match(text!, /^Paid by: Ada Lovelace$/m);
});

test('no text of other people becomes a link, and amounts and numbers of orders are copied as they are', () => {
  for (const [text, shown] of [
    ['evil.example', 'evil.|example'],
    ['http://evil.example/a.b', 'http://|evil.|example/a.|b'],
    ['http://192.0.2.1/x', 'http://|192.0.2.1/x'],
    ['ada@1.example', 'ada@|1.|example'],
    ['49.90', '49.90'],
    ['ORDER.2026.17', 'ORDER.2026.17'],
    ['Thank you. Ada', 'Thank you. Ada'],
  ] as const)
    assert.equal(unlinked(text), shown.replaceAll('|', '\u200b'), text);
});

/** Nothing is loaded from elsewhere, and what a mail app keeps of a letter, its inner cells, still says how it is read. */
function soundMarkup(html: string, direction: string, name: string): void {
  // Its bar stands on the side of the letter's direction, also where the words in it run the other way.
  for (const [tag] of html.matchAll(/<blockquote[^>]*>/g))
    assert.ok(tag.includes(`dir="${direction}"`), name);
  assert.doesNotMatch(html, /<(script|link|iframe|object|form)\b|@import|url\(/i, name);
  // Outlook lays out with Word, which knows neither of these.
  assert.doesNotMatch(html, /white-space|-inline-|display:(flex|grid)|position:/, name);
  for (const [, source] of html.matchAll(/<img\b[^>]* src="([^"]*)"/g)) assert.match(source!, /^cid:/, name);
  const body = /<body[^>]*>(.*)<\/body>/s.exec(html)![1]!;
  for (const [tag] of body.matchAll(/<(?:td|th|p|h1|blockquote)\b[^>]*>/g))
    assert.match(tag, new RegExp(` dir="(${direction}|auto)"`), `${name}: ${tag}`);
}

describe('seen in a browser', () => {
  /** Looks at letters in light and dark, wide and narrow. */
  async function look(letters: readonly { name: string; content: LetterContent }[]): Promise<void> {
    await using browser = await startChromium();
    const context = await browser.newContext({ ...AT_ONCE, viewport: { width: 1280, height: 800 } });
    await context.addInitScript(AXE);
    const page: Page = await context.newPage();
    const faults: string[] = [];
    for (const { name, content } of letters) {
      await page.setContent(letterHtml(content));
      faults.push(...(await faultsEveryWay(page)).map((fault) => `${name}: ${fault}`));
    }
    await context.close();
    assert.deepEqual(faults, []);
  }

  for (const tag of isWhole ? ['en', 'de', 'ar', 'ja'] : ['ar'])
    test(`axe finds nothing, and all fits, in letters to customers in ${tag}`, async () =>
      look((await toCustomers(harness)).map(({ kind, write }) => ({ name: kind, content: write(tag) }))));

  test('axe finds nothing, and all fits, in letters to staff', async () =>
    look((await toStaff(harness)).map(({ kind, tag, content }) => ({ name: `${kind} in ${tag}`, content }))));
});
