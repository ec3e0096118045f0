// The programs of docs/webhooks.md: each takes what we sign, and refuses another body, another secret and an old timestamp.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { newWebhookSecret, signatureHeader } from '../../src/webhooks/signing.ts';
import { ROOT } from '../support/command.ts';

const page = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');
const programs = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text]) => text!);

const BODY = '{"type": "payment.approved", "text": "ä€😀"}';
const [old, secret] = [newWebhookSecret(), newWebhookSecret()];

function headersAt(seconds: number) {
  const signature = signatureHeader([old, secret], 'evt_1', seconds, BODY);
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature,
  };
}

/** The signature that anybody can make who guesses a secret. */
function forged(weak: string, seconds: number): string {
  const key = Buffer.from(weak.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`evt_1.${seconds}.${BODY}`).digest('base64')}`;
}

/** Requests, and whether they are to be taken. */
function cases() {
  const now = Math.floor(Date.now() / 1000);
  const headers = headersAt(now);
  return [
    { takes: true, secret, headers, body: BODY },
    { takes: true, secret: old, headers, body: BODY },
    { takes: false, secret, headers, body: `${BODY} ` },
    { takes: false, secret: newWebhookSecret(), headers, body: BODY },
    { takes: false, secret, headers: headersAt(now - 400), body: BODY },
    { takes: false, secret, headers: headersAt(now + 400), body: BODY },
    { takes: false, secret, headers: { ...headers, 'webhook-id': 'evt_2' }, body: BODY },
    { takes: false, secret, headers: { ...headers, 'webhook-signature': 'v1,' }, body: BODY },
    { takes: false, secret, headers: { ...headers, 'webhook-signature': 'v1,ä' }, body: BODY },
    { takes: false, secret, headers: {}, body: BODY },
    // A variable that is not set gives a key that everybody knows.
    ...['', 'whsec_', 'whsec_AAAA'].map((weak) => ({
      takes: false,
      secret: weak,
      headers: { ...headers, 'webhook-signature': forged(weak, now) },
      body: BODY,
    })),
  ];
}

const folder = () => mkdtempSync(join(tmpdir(), 'counterfoil-documents-'));
const expected = JSON.stringify(cases().map(({ takes }) => takes));

test('the program for Node', async () => {
  const [program, more] = programs('js');
  assert.ok(program !== undefined && more === undefined);
  const file = join(folder(), 'verify.mjs');
  writeFileSync(file, program);
  const { verify } = await import(file);
  const taken = cases().map((one) => {
    try {
      return verify(one.secret, one.headers, Buffer.from(one.body)).type === 'payment.approved';
    } catch {
      return false;
    }
  });
  assert.equal(JSON.stringify(taken), expected);
});

const hasPython = spawnSync('python3', ['--version']).status === 0;

test('the program for Python', { skip: !hasPython && 'python3 is not installed' }, () => {
  const [program, more] = programs('python');
  assert.ok(program !== undefined && more === undefined);
  const file = join(folder(), 'verify.py');
  const run = `
import sys
def takes(one):
    try:
        return verify(one["secret"], one["headers"], one["body"].encode())["type"] == "payment.approved"
    except ValueError:
        return False
print(json.dumps([takes(one) for one in json.load(sys.stdin)], separators=(",", ":")))
`;
  writeFileSync(file, program + run);
  const { stdout, stderr } = spawnSync('python3', [file], {
    input: JSON.stringify(cases()),
    encoding: 'utf8',
  });
  assert.equal(stdout.trim(), expected, stderr);
});
