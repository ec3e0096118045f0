// Who may do what, in one table: every route of the service, everybody who might call it, and what they are answered.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, before, describe, test } from 'node:test';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { newSecret } from '../src/lib/secrets.ts';
import { ROUTINE_ACTS } from '../src/operate/rooms.ts';
import type { Acts } from '../src/web/act.ts';
import { SLUGS } from '../src/web/docs/pages.ts';
import { addPerson, entryCount, type Person } from './support/admin.ts';
import { formOf, MANY_SIGN_INS, signIn } from './support/console.ts';
import { isWhole } from './support/extent.ts';
import { type Harness, KEY, OTHER_KEY, startHarness } from './support/harness.ts';
import { idOfKey } from './support/keys.ts';
import { setState } from './support/store-merchant.ts';

/** Everybody there is. Whoever posts does so as from our own page and with the token of their form, but for the last five. */
const CALLERS = [
  'nobody',
  'auditor’s session',
  'reviewer’s session',
  'administrator’s session',
  'auditor’s token',
  'reviewer’s token',
  'administrator’s token',
  'unknown token',
  'merchant’s key',
  'suspended merchant’s key',
  'ended session',
  'session from another site',
  'session from nowhere said',
  'session without a form token',
  'session with a wrong form token',
] as const;
type Caller = (typeof CALLERS)[number];

/** Stands for what a route answers those it lets in. */
const IN = 'in';
type Expected = Record<Caller, number | typeof IN>;

const all = (status: number | typeof IN, but: Partial<Expected> = {}): Expected => ({
  ...(Object.fromEntries(CALLERS.map((caller) => [caller, status])) as Expected),
  ...but,
});

const OPEN = all(IN);
const MERCHANTS = all(401, { 'merchant’s key': IN, 'suspended merchant’s key': 403 });
const TOKENS_READ = all(401, { 'auditor’s token': IN, 'reviewer’s token': IN, 'administrator’s token': IN });
const TOKENS_DECIDE: Expected = { ...TOKENS_READ, 'auditor’s token': 403 };
const TOKENS_ADMINISTER: Expected = { ...TOKENS_DECIDE, 'reviewer’s token': 403 };
/** A page of the console: whoever is not signed in is led to where they can. What forms need, looking does not. */
const SESSIONS_READ = all(303, {
  'auditor’s session': IN,
  'reviewer’s session': IN,
  'administrator’s session': IN,
  'session from another site': IN,
  'session from nowhere said': IN,
  'session without a form token': IN,
  'session with a wrong form token': IN,
});
const SESSIONS_DECIDE: Expected = { ...SESSIONS_READ, 'auditor’s session': 403 };
const SESSIONS_ADMINISTER: Expected = { ...SESSIONS_DECIDE, 'reviewer’s session': 403 };
/** Where one signs in: whoever has is led on. */
const SIGNED_OUT = all(IN, {
  'auditor’s session': 303,
  'reviewer’s session': 303,
  'administrator’s session': 303,
  'session from another site': 303,
  'session from nowhere said': 303,
  'session without a form token': 303,
  'session with a wrong form token': 303,
});
/** A form of the console. */
const FORMS_READ = all(401, {
  'auditor’s session': IN,
  'reviewer’s session': IN,
  'administrator’s session': IN,
  'session from another site': 403,
  'session from nowhere said': 403,
  'session without a form token': 403,
  'session with a wrong form token': 403,
});
const FORMS_DECIDE: Expected = { ...FORMS_READ, 'auditor’s session': 403 };
const FORMS_ADMINISTER: Expected = { ...FORMS_DECIDE, 'reviewer’s session': 403 };
/** A form that there is none of: nothing is done with it, whatever its token. */
const FORMS_NOWHERE: Expected = {
  ...FORMS_READ,
  'session without a form token': IN,
  'session with a wrong form token': IN,
};
const FORMS_NOWHERE_ADMINISTER: Expected = {
  ...FORMS_ADMINISTER,
  'session without a form token': IN,
  'session with a wrong form token': IN,
};
const FORMS_NOWHERE_DECIDE: Expected = {
  ...FORMS_DECIDE,
  'session without a form token': IN,
  'session with a wrong form token': IN,
};
/** The forms before anybody is signed in, whose token is that of a cookie which comes with the page. Who is signed in has their session's. */
const DOORS = all(403, {
  'auditor’s session': IN,
  'reviewer’s session': IN,
  'administrator’s session': IN,
});

type Role = Person['role'];

interface Row {
  route: string;
  expected: Expected;
  /** What those who are let in are answered; about a payment that was cancelled and an entry that is not there, or to an empty form. */
  in: number;
  /** What is posted: JSON, or the fields of a form. */
  body?: object;
  /** The media type of the body, where it is neither. */
  type?: string;
}

/** The routine acts of one kind of thing, all of which administrators alone may do. The merchant is there, other things are not. */
const rowsOfActs = ({ page, admin, acts }: Acts<never>): Row[] =>
  acts.flatMap(({ name, takes, endpoint }) => {
    const isThere = page.includes('/:merchant_id');
    const expected = isThere ? FORMS_ADMINISTER : FORMS_NOWHERE_ADMINISTER;
    const form: Row = {
      route: `POST /console${page}/${name}`,
      expected,
      in: isThere ? (takes ? 422 : 303) : 404,
    };
    const question = `GET /console${page}/${name}`;
    const rows = [{ route: question, expected: SESSIONS_ADMINISTER, in: isThere ? 200 : 404 }, form];
    const route = `POST ${admin?.replace(/\{(\w+)\}/, ':$1')}/${name}`;
    const body = takes && { body: {} };
    return endpoint
      ? [...rows, { route, expected: TOKENS_ADMINISTER, in: takes ? 422 : 404, ...body }]
      : rows;
  });

const ROWS: Row[] = [
  { route: 'GET /health', expected: OPEN, in: 200 },
  { route: 'GET /health/ready', expected: OPEN, in: 200 },
  { route: 'GET /openapi.json', expected: OPEN, in: 200 },
  { route: 'GET /', expected: OPEN, in: 200 },
  { route: 'GET /dev/inbox', expected: OPEN, in: 200 },
  { route: 'POST /dev/inbox', expected: all(IN, { 'session from another site': 403 }), in: 303, body: {} },
  { route: 'GET /dev/mail', expected: OPEN, in: 200 },
  { route: 'GET /mail/unsubscribe', expected: OPEN, in: 404 },
  { route: 'POST /mail/unsubscribe', expected: OPEN, in: 404, body: {} },
  { route: 'GET /verify', expected: OPEN, in: 200 },
  { route: 'GET /robots.txt', expected: OPEN, in: 200 },
  { route: 'GET /favicon.ico', expected: OPEN, in: 200 },

  { route: 'GET /v1/payments', expected: MERCHANTS, in: 200 },
  { route: 'POST /v1/payments', expected: MERCHANTS, in: 422, body: {} },
  { route: 'GET /v1/payments/:payment_id', expected: MERCHANTS, in: 200 },
  { route: 'GET /v1/payments/:payment_id/events', expected: MERCHANTS, in: 200 },
  { route: 'GET /v1/events', expected: MERCHANTS, in: 200 },
  { route: 'GET /v1/events/stream', expected: MERCHANTS, in: 422 },
  { route: 'GET /v1/events/:event_id', expected: MERCHANTS, in: 404 },
  { route: 'POST /v1/payments/:payment_id/cancel', expected: MERCHANTS, in: 409, body: {} },
  { route: 'POST /v1/payments/:payment_id/send_link', expected: MERCHANTS, in: 409 },
  { route: 'POST /v1/test/payments/:payment_id/submit', expected: MERCHANTS, in: 409 },
  { route: 'POST /v1/test/payments/:payment_id/approve', expected: MERCHANTS, in: 409 },
  { route: 'POST /v1/test/payments/:payment_id/reject', expected: MERCHANTS, in: 409, body: {} },
  { route: 'POST /v1/test/payments/:payment_id/expire', expected: MERCHANTS, in: 409 },
  { route: 'POST /v1/test/payments/:payment_id/request_link', expected: MERCHANTS, in: 409 },
  { route: 'GET /v1/api_keys', expected: MERCHANTS, in: 200 },
  { route: 'POST /v1/api_keys', expected: MERCHANTS, in: 422, body: { name: 1 } },
  { route: 'GET /v1/api_keys/:key_id', expected: MERCHANTS, in: 404 },
  { route: 'POST /v1/api_keys/:key_id/rotate', expected: MERCHANTS, in: 404, body: {} },
  { route: 'POST /v1/api_keys/:key_id/revoke', expected: MERCHANTS, in: 404, body: {} },

  { route: 'GET /v1/webhook_endpoints', expected: MERCHANTS, in: 200 },
  { route: 'POST /v1/webhook_endpoints', expected: MERCHANTS, in: 422, body: {} },
  { route: 'GET /v1/webhook_endpoints/:endpoint_id', expected: MERCHANTS, in: 404 },
  { route: 'PATCH /v1/webhook_endpoints/:endpoint_id', expected: MERCHANTS, in: 404, body: {} },
  { route: 'DELETE /v1/webhook_endpoints/:endpoint_id', expected: MERCHANTS, in: 404 },
  { route: 'POST /v1/webhook_endpoints/:endpoint_id/rotate_secret', expected: MERCHANTS, in: 404 },
  { route: 'POST /v1/webhook_endpoints/:endpoint_id/test', expected: MERCHANTS, in: 404 },
  { route: 'POST /v1/webhook_endpoints/:endpoint_id/resend', expected: MERCHANTS, in: 422, body: {} },
  { route: 'GET /v1/webhook_endpoints/:endpoint_id/deliveries', expected: MERCHANTS, in: 404 },
  { route: 'GET /v1/deliveries/:delivery_id', expected: MERCHANTS, in: 404 },
  { route: 'POST /v1/deliveries/:delivery_id/resend', expected: MERCHANTS, in: 404 },

  { route: 'GET /register', expected: OPEN, in: 200 },
  { route: 'POST /register', expected: OPEN, in: 422, body: {} },
  {
    route: 'POST /register/csp-report',
    expected: OPEN,
    in: 204,
    type: 'application/csp-report',
    body: {},
  },

  { route: 'GET /payment.php', expected: OPEN, in: 200 },
  { route: 'POST /payment.php', expected: OPEN, in: 403 },
  { route: 'GET /llms.txt', expected: OPEN, in: 200 },
  ...['', ...SLUGS.flatMap((slug) => [`/${slug}`, `/${slug}.md`])].map((path) => ({
    route: `GET /docs${path}`,
    expected: OPEN,
    in: 200,
  })),
  { route: 'GET /docs/*', expected: OPEN, in: 404 },
  { route: 'POST /docs/csp-report', expected: OPEN, in: 204, type: 'application/csp-report', body: {} },
  { route: 'POST /csp-report', expected: OPEN, in: 204, type: 'application/csp-report', body: {} },
  { route: 'POST /console/csp-report', expected: OPEN, in: 204, type: 'application/csp-report', body: {} },

  { route: 'GET /admin/payments', expected: TOKENS_READ, in: 200 },
  { route: 'GET /admin/payments/:payment_id', expected: TOKENS_READ, in: 200 },
  { route: 'POST /admin/payments/:payment_id/approve', expected: TOKENS_DECIDE, in: 409, body: {} },
  {
    route: 'POST /admin/payments/:payment_id/reject',
    expected: TOKENS_DECIDE,
    in: 409,
    body: { reason: 'other' },
  },
  { route: 'POST /admin/payments/:payment_id/record', expected: TOKENS_DECIDE, in: 422, body: {} },
  { route: 'GET /admin/audit/entries', expected: TOKENS_READ, in: 200 },
  { route: 'GET /admin/audit/entries/:number', expected: TOKENS_READ, in: 404 },
  { route: 'GET /admin/audit/seal', expected: TOKENS_READ, in: 200 },
  { route: 'GET /admin/audit/checkpoint', expected: TOKENS_READ, in: 200 },
  { route: 'GET /admin/statements', expected: TOKENS_READ, in: 200 },
  { route: 'GET /admin/statement_lines', expected: TOKENS_READ, in: 200 },
  { route: 'POST /admin/statements', expected: TOKENS_DECIDE, in: 422, body: {} },
  { route: 'GET /admin/statement_imports/:import_id', expected: TOKENS_READ, in: 404 },
  { route: 'POST /admin/statements/:statement_id/undo', expected: TOKENS_DECIDE, in: 404 },
  { route: 'GET /admin/webhook_endpoints', expected: TOKENS_READ, in: 200 },
  { route: 'GET /admin/webhook_endpoints/:endpoint_id', expected: TOKENS_READ, in: 404 },
  { route: 'GET /admin/webhook_endpoints/:endpoint_id/deliveries', expected: TOKENS_READ, in: 404 },
  { route: 'GET /admin/deliveries/:delivery_id', expected: TOKENS_READ, in: 404 },
  { route: 'POST /admin/deliveries/:delivery_id/resend', expected: TOKENS_ADMINISTER, in: 404 },

  { route: 'GET /console', expected: SESSIONS_READ, in: 200 },
  { route: 'POST /console', expected: FORMS_NOWHERE, in: 404 },
  { route: 'GET /console/*', expected: SESSIONS_READ, in: 404 },
  { route: 'POST /console/*', expected: FORMS_NOWHERE, in: 404 },

  { route: 'GET /console/sign-in', expected: SIGNED_OUT, in: 200 },
  { route: 'POST /console/sign-in', expected: DOORS, in: 422 },
  { route: 'GET /console/set-up', expected: OPEN, in: 404 },
  {
    route: 'POST /console/set-up',
    expected: all(IN, { 'session from another site': 403, 'session from nowhere said': 403 }),
    in: 404,
  },
  { route: 'GET /console/sign-out', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/sign-out', expected: FORMS_READ, in: 303 },

  { route: 'GET /console/account', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/account/authenticator', expected: SESSIONS_READ, in: 200 },
  { route: 'POST /console/account/authenticator', expected: FORMS_READ, in: 422 },
  { route: 'GET /console/account/passkeys', expected: SESSIONS_READ, in: 200 },
  { route: 'POST /console/account/passkeys', expected: FORMS_READ, in: 422 },
  { route: 'GET /console/account/password', expected: SESSIONS_READ, in: 200 },
  { route: 'POST /console/account/password', expected: FORMS_READ, in: 422 },
  { route: 'GET /console/account/recovery-codes', expected: SESSIONS_READ, in: 200 },
  { route: 'POST /console/account/recovery-codes', expected: FORMS_READ, in: 422 },
  { route: 'GET /console/account/passkeys/remove', expected: SESSIONS_READ, in: 404 },
  { route: 'POST /console/account/passkeys/remove', expected: FORMS_NOWHERE, in: 404 },
  { route: 'GET /console/account/recovery-codes/file', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/account/recovery-codes/file', expected: FORMS_READ, in: 400 },
  { route: 'GET /console/account/sessions', expected: SESSIONS_READ, in: 200 },
  { route: 'POST /console/account/sessions', expected: FORMS_READ, in: 422 },

  { route: 'GET /console/queue', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/queue/next', expected: SESSIONS_READ, in: 303 },
  { route: 'GET /console/queue/new', expected: SESSIONS_READ, in: 422 },
  { route: 'GET /console/payments', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/payments.csv', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/payments.ndjson', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/payments/:payment_id', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/payments/:payment_id/approve', expected: SESSIONS_DECIDE, in: 409 },
  { route: 'POST /console/payments/:payment_id/approve', expected: FORMS_DECIDE, in: 409 },
  { route: 'GET /console/payments/:payment_id/reject', expected: SESSIONS_DECIDE, in: 409 },
  {
    route: 'POST /console/payments/:payment_id/reject',
    expected: FORMS_DECIDE,
    in: 409,
    body: { reason: 'other' },
  },
  { route: 'GET /console/payments/:payment_id/record', expected: SESSIONS_DECIDE, in: 200 },
  { route: 'POST /console/payments/:payment_id/record', expected: FORMS_DECIDE, in: 409 },
  { route: 'GET /console/payments/:payment_id/claim', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/payments/:payment_id/claim', expected: FORMS_DECIDE, in: 409 },
  { route: 'GET /console/payments/:payment_id/release', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/payments/:payment_id/release', expected: FORMS_DECIDE, in: 303 },
  { route: 'GET /console/payments/:payment_id/notes', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/payments/:payment_id/notes', expected: FORMS_DECIDE, in: 422 },

  { route: 'GET /console/statements', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/statements/import', expected: SESSIONS_DECIDE, in: 200 },
  { route: 'POST /console/statements/import', expected: FORMS_DECIDE, in: 422 },
  { route: 'GET /console/statements/import/:import_id', expected: SESSIONS_READ, in: 404 },
  { route: 'GET /console/statements/several', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/statements/several', expected: FORMS_DECIDE, in: 422 },
  { route: 'GET /console/statements/rules', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/statements/rules/:rule_id/end', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/statements/rules/:rule_id/end', expected: FORMS_DECIDE, in: 404 },
  { route: 'GET /console/statements/undo', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/statements/undo', expected: FORMS_DECIDE, in: 404 },
  { route: 'GET /console/statements/paste', expected: SESSIONS_DECIDE, in: 200 },
  { route: 'POST /console/statements/paste', expected: FORMS_DECIDE, in: 422 },
  { route: 'GET /console/statements/export', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/statements/lines.csv', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/statements/lines.ndjson', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/statements/report', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/statements/report.csv', expected: SESSIONS_READ, in: 422 },
  { route: 'GET /console/statements/report.ndjson', expected: SESSIONS_READ, in: 422 },
  { route: 'GET /console/statements/certain', expected: SESSIONS_DECIDE, in: 200 },
  { route: 'POST /console/statements/certain', expected: FORMS_DECIDE, in: 200 },
  { route: 'GET /console/statements/lines/:line_id', expected: SESSIONS_READ, in: 404 },
  { route: 'GET /console/statements/lines/:line_id/accept', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/statements/lines/:line_id/accept', expected: FORMS_NOWHERE_DECIDE, in: 404 },
  { route: 'GET /console/statements/lines/:line_id/approve', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/statements/lines/:line_id/approve', expected: FORMS_NOWHERE_DECIDE, in: 404 },
  { route: 'GET /console/statements/lines/:line_id/for', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/statements/lines/:line_id/for', expected: FORMS_NOWHERE_DECIDE, in: 404 },
  { route: 'GET /console/statements/lines/:line_id/ignore', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/statements/lines/:line_id/ignore', expected: FORMS_NOWHERE_DECIDE, in: 404 },
  { route: 'GET /console/statements/lines/:line_id/split', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/statements/lines/:line_id/split', expected: FORMS_NOWHERE_DECIDE, in: 404 },
  { route: 'GET /console/statements/lines/:line_id/reopen', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/statements/lines/:line_id/reopen', expected: FORMS_NOWHERE_DECIDE, in: 404 },

  { route: 'GET /console/audit', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/audit/verify', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/audit/verify', expected: FORMS_READ, in: 303 },
  { route: 'GET /console/audit/checkpoints', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/audit/key', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/health', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/help', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/session', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/session/left', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/merchants', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/merchants/:merchant_id', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/merchants/:merchant_id/keys/new', expected: SESSIONS_ADMINISTER, in: 200 },
  { route: 'POST /console/merchants/:merchant_id/keys/new', expected: FORMS_ADMINISTER, in: 422 },
  {
    route: 'GET /console/merchants/:merchant_id/keys/:key_id/rotate',
    expected: SESSIONS_ADMINISTER,
    in: 409,
  },
  {
    route: 'POST /console/merchants/:merchant_id/keys/:key_id/rotate',
    expected: FORMS_NOWHERE_ADMINISTER,
    in: 409,
  },
  {
    route: 'GET /console/merchants/:merchant_id/keys/:key_id/revoke',
    expected: SESSIONS_ADMINISTER,
    in: 404,
  },
  {
    route: 'POST /console/merchants/:merchant_id/keys/:key_id/revoke',
    expected: FORMS_NOWHERE_ADMINISTER,
    in: 404,
  },
  { route: 'GET /console/invitations', expected: SESSIONS_ADMINISTER, in: 200 },
  { route: 'POST /console/invitations', expected: FORMS_ADMINISTER, in: 422 },
  { route: 'GET /console/invitations/:invite_id/revoke', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/invitations/:invite_id/revoke', expected: FORMS_ADMINISTER, in: 404 },
  { route: 'GET /console/mail', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/mail/again', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/mail/again', expected: FORMS_DECIDE, in: 409, body: {} },
  { route: 'GET /console/mail/link', expected: SESSIONS_READ, in: 303 },
  { route: 'GET /console/mail/trial', expected: SESSIONS_READ, in: 303 },
  { route: 'POST /console/mail/link', expected: FORMS_DECIDE, in: 404, body: {} },
  { route: 'POST /console/mail/trial', expected: FORMS_ADMINISTER, in: 200 },
  { route: 'GET /console/account/letters', expected: SESSIONS_READ, in: 200 },
  { route: 'POST /console/account/letters', expected: FORMS_READ, in: 422 },
  { route: 'GET /console/webhooks', expected: SESSIONS_READ, in: 200 },
  { route: 'GET /console/webhooks/:endpoint_id', expected: SESSIONS_READ, in: 404 },
  { route: 'GET /console/webhooks/:endpoint_id/deliveries/:delivery_id', expected: SESSIONS_READ, in: 404 },
  {
    route: 'GET /console/webhooks/:endpoint_id/deliveries/:delivery_id/resend',
    expected: SESSIONS_READ,
    in: 303,
  },
  {
    route: 'POST /console/webhooks/:endpoint_id/deliveries/:delivery_id/resend',
    expected: FORMS_NOWHERE_ADMINISTER,
    in: 404,
  },
  ...ROUTINE_ACTS.flatMap(rowsOfActs),
  // Last: it opens the payment again that the others find decided.
  { route: 'POST /v1/test/payments/:payment_id/record', expected: MERCHANTS, in: 200 },
];

/** A key whose page can be looked at, for the form on it that nobody fills in. */
const ROTATED = idOfKey(KEY);
const UNKNOWN_KEY = `key_${'0'.repeat(16)}`;
/** Whoever is let in has no session afterwards. */
const ENDS_SESSIONS = /^POST .*\/sign-out$/;
/** What browsers load for the pages, by the digest of its content. */
const ASSET = /^GET (\/console|\/docs|\/register)?\/assets\/(\*|[\w-]+\.[\w-]{12}\.(css|js|svg|png|woff2))$/;

describe('who may do what', () => {
  let service: Harness;
  let routes: Set<string>;
  let people: Record<Role, Person>;
  let payment: string;
  let calls = 0;

  before(async () => {
    const added: RouteOptions[] = [];
    const watch = (message: unknown) => {
      (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', (route) => void added.push(route));
    };
    subscribe('fastify.initialization', watch);
    service = await startHarness('sqlite', { configuration: `trust_proxy: [127.0.0.1]\n${MANY_SIGN_INS}` });
    unsubscribe('fastify.initialization', watch);
    // Now, for each route of GET was given HEAD behind the hook.
    routes = new Set(added.flatMap(({ method, url }) => [method].flat().map((one) => `${one} ${url}`)));
    const roles = ['administrator', 'reviewer', 'auditor'] as const;
    const everybody = await Promise.all(roles.map((role) => addPerson(service, role)));
    people = Object.fromEntries(everybody.map((person) => [person.role, person])) as Record<Role, Person>;
    payment = (await service.create()).id;
    await service.request(`/v1/payments/${payment}/cancel`, { method: 'POST' });
    await service.stop(); // signs a checkpoint
    await service.start();
    await setState(service, 'mer_other', 'suspended');
    service.clock.stop(); // no session ends before its turn has come
  });
  after(() => service.close());

  test('every route of the service stands in the table, and no other.', () => {
    const found = [...routes].filter((route) => !route.startsWith('HEAD ') && !ASSET.test(route));
    assert.deepEqual(found.toSorted(), ROWS.map(({ route }) => route).toSorted());
    const heads = [...routes].filter((route) => route.startsWith('HEAD '));
    assert.ok(heads.includes('HEAD /v1/payments') && heads.includes('HEAD /console/account'));
    for (const route of heads) assert.ok(routes.has(route.replace('HEAD', 'GET')), route);
  });

  async function session(role: Role) {
    const client = await signIn(service, role);
    const page = await client.get('/account');
    const cookie = `counterfoil_session=${client.cookies.get('counterfoil_session')}`;
    return {
      cookie,
      token: formOf(page, 'Sign out').values.token!,
      end: () => client.send(page, {}, 'Sign out'),
    };
  }

  interface Sent {
    headers: Record<string, string>;
    token: string;
  }

  type Session = Awaited<ReturnType<typeof session>>;
  const sessions = new Map<string, Session>();
  /** The session of a role, or another one that a caller has: the same in each call, until one has ended it. */
  async function sessionOf(role: Role, caller: string = role): Promise<Session> {
    const one = sessions.get(caller) ?? (await session(role));
    sessions.set(caller, one);
    return one;
  }

  async function credentialsOf(caller: Caller): Promise<Sent> {
    const own = { 'sec-fetch-site': 'same-origin', origin: service.origin };
    const bearer = (secret: string): Sent => ({
      headers: { ...own, authorization: `Bearer ${secret}` },
      token: 'x',
    });
    const [whose, what] = caller.split('’s ') as [Role, string | undefined];
    if (what === 'token') return bearer(people[whose].token);
    if (what === 'session') {
      const { cookie, token } = await sessionOf(whose);
      return { headers: { ...own, cookie }, token };
    }
    if (caller === 'nobody') return { headers: own, token: 'x' };
    if (caller === 'unknown token') return bearer(newSecret('cfa_'));
    if (caller === 'merchant’s key') return bearer(KEY);
    if (caller === 'suspended merchant’s key') return bearer(OTHER_KEY);
    if (caller === 'ended session') {
      const isNew = !sessions.has(caller);
      const { cookie, token, end } = await sessionOf('administrator', caller);
      if (isNew) await end();
      return { headers: { ...own, cookie }, token };
    }
    const { cookie, token } = await sessionOf('administrator');
    const headers: Record<string, string> = { ...own, cookie };
    if (caller === 'session from another site')
      return { headers: { cookie, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, token };
    if (caller === 'session from nowhere said') return { headers: { cookie }, token };
    if (caller === 'session without a form token') return { headers, token: '' };
    const other = await sessionOf('administrator', caller);
    return { headers, token: other.token };
  }

  const addressOf = (route: string) =>
    route
      .split(' ')[1]!
      .replace('/events/stream', '/events/stream?after=x')
      .replace(':payment_id', payment)
      .replace(/:key_id(?=\/rotate)/, route.includes('/console/') ? ROTATED : UNKNOWN_KEY)
      .replace(':key_id', UNKNOWN_KEY)
      .replace('payment.php', `payment.php?payment_id=${payment}`)
      .replace(':merchant_id', route.endsWith('/resume') ? 'mer_other' : 'mer_development')
      .replace(':endpoint_id', `whe_${'0'.repeat(36)}`)
      .replace(':delivery_id', `dlv_${'0'.repeat(36)}`)
      .replace(':invite_id', 'inv_none')
      .replace(':number', '999999999')
      .replace(/\/\*$/, '/nowhere');

  async function call(
    method: string,
    { route, body = {}, type }: Row,
    { headers, token }: Sent,
  ): Promise<number> {
    headers['x-forwarded-for'] = `10.${(++calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`;
    const isJson = /^(?:POST|PATCH) \/(v1|admin|register|csp-report|(console|docs)\/csp-report)\b/.test(
      route,
    );
    if (method !== 'POST' && method !== 'PATCH') return request(method, addressOf(route), headers);
    const fields = new URLSearchParams({ ...(body as Record<string, string>), ...(token && { token }) });
    headers['content-type'] = type ?? (isJson ? 'application/json' : 'application/x-www-form-urlencoded');
    return request(method, addressOf(route), headers, isJson ? JSON.stringify(body) : fields.toString());
  }

  /** Asks the service without a connection, of which none of the answers is made. */
  async function request(method: string, url: string, headers: Record<string, string>, payload = '') {
    const { app } = service.service;
    const { statusCode } = await app.inject({ method: method as 'GET', url, headers, payload });
    return statusCode;
  }

  /**
   * In `npm test`, looking is tried by one of each kind: what forms need, it does not, and what is open is open to a session, a key and
   * nobody alike.
   */
  function callersOf({ route, expected }: Row): readonly Caller[] {
    if (isWhole || !route.startsWith('GET ')) return CALLERS;
    if (expected === OPEN) return ['nobody', 'merchant’s key', 'ended session', 'session from another site'];
    return CALLERS.filter((caller) => !/^session (from nowhere|with)/.test(caller));
  }

  /** What callers are answered who are let in, or who are refused and change nothing by what they send. */
  async function requireAnswers(row: Row, areIn: boolean): Promise<void> {
    const [verb] = row.route.split(' ') as [string];
    const wanted: Record<string, number> = {};
    const got: Record<string, number> = {};
    const calledAs = callersOf(row).filter((caller) => (row.expected[caller] === IN) === areIn);
    for (const caller of calledAs) await credentialsOf(caller); // their sessions begin with entries
    const entries = areIn ? 0 : await entryCount(service);
    const hasHead = verb === 'GET' && routes.has(row.route.replace('GET', 'HEAD'));
    for (const method of hasHead ? ['GET', 'HEAD'] : [verb]) {
      // HEAD is answered by the route of GET, with its hooks.
      for (const caller of method === 'HEAD' && !isWhole ? calledAs.slice(0, 1) : calledAs) {
        const expected = row.expected[caller];
        wanted[`${method} as ${caller}`] = expected === IN ? row.in : expected;
        got[`${method} as ${caller}`] = await call(method, row, await credentialsOf(caller));
      }
    }
    assert.deepEqual(got, wanted);
    if (!areIn) assert.equal(await entryCount(service), entries, `somebody who is refused ${row.route}`);
    if (ENDS_SESSIONS.test(row.route)) sessions.clear();
  }

  // First, while nothing that was let in can still be at work.
  for (const row of ROWS)
    test(`${row.route}: who is refused changes nothing.`, () => requireAnswers(row, false));
  for (const row of ROWS) test(`${row.route}.`, () => requireAnswers(row, true));

  test('no row is another than its last entry says.', async () => {
    await service.verify();
  });
});
