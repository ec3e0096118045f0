// The programs of docs/integrate/webhooks.md: each takes what we sign, and refuses another body, another secret and an old timestamp.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { newWebhookSecret, signatureHeader } from '../../src/webhooks/signing.ts';
import { ROOT } from '../support/command.ts';

const page = readFileSync(join(ROOT, 'docs/integrate/webhooks.md'), 'utf8');
const programs = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))]
    .map(([, text]) => text!)
    .filter((text) => /^(?:export )?(?:function|func|def) verify\(/im.test(text));

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
    { takes: true, secret, headers: headersAt(now - 200), body: BODY },
    { takes: false, secret, headers: headersAt(now - 301), body: BODY },
    { takes: false, secret, headers: headersAt(now + 400), body: BODY },
    { takes: false, secret, headers: { ...headers, 'webhook-timestamp': `${now}x` }, body: BODY },
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

const expected = JSON.stringify(cases().map(({ takes }) => takes));

/** How a program of the page is run: it gets the requests on its input and prints which it takes, as JSON. */
interface Language {
  fence: string;
  /** What tells that it is installed. */
  version: string[];
  file: string;
  run: string[];
  /** The program together with what runs it. */
  whole(program: string): string;
  /** SHA-256 of the program that was run last. A machine without the language holds the page to it. */
  digest: string;
}

const LANGUAGES: Record<string, Language> = {
  Node: {
    fence: 'js',
    version: [process.execPath, '--version'],
    file: 'verify.mjs',
    run: [process.execPath, 'verify.mjs'],
    whole: (program) => `import { json } from 'node:stream/consumers';
${program}
const takes = ({ secret, headers, body }) => {
  try {
    return verify(secret, headers, Buffer.from(body)).type === 'payment.approved';
  } catch {
    return false;
  }
};
console.log(JSON.stringify((await json(process.stdin)).map(takes)));`,
    digest: '63520efda96ee9fef3dfea212a4ac9ffd1118e31d3f67b43d88b6be6ffa9f859',
  },
  Python: {
    fence: 'python',
    version: ['python3', '--version'],
    file: 'verify.py',
    run: ['python3', 'verify.py'],
    whole: (program) => `${program}
import sys
def takes(one):
    try:
        return verify(one["secret"], one["headers"], one["body"].encode())["type"] == "payment.approved"
    except ValueError:
        return False
print(json.dumps([takes(one) for one in json.load(sys.stdin)], separators=(",", ":")))`,
    digest: 'c25baa63364c8befd1e2af22865688d12d21abef3b2b77e53abf52a87179ff0c',
  },
  PHP: {
    fence: 'php',
    version: ['php', '--version'],
    file: 'verify.php',
    run: ['php', 'verify.php'],
    whole: (program) => `<?php
${program}
function takes(array $one): bool {
    try {
        return verify($one['secret'], $one['headers'], $one['body'])['type'] === 'payment.approved';
    } catch (Exception) {
        return false;
    }
}
echo json_encode(array_map('takes', json_decode(file_get_contents('php://stdin'), true)));`,
    digest: '29b1e1f450f0d7eb6bc8b00daecaeed9bcd28edb7e66e5a7c62b25f18df7d092',
  },
  Go: {
    fence: 'go',
    version: ['go', 'version'],
    file: 'verify.go',
    run: ['go', 'run', 'verify.go'],
    whole: (program) => `${program
      .replace('package webhooks', 'package main')
      .replace('import (', 'import (\n"encoding/json"\n"fmt"\n"os"')}
func main() {
	var all []struct { Secret, Body string; Headers map[string]string }
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil { panic(err) }
	taken := []bool{}
	for _, one := range all {
		header := http.Header{}
		for name, value := range one.Headers { header.Set(name, value) }
		taken = append(taken, Verify(one.Secret, header, []byte(one.Body)) == nil)
	}
	text, _ := json.Marshal(taken)
	fmt.Println(string(text))
}`,
    digest: 'a60aece14af744725105f4dbe4664e58c19cad715787e1fd5f73d3ffe3e8805d',
  },
  Ruby: {
    fence: 'ruby',
    version: ['ruby', '--version'],
    file: 'verify.rb',
    run: ['ruby', 'verify.rb'],
    whole: (program) => `${program}
def takes(one)
  verify(one['secret'], one['headers'], one['body'])['type'] == 'payment.approved'
rescue ArgumentError
  false
end
puts JSON.generate(JSON.parse($stdin.read).map { |one| takes(one) })`,
    digest: '07027f0b71f68f1d083aca535a2ff054f7d3cd2cd3884a2ecd5bc431753891ef',
  },
};

/** Runs a command. Returns what it printed, or undefined if there is no such command. */
async function run([command, ...args]: string[], cwd: string, input = ''): Promise<string | undefined> {
  const env = { ...process.env, GOCACHE: join(tmpdir(), 'go'), GOFLAGS: '-mod=mod', LANG: 'C.UTF-8' };
  const child = spawn(command!, args, { cwd, env });
  const isStarted = await new Promise((resolve) => {
    child.once('spawn', () => resolve(true));
    child.once('error', () => resolve(false));
  });
  if (!isStarted) return undefined;
  child.stdin.on('error', () => {}); // told by what it prints
  child.stdin.end(input);
  const [printed, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return printed.trim() || complaint;
}

describe('the programs that verify', { concurrency: true }, () => {
  for (const [name, { fence, version, file, run: command, whole, digest }] of Object.entries(LANGUAGES))
    test(`the program for ${name} takes what we sign within 5 minutes, and nothing else`, async () => {
      const [program = '', ...more] = programs(fence);
      assert.deepEqual(more, []);
      const folder = mkdtempSync(join(tmpdir(), 'counterfoil-documents-'));
      if ((await run(version, folder)) !== undefined) {
        writeFileSync(join(folder, file), whole(program));
        assert.equal(await run(command, folder, JSON.stringify(cases())), expected);
      }
      const is = createHash('sha256').update(program).digest('hex');
      assert.equal(is, digest, `run this test where ${name} is installed, and store the digest`);
    });
});
