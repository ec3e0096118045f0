// Fuzz, in its short form: 35,000 requests that nobody sends by accident. What it asks for stands in fuzz.ts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const CAMPAIGN = fileURLToPath(new URL('fuzz.ts', import.meta.url));

test('whatever is sent, the service answers in its own words and stays whole', async (t) => {
  const child = spawn(process.execPath, ['--expose-gc', CAMPAIGN], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [said, complained, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  for (const line of said.trim().split('\n')) t.diagnostic(line);
  assert.equal(code, 0, `${said}${complained}`);
});
