// What we sign is what Standard Webhooks verifies, and nothing but what was signed passes our own verification.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { hasValidSignature, newWebhookSecret, signatureHeader } from '../../src/webhooks/signing.ts';

/** The golden vector of the Standard Webhooks project, from the tests of its libraries. */
const GOLDEN = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  at: 1614265330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

const golden = (changes: Record<string, unknown> = {}, nowS = GOLDEN.at) => ({
  secrets: [GOLDEN.secret],
  headers: {
    'webhook-id': GOLDEN.id,
    'webhook-timestamp': String(GOLDEN.at),
    'webhook-signature': GOLDEN.signature,
    ...(changes.headers as object),
  },
  body: (changes.body as string | Buffer | undefined) ?? GOLDEN.body,
  now: nowS * 1000,
});

test('the golden vector of Standard Webhooks is signed and verified as the project has it', () => {
  assert.equal(signatureHeader([GOLDEN.secret], GOLDEN.id, GOLDEN.at, GOLDEN.body), GOLDEN.signature);
  assert.ok(hasValidSignature(golden()));
  assert.ok(hasValidSignature(golden({ body: Buffer.from(GOLDEN.body) })));
});

test('a new secret is whsec_ and 32 bytes, never the same, and the package of Standard Webhooks verifies what it signed', () => {
  const secrets = Array.from({ length: 50 }, newWebhookSecret);
  assert.equal(new Set(secrets).size, 50);
  const at = Math.floor(Date.now() / 1000);
  for (const [n, secret] of secrets.entries()) {
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const body = JSON.stringify({ type: 'payment.approved', data: { n, text: 'ä€😀' } });
    const headers = {
      'webhook-id': 'evt_1_2',
      'webhook-timestamp': String(at),
      'webhook-signature': signatureHeader([newWebhookSecret(), secret], 'evt_1_2', at, body),
    };
    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
    assert.ok(hasValidSignature({ secrets: [secret], headers, body, now: at * 1000 }));
    assert.ok(!hasValidSignature({ secrets: [newWebhookSecret()], headers, body, now: at * 1000 }));
  }
});

test('while a secret is replaced, the header holds a signature of each, and either verifies it', () => {
  const [old, fresh] = [newWebhookSecret(), newWebhookSecret()];
  const header = signatureHeader([fresh, old], GOLDEN.id, GOLDEN.at, GOLDEN.body);
  assert.equal(header.split(' ').length, 2);
  for (const secret of [old, fresh])
    assert.ok(
      hasValidSignature({ ...golden({ headers: { 'webhook-signature': header } }), secrets: [secret] }),
    );
});

test('a change of one bit anywhere in the body, the id, the time or the signature is refused', () => {
  const refused = (changes: Record<string, unknown>) =>
    assert.equal(hasValidSignature(golden(changes)), false, JSON.stringify(changes));
  const bytes = Buffer.from(GOLDEN.body);
  for (let i = 0; i < bytes.length * 8; i++) {
    const changed = Buffer.from(bytes);
    changed[i >> 3]! ^= 1 << (i & 7);
    refused({ body: changed });
  }
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const) {
    const value = golden().headers[name];
    for (let i = 0; i < value.length; i++)
      for (const bit of [1, 2, 4, 8, 16, 32])
        refused({
          headers: {
            [name]: value.slice(0, i) + String.fromCharCode(value.charCodeAt(i) ^ bit) + value.slice(i + 1),
          },
        });
  }
  refused({ body: `${GOLDEN.body}\n` });
  refused({ body: JSON.stringify(JSON.parse(GOLDEN.body)) });
});

test('a time more than 5 minutes away is refused, in either direction', () => {
  for (const seconds of [-300, -1, 0, 1, 300])
    assert.ok(hasValidSignature(golden({}, GOLDEN.at + seconds)), `${seconds} s`);
  for (const seconds of [-86_400, -301, 301, 86_400])
    assert.ok(!hasValidSignature(golden({}, GOLDEN.at + seconds)), `${seconds} s`);
});

test('headers of another form are refused, also where the package takes them', () => {
  const { secret, id, body } = GOLDEN;
  const times = [
    ' 1614265330',
    '1614265330 ',
    '+1614265330',
    '01614265330',
    '1614265330.0',
    '0x603796b2',
    '1.61426533e9',
    '1614265330abc',
    '-1',
    '',
    'NaN',
  ];
  for (const timestamp of times) {
    // Signed rightly for this very text, so that nothing but its form is wrong.
    const right = signedText(secret, `${id}.${timestamp}.${body}`);
    assert.ok(
      !hasValidSignature(golden({ headers: { 'webhook-timestamp': timestamp, 'webhook-signature': right } })),
      timestamp,
    );
  }
  const bare = GOLDEN.signature.slice(3);
  const signatures = [
    '',
    'v1',
    'v1,',
    bare,
    `v2,${bare}`,
    `v1a,${bare}`,
    `V1,${bare}`,
    `v1, ${bare}`,
    `v1,${bare.slice(0, -1)}`,
    `v1,${bare}=`,
    `,${GOLDEN.signature}`,
    `${GOLDEN.signature},v1`,
  ];
  for (const signature of signatures)
    assert.ok(!hasValidSignature(golden({ headers: { 'webhook-signature': signature } })), signature);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    for (const value of [undefined, [golden().headers['webhook-id']]])
      assert.ok(!hasValidSignature(golden({ headers: { [name]: value } })), `${name} ${value}`);
  const dotted = signedText(secret, `a.b.${GOLDEN.at}.${body}`);
  assert.ok(!hasValidSignature(golden({ headers: { 'webhook-id': 'a.b', 'webhook-signature': dotted } })));
  const others = `v1,AAAA v2,${bare} v1a,x ${GOLDEN.signature}`;
  assert.ok(
    hasValidSignature(golden({ headers: { 'webhook-signature': others } })),
    'unknown ones beside a right one',
  );
});

function signedText(secret: string, text: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

test('nothing is signed with a secret, an id or a time of another form', () => {
  const secrets = [
    '',
    'whsec_',
    GOLDEN.secret.slice(6),
    `${GOLDEN.secret}!`,
    'whsec_c2hvcnQ=',
    `whsec_${Buffer.alloc(65).toString('base64')}`,
  ];
  for (const secret of secrets)
    assert.throws(
      () => signatureHeader([secret], GOLDEN.id, GOLDEN.at, ''),
      { code: 'ERR_ASSERTION' },
      secret,
    );
  assert.throws(() => signatureHeader([], GOLDEN.id, GOLDEN.at, ''));
  assert.throws(() => signatureHeader([GOLDEN.secret], 'a.b', GOLDEN.at, ''));
  assert.throws(() => signatureHeader([GOLDEN.secret], GOLDEN.id, 1.5, ''));
});
