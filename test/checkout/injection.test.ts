// Hundreds of texts that would run scripts, in every place where a merchant or a customer may write: they stay text.
import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { newSecret } from '../../src/lib/secrets.ts';
import { type FieldFault, type FieldUse, readField } from '../../src/payments/methods/fields.ts';
import type { Method } from '../../src/payments/methods/offer.ts';
import { loaded, startChromium } from '../support/chromium.ts';
import { FROM_OUR_PAGE } from '../support/customer.ts';
import { isWhole, sampled } from '../support/extent.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { eventually } from '../support/waiting.ts';
import { XSS_PAYLOADS } from '../support/xss-payloads.ts';
import { decide } from './scenes.ts';

/** How many of the payloads take their turn on each page by itself; 520 in the campaigns. The browser is given all of them. */
const PAYLOADS = Math.min(Number(process.env.COUNTERFOIL_RUNS) || (isWhole ? 130 : 8), XSS_PAYLOADS.length);
/** In so many tests they are sent, of which none takes long on a slow machine. */
const PARTS = isWhole ? 4 : 1;
const AT_ONCE = 6;
/** Characters of payloads in each field of a page in the browser; four such fields fit into one form. */
const BATCH = 1200;
const HARMLESS = 'word';

const random = new SeededRandom();

// What each place takes of a payload: as much as it can without refusing it.

/** Text that settings and the API take: no control characters, none that steer the reading direction. */
function plain(payload: string, maximum: number): string {
  const kept = payload.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '');
  return [...kept].slice(0, maximum).join('').trim() || 'x';
}
/** The part of an e-mail address in front of the @. */
const localPart = (payload: string) =>
  plain(payload.replace(/[\s"(),:;<>@[\]\\.\u2028\u2029\u00a0\ufeff]/gu, ''), 40);
/** The part of a web address behind its host. */
const inAddress = (payload: string) => plain(payload.replace(/[\s\\]/gu, ''), 200);
const asAddress = (payload: string) => {
  const part = inAddress(payload);
  return `https://shop.example/${part}?${part}=${part}#${part}`;
};

interface Merchant {
  id: string;
  key: string;
}

/** A merchant and its methods, with a payload in everything that is configured; as lines of a configuration file. */
function configured(number: number, payload: string, instructions = payload) {
  const key = newSecret('cfk_test_');
  const quoted = (value: unknown) =>
    // ASCII alone, since YAML has rules of its own for some characters beyond.
    JSON.stringify(value).replace(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  const support = number % 2 === 0 ? `${localPart(payload)}@shop.example` : asAddress(payload);
  const ids = ['details', 'cash', 'transfer', 'card'].map((type) => `${type}_${number}`);
  const name = quoted(plain(payload, 60));
  const row = `{ label: ${quoted(plain(payload, 40))}, value: ${quoted(plain(payload, 140))} }`;
  return {
    merchant: { id: `mer_p${number}`, key },
    merchantLines: `  - id: mer_p${number}
    name: ${quoted(businessName(payload))}
    website: https://shop.example
    support: ${quoted(support)}
    methods: [${ids.join(', ')}]
    keys: [{ key: ${key} }]
`,
    methodLines: `  - { id: ${ids[0]}, type: details, name: ${name} }
  - { id: ${ids[1]}, type: manual, name: ${name}, instructions: ${quoted(plain(instructions, 2000))} }
  - id: ${ids[2]}
    type: bank_transfer
    name: ${name}
    accounts: [{ currency: INR, holder: ${quoted(plain(`Z ${payload}`, 70))}, upi_id: shop@bank, rows: [${row}] }]
  - { id: ${ids[3]}, type: test_card, name: ${name} }
`,
  };
}

/** A payload as the name of a business: what names must not hold is left out, and what they must have is added. */
function businessName(payload: string): string {
  const seen = plain(payload, 118)
    .replace(/[\u115f\u1160\u2800\u3164\uffa0\p{Zl}\p{Zp}\p{Cf}]/gu, '')
    .normalize('NFC');
  return `${seen}x`;
}

/** A payment with a payload in everything that a merchant says of it. */
const fieldsOf = (payload: string) => ({
  currency: 'INR',
  description: plain(payload, 1000),
  merchant_reference: plain(payload, 255),
  customer: {
    name: plain(payload, 255),
    email: `${localPart(payload)}@example.org`,
    phone: plain(payload, 40),
  },
  return_url: asAddress(payload),
  cancel_url: asAddress(payload),
  metadata: { [plain(payload, 100)]: plain(payload, 1000) },
});

// What a page is made of.

type Node = DefaultTreeAdapterMap['node'];

const LEADS = /^(?:href|src|action|formaction|xlink:href|data|poster|srcset|background|ping|content)$/;
const SCHEMES = /^(?:https?|mailto|tel|upi):$/;

/** A page's elements in their order, each with the names of its attributes; fails where one leads to a strange scheme. */
function structureOf(text: string): string {
  const found: string[] = [];
  const visit = (node: Node): void => {
    if ('tagName' in node) {
      found.push(`${node.tagName}[${node.attrs.map(({ name }) => name).join()}]`);
      for (const { name, value } of node.attrs)
        if (LEADS.test(name) && node.tagName !== 'meta')
          assert.match(new URL(value, 'https://pay.test').protocol, SCHEMES, value);
    } else if (node.nodeName === '#comment') {
      found.push('comment');
    }
    if ('content' in node) visit(node.content);
    if ('childNodes' in node) for (const child of node.childNodes) visit(child);
  };
  visit(parse(text));
  return found.join('\n');
}

/** Harmless text that has the same fault in a field, so that its page has the same parts. */
function harmlessWith(fault: FieldFault | undefined): string {
  switch (fault) {
    case 'text':
      return 'word\u0001';
    case 'long':
      return 'w'.repeat(5000);
    case 'card':
      return '4242 4242 4242 4242';
    case 'unknown':
      return '1';
    case 'form':
      return 'w!';
    default:
      return HARMLESS;
  }
}

const VALID: Record<string, string> = {
  'payer-name': 'word',
  'payer-email': 'word@example.org',
  'card-number': '4242 4242 4242 4242',
  'card-expiry': '12/40',
};

/** The text that an attribute's value stands for. */
const unescaped = (value: string) =>
  value
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

describe('injection', () => {
  const payloads = [
    HARMLESS,
    ...random
      .shuffled(XSS_PAYLOADS.map((_, index) => index))
      .slice(0, PAYLOADS)
      .sort((a, b) => a - b)
      .map((index) => XSS_PAYLOADS[index]!),
  ];
  const batches: string[] = [''];
  for (const payload of XSS_PAYLOADS) {
    if (batches.at(-1)!.length + payload.length > BATCH) batches.push('');
    batches[batches.length - 1] += `${payload} `;
  }
  let harness: Harness;
  let merchants: Merchant[];

  before(async () => {
    console.log(`injection: seed ${random.seed} (COUNTERFOIL_SEED), ${PAYLOADS} payloads (COUNTERFOIL_RUNS)`);
    const all = [
      ...payloads.map((payload, number) => configured(number, payload)),
      ...batches.map((batch, index) => configured(payloads.length + index, batch)),
    ];
    merchants = all.map(({ merchant }) => merchant);
    const lines = (name: 'merchantLines' | 'methodLines') => all.map((one) => one[name]).join('');
    harness = await startHarness('sqlite', {
      configuration: `${lines('merchantLines')}methods:\n${lines('methodLines')}checkout_forms_per_payment: 1000000\ncheckout_forms_per_address: 1000000\n`,
    });
  });
  after(() => harness.close());

  const get = async (query: Record<string, string>, headers: Record<string, string> = {}) => {
    const address = `${harness.origin}/payment.php?${new URLSearchParams(query)}`;
    const response = await fetch(address, { redirect: 'manual', headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const post = async (query: Record<string, string>, values: Record<string, string>) => {
    const response = await fetch(`${harness.origin}/payment.php?${new URLSearchParams(query)}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...FROM_OUR_PAGE },
      body: new URLSearchParams(values).toString(),
    });
    return { status: response.status, text: await response.text() };
  };
  /** The hidden fields of a method's form. */
  const hiddenIn = (page: string, method: string) => {
    const [text] = page.slice(page.search(`<form[^>]*[?;]method=${method}[&#]`)).split('</form>');
    const inputs = text!.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g);
    return Object.fromEntries([...inputs].map(([, name, value]) => [name!, unescaped(value!)]));
  };
  const create = async (number: number, fields: object) =>
    (await harness.create(fields, { key: merchants[number]!.key })).id as string;

  /** The pages that show what `payload` became, by name; `faults` are those of its fields, where they are not its own. */
  async function pagesWith(
    number: number,
    payload: string,
    valuesOf: (method: Method) => Record<string, string>,
    submitBy: number,
  ): Promise<Map<string, string>> {
    const pages = new Map<string, string>();
    const note = (name: string, wanted: number, { status, text }: { status: number; text: string }) => {
      assert.equal(status, wanted, `${name}: ${text.slice(0, 200)}`);
      pages.set(name, text);
      return text;
    };
    const payment_id = await create(number, fieldsOf(payload));
    const latin = payload.replace(/[^ -~\u00a1-\u00ff]/g, '');
    const said = {
      'accept-language': latin || 'x',
      cookie: `counterfoil_theme=${latin}`,
      'user-agent': latin || 'x',
    };
    const asked = { payment_id, lang: payload, view: payload, edit: payload, [payload]: payload };
    note('pending', 200, await get(asked, said));
    note('cancel question', 200, await get({ payment_id, view: 'cancel', lang: payload, edit: payload }));
    note('way not offered', 404, await get({ payment_id, method: payload }));
    note('unknown', 404, await get({ payment_id: payload, method: payload, lang: payload }));
    const themed = await get({ payment_id, theme: payload, view: payload, edit: payload, method: payload });
    assert.equal(themed.status, 303);
    assert.match(themed.headers.get('location')!, /^\/payment\.php\?[!-~]+$/);
    assert.match(
      themed.headers.get('set-cookie')!,
      /^counterfoil_theme=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/,
    );
    note('refused', 403, await post({ payment_id, lang: payload, view: payload }, { token: payload }));

    const methods = methodsOf(number);
    const forms = new Map<Method, Record<string, string>>();
    for (const method of methods) {
      const at = { payment_id, method: method.id, edit: 'contact' };
      const form = hiddenIn(note(`pending, ${method.type}`, 200, await get(at)), method.id);
      forms.set(method, form);
      note(`errors, ${method.type}`, 422, await post(at, { ...form, ...valuesOf(method) }));
    }
    const method = methods[submitBy]!;
    const form = forms.get(method)!;
    const taken = method.fields.map((use): [string, string] => {
      const fits = 'kept' in readField(use, payload, harness.clock.now());
      if (use.name === 'payer-email') return [use.name, `${localPart(payload)}@example.org`];
      return [use.name, fits ? payload : (VALID[use.name] ?? '')];
    });
    const sent = await post(
      { payment_id, method: method.id, edit: 'contact' },
      { ...form, ...Object.fromEntries(taken) },
    );
    assert.equal(sent.status, 303, sent.text.slice(0, 2000));
    note(`sent by ${method.type}`, 200, await get({ payment_id, view: payload, method: payload }));
    await decide(harness, payment_id, 'reject', plain(payload, 500));
    note(`rejected, ${method.type}`, 200, await get({ payment_id }));
    return pages;
  }

  const methodsOf = (number: number) =>
    harness.service.offer.methodsFor({
      merchant_id: merchants[number]!.id,
      currency: 'INR',
      mode: 'test',
    } as never);

  const faultOf = (use: FieldUse, text: string) => {
    const reading = readField(use, text, harness.clock.now());
    return 'fault' in reading ? reading.fault : undefined;
  };

  const harmless = new Map<string, Promise<Map<string, string>>>();
  /** The structures of the pages of a harmless word whose fields have the same faults. */
  const expected = (faults: Record<string, FieldFault | undefined>, submitBy: number) => {
    const key = JSON.stringify([faults, submitBy]);
    let pages = harmless.get(key);
    if (!pages) {
      const values = ({ fields }: Method) =>
        Object.fromEntries(fields.map((use) => [use.name, harmlessWith(faults[use.name])]));
      pages = pagesWith(0, HARMLESS, values, submitBy).then(
        (texts) => new Map([...texts].map(([name, text]) => [name, structureOf(text)])),
      );
      harmless.set(key, pages);
    }
    return pages;
  };

  /** Sends the payloads with these numbers, and holds their pages against those of a harmless word. */
  async function sendAll(numbers: Iterator<number>, context: TestContext): Promise<void> {
    let [sent, seen] = [0, 0];
    const rest = Iterator.from(numbers);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const number of rest) {
          sent++;
          const payload = payloads[number]!;
          const uses = methodsOf(number).flatMap(({ fields }) => fields);
          const faults = Object.fromEntries(uses.map((use) => [use.name, faultOf(use, payload)]));
          const values = ({ fields }: Method) =>
            Object.fromEntries(fields.map(({ name }) => [name, payload]));
          const wanted = await expected(faults, number % 4);
          const pages = await pagesWith(number, payload, values, number % 4);
          assert.deepEqual([...pages.keys()], [...wanted.keys()]);
          for (const [name, text] of pages) {
            seen++;
            if (structureOf(text) !== wanted.get(name))
              assert.equal(structureOf(text), wanted.get(name), `${JSON.stringify(payload)} on ${name}`);
          }
        }
      }),
    );
    context.diagnostic(`${sent} payloads on ${seen} pages, ${harmless.size} of a harmless word`);
    assert.ok(sent > 0 && seen >= 10 * sent);
  }

  for (let part = 0; part < PARTS; part++)
    test(`each of ${PAYLOADS} payloads leaves every page with the elements and attributes of a harmless word: ${part + 1} of ${PARTS}.`, (context) =>
      sendAll(
        payloads
          .keys()
          .drop(1)
          .filter((number) => (number >> 2) % PARTS === part),
        context,
      ));

  test('none of them is an address that a merchant may give.', async () => {
    for (const payload of sampled(XSS_PAYLOADS, 8)) {
      const answer = await harness.request('/v1/payments', {
        method: 'POST',
        key: merchants[0]!.key,
        body: { amount: 1, return_url: payload },
      });
      assert.equal(answer.status, 422, payload);
    }
  });

  test('a browser with scripts switched on runs none of them, and its policy has nothing to stop.', async (context) => {
    const browser = await startChromium();
    try {
      const page = await browser.newPage();
      const ran: string[] = [];
      const complaints: string[] = [];
      page.on('dialog', (dialog) => {
        ran.push(`${dialog.type()} on ${page.url()}`);
        dialog.dismiss();
      });
      await page.exposeBinding('ran', () => void ran.push(page.url()));
      page.on('console', (message) => {
        // A status that is no success is told there too, and wanted.
        if (!/responded with a status of (?:404|410|422)/.test(message.text()))
          complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      /** Tells every element what scripts wait for, and looks whether one has run. */
      const poke = async () => {
        const flag = await page.evaluate(`(() => {
          for (const element of document.querySelectorAll('body *'))
            for (const name of ['mouseover', 'pointerenter', 'input', 'focus', 'animationstart'])
              element.dispatchEvent(new Event(name));
          return typeof self.ran;
        })()`);
        assert.equal(flag, 'function', `a script has run on ${page.url()}`);
      };
      // What listens does hear: a page that escapes nothing runs it, and on one with our policy the policy complains.
      const body = '<img src=x onerror="ran()"><script>ran()</script>';
      const { headers: ours } = await get({ payment_id: 'x' });
      // Without its reports, which might come when the log is looked at.
      const policy = ours.get('content-security-policy')!.replace(/; report-.*$/, '');
      for (const headers of [{}, { 'content-security-policy': policy }]) {
        const isOurs = 'content-security-policy' in headers;
        await page.route('**/control', (route) =>
          route.fulfill({ body, headers: { ...headers, 'content-type': 'text/html' } }),
        );
        await page.goto(`${harness.origin}/control`);
        await eventually(() => (isOurs ? complaints : ran).length >= 2);
        await page.goto('about:blank');
        await page.unroute('**/control');
        assert.equal(ran.splice(0).length, isOurs ? 0 : 2);
        complaints.length = 0;
      }
      asked.length = 0;
      harness.logged.length = 0;
      let pages = 0;
      for (const [index, batch] of batches.entries()) {
        const number = payloads.length + index;
        const fields = { ...fieldsOf(HARMLESS), customer: null };
        const payment_id = await create(number, {
          ...fields,
          description: plain(batch, 1000),
          merchant_reference: plain(batch, 255),
        });
        const method = methodsOf(number)[index % 4]!;
        const query = new URLSearchParams({ payment_id, method: method.id, view: batch.slice(0, 300) });
        const address = `${harness.origin}/payment.php?${query}`;
        await page.goto(address);
        await poke();
        const fill = (values: Record<string, string>) =>
          loaded(page, () =>
            page.evaluate(`(() => {
              for (const [name, value] of Object.entries(${JSON.stringify(values)}))
                document.getElementById(name).value = value;
              document.getElementById(${JSON.stringify(Object.keys(values)[0])}).form.submit();
            })()`),
          );
        const names = method.fields.map(({ name }) => name);
        await fill(Object.fromEntries(names.map((name) => [name, batch])));
        assert.match(await page.title(), /^Error: /);
        await poke();
        await fill(Object.fromEntries(names.map((name) => [name, VALID[name] ?? ''])));
        assert.equal(await page.locator('form:not(.trial *, .cancel *)').count(), 0, page.url());
        await poke();
        pages += 3;
      }
      const reports = harness.logged.filter((line) => line.includes('content security policy'));
      context.diagnostic(`${pages} pages with ${XSS_PAYLOADS.length} payloads each way`);
      assert.deepEqual([ran, complaints, reports], [[], [], []]);
      assert.deepEqual(
        asked.filter((address) => !address.startsWith(`${harness.origin}/`)),
        [],
      );
    } finally {
      await browser.close();
    }
  });
});
