// Every page and state of the console as a browser shows it: whatever looks at all of them goes through this one list.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { BrowserContextOptions, Page, Response } from 'playwright-core';
import { createAdministrator } from '../../../src/administrators/manage.ts';
import { BackgroundVerification } from '../../../src/journal/background-verification.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/lib/time.ts';
import { Inspector } from '../../../src/operate/checks/checks.ts';
import { approveAs, recordAs, rejectAs, waiting } from '../../review/pages/review-stage.ts';
import {
  addStatements,
  type StatementStage,
  statementScenes,
} from '../../statements/pages/statement-scenes.ts';
import { acknowledgeAll } from '../../support/acknowledge.ts';
import { follow, loaded, press } from '../../support/chromium.ts';
import {
  type Account,
  type Client,
  codeOf,
  createAccount,
  MANY_SIGN_INS,
  signInAs,
} from '../../support/console.ts';
import { open, send } from '../../support/customer.ts';
import { isWhole } from '../../support/extent.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { editOutside } from '../../support/outside.ts';
import { createAt, type OfferName, SHOP } from '../../support/shop.ts';
import { addWebhooks, type WebhookStage, webhookScenes } from '../../webhooks/pages/webhook-scenes.ts';

export interface Scene {
  name: string;
  /** Below the console. */
  path: string;
  /** Who looks; nobody is signed in where nobody stands here. */
  who?: Client | undefined;
  /** HTTP status of what is shown in the end. */
  status?: number;
  /** What is done before the address is opened. */
  before?: () => unknown;
  /** What is done on the page until it shows what it should. */
  steps?: (page: Page) => Promise<unknown>;
  /** The console with nothing in it. */
  isBare?: boolean;
}

/** Scenes of different groups may be looked at side by side; those of one group one after another. */
export const GROUPS = ['queue', 'records', 'payment', 'doors', 'decisions', 'account'] as const;

export interface Gallery {
  groups: Record<(typeof GROUPS)[number], Scene[]>;
  /** Opens a scene: as whoever looks, from the address on. */
  show(page: Page, scene: Scene): Promise<{ status: number; text: string; german: string | undefined }>;
  close(): Promise<void>;
}

/** What a context is made with to look at scenes: colours change at once, and forms can be sent twice in a second. */
export const CONTEXT: BrowserContextOptions = { reducedMotion: 'reduce' };

const LONG_NAME =
  'The Northern Brothers’ Musical Instruments, Sheet Music & Repairs Company of Aberdeenshire';
/** What people wrote in English that stands within sentences of ours. */
export const WRITTEN = [
  LONG_NAME,
  'Edited by hand on 20 November, incident 7; agreed with the shop',
  'The laptop with the rather long name that stands in the back',
];
/** A short name, a long one, one that is read from the right, and one with a single long word. */
const NAMES: Record<OfferName, string> = {
  all: 'Donaudampfschifffahrtsgesellschaftsfahrkartenverkauf',
  card: 'Zo',
  transfer: LONG_NAME,
  cash: 'Bäckerei Süß',
  details: 'مكتبة النور للكتب',
};
const MERCHANTS = SHOP.replace(
  /(id: mer_(\w+)\n {4}name: )Corner Shop/g,
  (_, head: string, offer: OfferName) => head + NAMES[offer],
);
const CONFIGURATION = `${MERCHANTS}${MANY_SIGN_INS}host: localhost\ncheckout_forms_per_address: 10000\nreview:\n  four_eyes_above:\n    EUR: 5000.00\n`;
/** More than a page of the queue; in `npm test` more than a sheet of paper. */
const WAITING = isWhole ? 62 : 24;

const PAYERS = [
  'Ada Lovelace',
  'Wolfeschlegelsteinhausenbergerdorff-Hernández de la Concepción',
  'نور الهدى',
  'Li',
];
const LONG_REFERENCE = 'INV/2026/11/NORTH-0000000000000000000000000000000000000000-A';

/** The service with all that a console can show, and one with nothing. */
export async function startGallery(): Promise<Gallery> {
  await using started = new AsyncDisposableStack(); // closed here where something below fails
  const start = async (configuration: string) =>
    started.adopt(await startHarness('sqlite', { configuration }), (harness) => harness.close());
  started.defer(() => mock.restoreAll());
  const harness = await start(CONFIGURATION);
  const bare = await start('host: localhost\nsign_in_forms_per_address: 8\n');
  const verification = await verificationOf(harness);
  const stage = await fill(harness);
  const bareAna = (await signInAs(bare, await createAccount(bare))).client;
  const open = started.move();
  return {
    groups: {
      doors: doors(harness, stage),
      account: account(stage),
      queue: [...empty(bareAna), ...queue(stage)],
      payment: payment(stage),
      decisions: decisions(stage),
      records: records(stage, verification),
    },
    async show(page, { path, who, before, steps, isBare = false }) {
      const { service } = isBare ? bare : harness;
      const context = page.context();
      await context.clearCookies();
      const cookies = [...(who?.cookies ?? [])];
      await context.addCookies(cookies.map(([name, value]) => ({ name, value, url: service.baseUrl })));
      await before?.();
      let last = (await page.goto(`${service.baseUrl}/console${path}`))!;
      const follow = (response: typeof last) => {
        const isPage = response.request().isNavigationRequest() && response.frame() === page.mainFrame();
        if (isPage && ![301, 302, 303].includes(response.status())) last = response;
      };
      page.on('response', follow);
      await steps?.(page);
      await page.waitForLoadState();
      page.off('response', follow);
      return { status: last.status(), text: await last.text(), german: await germanOf(page, last) };
    },
    close: () => open.disposeAsync(),
  };
}

/** The same page in German; undefined if asking for it again would do something again, or send files again. */
async function germanOf(page: Page, shown: Response): Promise<string | undefined> {
  const request = shown.request();
  const isForm = request.method() === 'POST';
  const headers: Record<string, string> = { ...(await request.allHeaders()), 'accept-language': 'de' };
  if (isForm && (shown.status() !== 422 || /multipart/.test(headers['content-type']!))) return undefined;
  const data = request.postDataBuffer();
  // A connection that was idle may be closed just then.
  const answer = await page.request.fetch(request.url(), {
    ...{ method: request.method(), headers, maxRedirects: 0, maxRetries: 3 },
    ...(isForm && data && { data }),
  });
  return answer.text();
}

interface Stage {
  ana: Client;
  bob: Client;
  olga: Client;
  anaAccount: Account;
  webhooks: WebhookStage;
  statements: StatementStage;
  /** Payments by what is special about them. */
  ids: Record<
    | 'plain'
    | 'cash'
    | 'details'
    | 'card'
    | 'claimed'
    | 'mine'
    | 'half'
    | 'above'
    | 'huge'
    | 'approved'
    | 'rejected'
    | 'twice'
    | 'acknowledged'
    | 'changed'
    | 'pending'
    | 'cancelled'
    | 'expired'
    | 'recorded',
    string
  >;
}

async function fill(harness: Harness): Promise<Stage> {
  const { clock } = harness;
  const anaAccount = await createAccount(harness, 'administrator', 'Ana Admin');
  const bobAccount = await createAccount(harness, 'reviewer', 'Bartholomew Featherstonehaugh-Cholmondeley');
  const olgaAccount = await createAccount(harness, 'auditor', 'Olga');
  const asAna = async () => (await signInAs(harness, anaAccount)).client;
  const asBob = async () => (await signInAs(harness, bobAccount)).client;
  const full = {
    merchant_reference: 'ORDER-1001',
    description: 'Two violins, a bow,\nand a book of studies',
    customer: { name: 'Grace Hopper', email: 'grace@example.org', phone: '+1 555 0100' },
    metadata: { cart: 'c_1', lines: [1, 2], 'a rather long name of a datum': 'x'.repeat(120) },
    return_url: 'https://corner.example/a/very/long/address/that/leads/back?order=1001&from=checkout',
    cancel_url: 'https://corner.example/cart',
  };

  const offers = ['transfer', 'details', 'card', 'cash'] as const;
  for (let i = 0; i < WAITING; i++) {
    const offer = offers[i % offers.length]!;
    const currency = offer === 'details' ? 'JPY' : offer === 'transfer' ? 'EUR' : i % 3 ? 'USD' : 'EUR';
    const amount = currency === 'JPY' ? 1200 + i * 7 : Number((3.5 + i * 61.37).toFixed(2));
    const merchant_reference = i % 5 === 4 ? LONG_REFERENCE + i : i % 3 ? `ORDER-${2000 + i}` : undefined;
    const payer = PAYERS[i % 7 === 0 ? 1 : i % 4]!;
    const typed = { 'payer-name': payer, 'transfer-name': payer };
    await waiting(harness, offer, { amount, currency, merchant_reference }, typed);
    if (i % 4 === 3) clock.advance((i < 16 ? 9 * HOUR_MS : i < 40 ? 40 * MINUTE_MS : MINUTE_MS) + i * 7000);
  }
  const expired = await createAt(harness, 'details', {
    ...full,
    currency: 'JPY',
    amount: 5400,
    expires_in: 300,
  });
  clock.advance(300_001);
  await send(await open(harness, expired.id));

  const decided = await asAna();
  const rejected = await waiting(harness, 'transfer', full);
  await rejectAs(decided, rejected, {
    note: 'Twice: see order 1000.',
    message: 'You paid already.\n\nWe keep the first payment.',
  });
  const approved = await waiting(harness, 'cash', full);
  await approveAs(decided, approved, { note: 'Counted it.', bank_reference: 'TRX 4711' });
  const twice = await waiting(harness, 'transfer', { ...full, amount: 7200 });
  await approveAs(decided, twice);
  await approveAs(await asBob(), twice, { bank_reference: 'E2E-0000000000000000000000000000000001' });
  for (const offer of ['card', 'details', 'transfer'] as const) {
    clock.advance(DAY_MS / 4);
    await approveAs(await asAna(), await waiting(harness, offer, { currency: 'EUR' }));
  }

  const pending = await createAt(harness, 'transfer', full);
  const cancelled = await createAt(harness, 'details', full);
  await cancel(harness, cancelled.id);
  const late = await createAt(harness, 'transfer', { ...full, amount: 6200 });
  await cancel(harness, late.id);
  const ids = {
    plain: await waiting(harness, 'transfer', full),
    cash: await waiting(harness, 'cash', full),
    details: await waiting(harness, 'details', { ...full, amount: 98765, currency: 'JPY' }),
    card: await waiting(harness, 'card', { amount: 12.5, currency: 'USD' }),
    huge: await waiting(harness, 'details', {
      amount: 999999999999.99,
      currency: 'KWD',
      merchant_reference: LONG_REFERENCE,
    }),
    claimed: await waiting(harness, 'details', full),
    mine: await waiting(harness, 'cash', full),
    above: await waiting(harness, 'transfer', { ...full, amount: 6100 }),
    half: await waiting(harness, 'transfer', { ...full, amount: 5001 }),
    approved,
    rejected,
    twice,
    pending: pending.id,
    cancelled: cancelled.id,
    expired: expired.id,
    recorded: late.id,
    acknowledged: await waiting(harness, 'transfer', full),
    changed: await waiting(harness, 'transfer', full),
  };
  const reprice = (id: string) =>
    editOutside(harness.store, `update payments set amount_minor = 1 where id = '${id}'`);
  await reprice(ids.acknowledged);
  await acknowledgeAll(harness, 'Edited by hand on 20 November, incident 7; agreed with the shop');
  await reprice(ids.changed);
  clock.advance(25 * MINUTE_MS);
  // Signed in last, since a session ends when nobody clicks for a quarter of an hour.
  const [ana, bob, olga] = [await asAna(), await asBob(), (await signInAs(harness, olgaAccount)).client];
  await bob.send(await bob.get(`/payments/${ids.claimed}`), {}, 'Claim');
  await ana.send(await ana.get(`/payments/${ids.mine}`), {}, 'Claim');
  await approveAs(bob, ids.half, { bank_reference: 'TRX 5001' });
  await recordAs(bob, ids.recorded, { amount: '6190', note: 'The bank took its fee.' });
  for (const [act, reason] of [
    ['suspend', 'Its key was in a public repository.\nWaiting for a new one.'],
    ['resume', 'A new key is in use.'],
    ['suspend', 'The new key leaked too.'],
  ] as const)
    await ana.send(await ana.get(`/merchants/mer_card/${act}`), { reason }, /merchant$/);
  await ana.send(await ana.get('/merchants/mer_transfer/keys/new'), { name: 'The till' }, 'Create the key');
  const webhooks = await addWebhooks(harness, ana);
  const statements = await addStatements(harness, ana);
  return { ana, bob, olga, anaAccount, ids, webhooks, statements };
}

async function cancel(harness: Harness, id: string): Promise<void> {
  const question = await open(harness, id, { view: 'cancel' });
  assert.equal((await send(question)).status, 200);
}

function newLink(harness: Harness, name: string): Promise<string> {
  const email = `${name.toLowerCase()}@example.org`;
  const wanted = { email, name, role: 'reviewer' } as const;
  return harness.service.journal
    .commit((transaction) =>
      createAdministrator(transaction, wanted, { actor: 'operator', request_id: null }),
    )
    .then(({ link }) => `/set-up?link=${link}`);
}

function doors(harness: Harness, { ids, ana, olga, anaAccount }: Stage): Scene[] {
  const password = async (page: Page, { email, password }: Account = anaAccount) => {
    await page.fill('#email', email);
    await page.fill('#password', password);
  };
  const links = ['Nina', 'Noor', 'Nils'].map((name) => newLink(harness, name));
  const typed = async (page: Page) => {
    await page.getByLabel('Suspected fraud').check();
    await page.fill('#note', 'Three cards, one address.');
    await page.context().clearCookies();
    await press(/^Reject/)(page);
    await page.waitForSelector('#email');
  };
  const setUp = async (page: Page) => {
    const totpSecret = await page.locator('input[name=secret]').inputValue();
    for (const id of ['#password', '#password-again']) await page.fill(id, 'four words nobody says');
    await page.fill('#code', codeOf(harness, { totpSecret }));
    await press('Set up my account')(page);
    await page.waitForSelector('.codes');
  };
  const scenes: Scene[] = [
    { name: 'sign-in', path: '/sign-in' },
    { name: 'sign-in, signed out', path: '/sign-in?out=1' },
    { name: 'sign-in, nothing typed', path: '/sign-in', steps: press('Sign in'), status: 422 },
    {
      name: 'sign-in, wrong',
      path: '/sign-in?next=/queue',
      status: 422,
      steps: async (page) => {
        await page.fill('#email', 'nobody.with.a.rather.long.address@subdomain.example.org');
        await page.fill('#password', 'wrong');
        await page.fill('#code', '000000');
        await press('Sign in')(page);
      },
    },
    {
      name: 'sign-in, wrong recovery code',
      path: '/sign-in',
      status: 422,
      steps: async (page) => {
        await password(page);
        await page.locator('summary', { hasText: 'Use a recovery code' }).click();
        await page.fill('#recovery-code', 'wrong');
        await press('Sign in')(page);
      },
    },
    {
      name: 'session over, draft kept',
      path: `/payments/${ids.plain}/reject`,
      who: ana,
      steps: typed,
      status: 401,
    },
    {
      name: 'session over, draft shown again',
      path: `/payments/${ids.plain}/reject`,
      who: ana,
      steps: async (page) => {
        await typed(page);
        await password(page);
        harness.clock.advance(30_000); // a code works once
        await page.fill('#code', codeOf(harness, anaAccount));
        await press('Sign in')(page);
        await page.waitForSelector('#note');
      },
    },
    {
      name: 'set-up',
      path: '',
      steps: async (page) =>
        page.goto(new URL(`console${await links[0]!}`, `${harness.service.baseUrl}/`).href),
    },
    { name: 'not this role', path: '/merchants/mer_cash/suspend', who: olga, status: 403 },
    { name: 'no such page', path: '/none', who: ana, status: 404 },
    { name: 'no such payment', path: `/payments/pay_${'0'.repeat(36)}`, who: ana, status: 404 },
    { name: 'set-up link used', path: '/set-up?link=none', status: 404 },
    {
      name: 'from another site',
      path: '/sign-in',
      status: 403,
      steps: async (page) => {
        const form = `<main><form method=post action="${page.url()}"><button>Send`;
        await page.goto(`data:text/html,${encodeURIComponent(form)}`);
        await press('Send')(page);
      },
    },
    {
      name: 'too many sign-ins',
      path: '/sign-in',
      isBare: true,
      status: 429,
      steps: async (page) => {
        while (!(await page.locator('main').innerText()).includes('Too many attempts'))
          await press('Sign in')(page);
      },
    },
  ];
  const setUpAt = (index: number, name: string, more: Partial<Scene>): Scene => ({
    name,
    path: '',
    ...more,
    steps: async (page) => {
      await page.goto(`${harness.service.baseUrl}/console${await links[index]!}`);
      await more.steps?.(page);
    },
  });
  scenes.push(
    setUpAt(1, 'set-up, nothing typed', { steps: press('Set up my account'), status: 422 }),
    setUpAt(2, 'set-up done, recovery codes', { steps: setUp }),
  );
  return scenes;
}

function account({ ana, anaAccount, olga }: Stage): Scene[] {
  const current = (page: Page) => page.fill('#current-password', anaAccount.password);
  const formOf = (name: string, path: string, button: RegExp): Scene[] => [
    { name, path, who: ana },
    { name: `${name}, nothing typed`, path, who: ana, status: 422, steps: press(button) },
  ];
  return [
    { name: 'account', path: '/account', who: ana },
    { name: 'account, done', path: '/account?done=totp', who: ana },
    { name: 'account, an auditor', path: '/account', who: olga },
    { name: 'keys', path: '/account', who: ana, steps: (page) => page.keyboard.press('?') },
    { name: 'help', path: '/help', who: olga },
    { name: 'letters', path: '/account/letters', who: ana },
    {
      name: 'letters, chosen wrongly',
      path: '/account/letters',
      who: ana,
      status: 422,
      steps: async (page) => {
        await page.fill('#hour', 'noon');
        await press('Save')(page);
      },
    },
    ...formOf('password', '/account/password', /^Change/),
    ...formOf('authenticator', '/account/authenticator', /^Use this app/),
    ...formOf('new recovery codes', '/account/recovery-codes', /^Create/),
    { name: 'passkeys, none', path: '/account/passkeys', who: ana },
    {
      name: 'recovery codes',
      path: '/account/recovery-codes',
      who: ana,
      steps: async (page) => {
        await current(page);
        await press(/^Create/)(page);
        await page.waitForSelector('.codes');
      },
    },
    {
      name: 'passkeys, one added',
      path: '/account/passkeys',
      who: ana,
      steps: async (page) => {
        await giveAuthenticator(page);
        await page.fill('#name', 'The laptop with the rather long name that stands in the back office');
        await current(page);
        await page.getByRole('button', { name: 'Add a passkey' }).click();
        await page.waitForURL(/done=passkey/);
      },
    },
    {
      name: 'passkey to be removed',
      path: '/account/passkeys',
      who: ana,
      steps: follow(/^Remove/),
    },
  ];
}

/** Gives the browser a device that holds passkeys and always says yes. */
export async function giveAuthenticator(page: Page): Promise<() => Promise<unknown>> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const;
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', { options });
  return () => session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
}

function empty(who: Client): Scene[] {
  return (
    [
      ['home', ''],
      ['queue', '/queue'],
      ['queue, filtered', '/queue?mode=live'],
      ['payments', '/payments'],
      ['audit log, none found', '/audit?actor=nobody'],
      ['merchants', '/merchants'],
      ['merchant', '/merchants/mer_development'],
    ] as const
  ).map(([name, path]) => ({ name: `bare: ${name}`, path, who, isBare: true }));
}

function queue({ ana, bob, olga, ids }: Stage): Scene[] {
  return [
    { name: 'home', path: '', who: ana },
    { name: 'queue', path: '/queue', who: ana },
    {
      name: 'queue, second page',
      path: '/queue',
      who: ana,
      steps: follow('Next'),
    },
    { name: 'queue, filtered', path: '/queue?currency=EUR&age=1h&minimum=500', who: ana },
    { name: 'queue, nothing for the filters', path: '/queue?mode=live', who: ana },
    { name: 'queue, filtered wrongly', path: '/queue?minimum=much&mode=test', who: ana },
    { name: 'queue, one open', path: `/queue?open=${ids.plain}`, who: ana },
    { name: 'queue, approved', path: `/queue?open=${ids.huge}&done=${ids.approved}`, who: ana },
    { name: 'queue, rejected', path: `/queue?done=${ids.rejected}`, who: ana },
    { name: 'queue, claimed by another', path: `/queue?open=${ids.claimed}&claimed=others`, who: ana },
    { name: 'queue, claimed', path: `/queue?open=${ids.mine}`, who: ana },
    { name: 'queue, half approved', path: `/queue?open=${ids.half}&done=${ids.half}`, who: bob },
    { name: 'queue, half approved by another', path: `/queue?open=${ids.half}`, who: ana },
    { name: 'queue, an auditor', path: `/queue?open=${ids.card}`, who: olga },
  ];
}

function payment({ ana, olga, ids }: Stage): Scene[] {
  return [
    { name: 'payment, test card', path: `/payments/${ids.card}`, who: ana },
    { name: 'payment, transfer', path: `/payments/${ids.plain}`, who: ana },
    { name: 'payment, details', path: `/payments/${ids.details}`, who: ana },
    { name: 'payment, huge', path: `/payments/${ids.huge}`, who: ana },
    { name: 'payment, manual, claimed', path: `/payments/${ids.mine}`, who: ana },
    { name: 'payment, half approved', path: `/payments/${ids.half}`, who: ana },
    { name: 'payment, approved', path: `/payments/${ids.approved}`, who: ana },
    { name: 'payment, approved by two', path: `/payments/${ids.twice}`, who: ana },
    { name: 'payment, changed outside', path: `/payments/${ids.changed}`, who: ana },
    { name: 'payment, changed and acknowledged', path: `/payments/${ids.acknowledged}`, who: ana },
    { name: 'payment, rejected', path: `/payments/${ids.rejected}`, who: olga },
    { name: 'payment, pending', path: `/payments/${ids.pending}`, who: ana },
    { name: 'payment, cancelled', path: `/payments/${ids.cancelled}`, who: ana },
    { name: 'payment, money recorded', path: `/payments/${ids.recorded}`, who: ana },
    { name: 'payment, expired', path: `/payments/${ids.expired}`, who: ana },
    {
      name: 'payment, note missing',
      path: `/payments/${ids.plain}`,
      who: ana,
      status: 422,
      steps: press(/^Add the note/),
    },
    {
      name: 'payment, note added',
      path: `/payments/${ids.details}`,
      who: ana,
      steps: async (page) => {
        await page.fill('#note', 'Rang them: the parcel comes on Friday.\nمرحبا');
        await press(/^Add the note/)(page);
        await page.waitForURL(/#story/);
      },
    },
  ];
}

function decisions({ ana, bob, ids }: Stage): Scene[] {
  const at = (id: keyof typeof ids, act: string) => `/payments/${ids[id]}/${act}`;
  return [
    { name: 'approve', path: at('plain', 'approve'), who: ana },
    { name: 'approve, huge', path: at('huge', 'approve'), who: ana },
    { name: 'approve, the first of two', path: at('above', 'approve'), who: ana },
    { name: 'approve, the second of two', path: at('half', 'approve'), who: ana },
    { name: 'approve, money recorded', path: at('recorded', 'approve'), who: ana },
    { name: 'record money', path: at('pending', 'record'), who: ana },
    { name: 'record money, changed', path: `${at('cancelled', 'record')}?version=1`, who: ana },
    {
      name: 'record money, nothing typed',
      path: at('expired', 'record'),
      who: ana,
      status: 422,
      steps: press(/^Record/),
    },
    { name: 'record money, more', path: at('recorded', 'record'), who: ana },
    { name: 'record money, decided', path: at('approved', 'record'), who: ana, status: 409 },
    { name: 'approve, own', path: at('half', 'approve'), who: bob, status: 409 },
    { name: 'approve, changed', path: `${at('plain', 'approve')}?version=1`, who: ana },
    { name: 'approve, claimed by another', path: at('claimed', 'approve'), who: ana, status: 409 },
    { name: 'approve, decided', path: at('approved', 'approve'), who: ana, status: 409 },
    { name: 'approve, not sent', path: at('pending', 'approve'), who: ana, status: 409 },
    {
      name: 'approve, faults',
      path: at('plain', 'approve'),
      who: ana,
      status: 422,
      steps: async (page) => {
        await page.fill('#bank_reference', 'x'.repeat(300));
        await page.fill('#note', 'x'.repeat(2100));
        await press(/^Approve/)(page);
      },
    },
    { name: 'reject', path: at('details', 'reject'), who: ana },
    {
      name: 'reject, no reason',
      path: at('details', 'reject'),
      who: ana,
      status: 422,
      steps: press(/^Reject/),
    },
    {
      name: 'reject, preview',
      path: at('details', 'reject'),
      who: ana,
      steps: async (page) => {
        await page.fill(
          '#message',
          'The money did not arrive.\n\nWrite to us when it was sent: https://corner.example/help',
        );
        await press(/^Preview/)(page);
      },
    },
    { name: 'reject, preview of nothing', path: at('details', 'reject'), who: ana, steps: press(/^Preview/) },
    {
      name: 'lost to another',
      path: at('cash', 'approve'),
      who: ana,
      status: 409,
      steps: async (page) => {
        await approveAs(bob, ids.cash);
        await press(/^Approve/)(page);
      },
    },
    {
      name: 'lost to a claim',
      path: `/payments/${ids.card}`,
      who: ana,
      status: 409,
      steps: async (page) => {
        await bob.send(await bob.get(`/payments/${ids.card}`), {}, 'Claim');
        await press('Claim')(page);
      },
    },
    {
      name: 'decided, the next is open',
      path: at('mine', 'approve'),
      who: ana,
      steps: async (page) => {
        await press(/^Approve/)(page);
        await page.waitForURL(/done=/);
      },
    },
  ];
}

/** The verification of the running service, which no page gives away. */
async function verificationOf(harness: Harness): Promise<BackgroundVerification> {
  let verification: BackgroundVerification | undefined;
  const started = mock.method(
    BackgroundVerification.prototype,
    'start',
    function (this: BackgroundVerification) {
      verification = this;
    },
  );
  const { client } = await signInAs(harness, await createAccount(harness, 'auditor', 'Aud'));
  await client.send(await client.get('/audit'), {}, 'Verify now');
  started.mock.restore();
  return verification!;
}

function records(
  { ana, olga, ids, webhooks, statements }: Stage,
  verification: BackgroundVerification,
): Scene[] {
  const now = () => Date.now();
  const newest = (outcome: BackgroundVerification['newest']) => () => {
    verification.running = undefined;
    Object.defineProperty(verification, 'newest', { value: outcome, configurable: true });
  };
  const found = { entries: 1284, seals: 611, payments: 431, checkpoints: 118, acknowledged: 1 };
  const verified = { is: 'verified', at: now(), found } as unknown as BackgroundVerification['newest'];
  const broken = { is: 'broken', at: now(), rows: 1 } as const;
  const problem = `payment ${ids.plain} is not as entry 128 says`;
  return [
    ...webhookScenes(webhooks, ana, olga),
    ...statementScenes(statements, ana, olga),
    { name: 'payments', path: '/payments', who: ana },
    {
      name: 'payments, second page',
      path: '/payments',
      who: ana,
      steps: follow('Older'),
    },
    { name: 'payments, found', path: `/payments?q=grace@example.org&status=requires_review`, who: ana },
    { name: 'payments, by number', path: `/payments?q=${ids.huge}`, who: ana },
    { name: 'payments, none found', path: '/payments?q=nothing+like+this', who: ana },
    {
      name: 'payments, filtered wrongly',
      path: '/payments?from=yesterday&to=2026-02-31&status=x&mode=y',
      who: ana,
      status: 422,
    },
    { name: 'audit log', path: '/audit', who: olga, before: newest(undefined) },
    {
      name: 'audit log, second page',
      path: '/audit',
      who: olga,
      steps: follow('Older'),
    },
    { name: 'audit log, filtered', path: `/audit?subject=${ids.approved}`, who: ana },
    { name: 'audit log, none found', path: '/audit?actor=nobody', who: ana },
    {
      name: 'audit log, filtered wrongly',
      path: '/audit?from=yesterday&actor=merchant:',
      who: ana,
      status: 422,
    },
    {
      name: 'audit log, verifying',
      path: '/audit?subject=none',
      who: olga,
      before: () => {
        newest(verified)();
        verification.running = { since: now(), part: 0.42 };
      },
    },
    { name: 'audit log, verified', path: '/audit?subject=none', who: olga, before: newest(verified) },
    {
      name: 'audit log, broken',
      path: '/audit?subject=none',
      who: olga,
      before: newest({ ...broken, problem, entry: 128 }),
    },
    {
      name: 'audit log, verification failed',
      path: '/audit?subject=none',
      who: olga,
      before: newest({ is: 'failed', at: now() }),
    },
    { name: 'health, with warnings', path: '/health', who: olga, before: newest(verified) },
    {
      name: 'health, with a failure',
      path: '/health',
      who: olga,
      before: newest({ ...broken, problem, entry: 128 }),
    },
    {
      name: 'health, all well',
      path: '/health',
      who: olga,
      before: () => {
        const { findings } = Inspector.prototype;
        mock.method(Inspector.prototype, 'findings', async function (this: Inspector) {
          return (await findings.call(this)).filter(({ is }) => is === 'ok');
        });
      },
      steps: async () => mock.restoreAll(),
    },
    {
      name: 'failure of ours',
      path: '/audit',
      who: olga,
      status: 500,
      before: newest({ is: 'verified', at: now() } as unknown as BackgroundVerification['newest']),
    },
    { name: 'mail', path: '/mail', who: ana },
    { name: 'mail, about a payment', path: `/mail?about=${ids.pending}`, who: ana },
    { name: 'mail, a test letter', path: '/mail', who: ana, steps: press(/^Send a test email to/) },
    { name: 'mail, none', path: '/mail?about=nothing', who: olga },
    { name: 'merchants', path: '/merchants', who: ana, before: newest(undefined) },
    { name: 'merchant, active', path: '/merchants/mer_transfer', who: ana },
    { name: 'merchant, an auditor', path: '/merchants/mer_all', who: olga },
    { name: 'merchant, suspended', path: '/merchants/mer_card', who: ana },
    { name: 'merchant, expired key', path: '/merchants/mer_development', who: ana },
    { name: 'merchants, searched', path: '/merchants?q=mer_', who: ana },
    { name: 'merchants, none found', path: '/merchants?q=nobody', who: ana },
    ...merchantKeys(ana),
    ...invitations(ana),
    { name: 'suspend', path: '/merchants/mer_transfer/suspend', who: ana },
    {
      name: 'suspend, no reason',
      path: '/merchants/mer_details/suspend',
      who: ana,
      status: 422,
      steps: press(/^Suspend/),
    },
    { name: 'resume', path: '/merchants/mer_card/resume', who: ana },
  ];
}

function invitations(ana: Client): Scene[] {
  const path = '/invitations';
  const invite = async (page: Page) => {
    await page.fill('#note', 'The Northern Brothers’ Musical Instruments, who asked for it by letter');
    await press('Create an invitation')(page);
    await page.waitForSelector('pre.copy');
  };
  const again = async (page: Page) => {
    await invite(page);
    await loaded(page, () => page.getByRole('link', { name: /continue/ }).click());
  };
  return [
    { name: 'invitations, none', path, who: ana },
    {
      name: 'invitations, wrongly',
      path,
      who: ana,
      status: 422,
      steps: async (page) => {
        await page.fill('#days', 'many');
        await press('Create an invitation')(page);
      },
    },
    { name: 'invitation', path, who: ana, steps: invite },
    {
      name: 'invitations',
      path,
      who: ana,
      steps: async (page) => {
        await again(page);
        await press(/^Revoke inv_/)(page);
        await page.waitForURL(/#main/);
      },
    },
  ];
}

function merchantKeys(ana: Client): Scene[] {
  const merchant = '/merchants/mer_transfer';
  const named = async (page: Page) => {
    await page.fill('#name', 'The till beside the door of the shop in Aberdeen, under the stairs');
    await page.check('#end-90');
    await press('Create the key')(page);
    await page.waitForSelector('pre.copy');
  };
  const rotated = async (page: Page) => {
    await follow(/^Rotate key_/)(page);
    await press('Create the new key')(page);
    await page.waitForSelector('pre.copy');
  };
  return [
    { name: 'make a key', path: `${merchant}/keys/new`, who: ana },
    {
      name: 'make a key, wrongly',
      path: `${merchant}/keys/new`,
      who: ana,
      status: 422,
      steps: async (page) => {
        await page.fill('#name', 'x'.repeat(100));
        await press('Create the key')(page);
      },
    },
    { name: 'new key', path: `${merchant}/keys/new`, who: ana, steps: named },
    { name: 'rotate a key', path: merchant, who: ana, steps: follow(/^Rotate key_/) },
    { name: 'new key in the place of another', path: merchant, who: ana, steps: rotated },
    { name: 'revoke a key', path: merchant, who: ana, steps: follow(/^Revoke key_/) },
    {
      name: 'merchant, keys',
      path: merchant,
      who: ana,
      steps: async (page) => {
        await follow(/^Revoke key_/)(page);
        await press('Revoke the key')(page);
        await page.waitForURL(/mer_transfer#/);
      },
    },
  ];
}
