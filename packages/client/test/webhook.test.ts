// verifyWebhook: what the service signs is verified, by the standard's vector too, and nothing else is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newWebhookSecret, signatureHeader } from '../../../src/webhooks/signing.ts';
import { verifyWebhook, WebhookVerificationError } from '../src/index.ts';

/** The golden vector of the Standard Webhooks project, from the tests of its libraries. */
const GOLDEN = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: '{"test": 2432232314}',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
};
const EVER = { toleranceS: Number.POSITIVE_INFINITY };
const BODY = '{"type":"payment.approved","text":"ä€😀"}';
const nowS = () => Math.floor(Date.now() / 1000);

/** The headers of a webhook with this body, signed now unless another second is given. */
function headersOf(
  secrets: string[],
  { body = BODY, at = nowS(), id = 'evt_1_2' } = {},
): Record<string, string> {
  const signature = signatureHeader(secrets, id, at, body);
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signature };
}

test('the golden vector is verified, in every form of body, headers and secret', async () => {
  const { body, headers, secret } = GOLDEN;
  const bytes = new TextEncoder().encode(body);
  const within = new Uint8Array([1, ...bytes, 2]).subarray(1, -1);
  const upper = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
  for (const one of [body, bytes, within, bytes.buffer as ArrayBuffer, Buffer.from(body)])
    for (const given of [headers, upper, new Headers(headers), new Map(Object.entries(headers)) as never])
      for (const by of [secret, secret.replace('whsec_', ''), [newWebhookSecret(), secret]])
        assert.deepEqual(await verifyWebhook(one, given, by, EVER), JSON.parse(body));
});

test('what the service signs is verified while secrets are replaced, on either side', async () => {
  const [old, fresh] = [newWebhookSecret(), newWebhookSecret()];
  for (const [signing, known] of [
    [[old], old],
    [[fresh, old], old],
    [[fresh, old], fresh],
    [[old], [fresh, old]],
  ] as const)
    assert.deepEqual(await verifyWebhook(BODY, headersOf([...signing]), known), JSON.parse(BODY));
  await assert.rejects(verifyWebhook(BODY, headersOf([fresh]), old), WebhookVerificationError);
});

test('nothing else is verified: another body, id, time, signature, or a header that is missing', async (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const secret = newWebhookSecret();
  const right = headersOf([secret]);
  const signature = right['webhook-signature']!;
  const late = (seconds: number) => headersOf([secret], { at: nowS() + seconds });
  const tries: [string | Uint8Array, Record<string, string | string[] | undefined>][] = [
    [`${BODY} `, right],
    ['', right],
    [new Uint8Array([...new TextEncoder().encode(BODY), 0xff]), right],
    [BODY, { ...right, 'webhook-id': 'evt_1_3' }],
    [BODY, { ...right, 'webhook-timestamp': String(nowS() + 1) }],
    ...['', '1e9', '-1', '0x5f', 'NaN', ' '].map((at): [string, object & typeof right] => [
      BODY,
      { ...right, 'webhook-timestamp': at },
    ]),
    [BODY, late(-305)],
    [BODY, late(305)],
    ...[
      '',
      'v1,',
      'v1,AAAA',
      'v1,%%%',
      signature.slice(3),
      signature.replace('v1', 'v1a'),
      signature.replace('v1', 'v2'),
    ].map((one): [string, typeof right] => [BODY, { ...right, 'webhook-signature': one }]),
    ...Object.keys(right).map((name): [string, Record<string, string | undefined>] => [
      BODY,
      { ...right, [name]: undefined },
    ]),
    [BODY, { ...right, 'webhook-signature': [signature, signature] }],
    [BODY, {}],
  ];
  for (const [body, headers] of tries)
    await assert.rejects(
      verifyWebhook(body, headers, secret),
      WebhookVerificationError,
      JSON.stringify(headers),
    );
  assert.ok(await verifyWebhook(BODY, late(-290), secret));
  await assert.rejects(verifyWebhook(BODY, late(-290), secret, { toleranceS: 60 }), WebhookVerificationError);
});

test('arguments with which nothing could be verified throw a TypeError: no secret, and a body that was parsed', async () => {
  const secret = newWebhookSecret();
  const headers = headersOf([secret]);
  for (const wrong of ['', 'whsec_', 'whsec_AAAA', 'not base64 at all!', undefined, [], [secret, '']])
    await assert.rejects(verifyWebhook(BODY, headers, wrong as string), TypeError, String(wrong));
  await assert.rejects(verifyWebhook(JSON.parse(BODY), headers, secret), TypeError);
});
