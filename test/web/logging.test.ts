// The page on the log names every kind of line that the program writes.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** A call of the log, up to the text of its message or to where a value begins in it. */
const CALL =
  /\blog\.(?:debug|info|warn|error)\(\s*(?:[\w.]+,\s*|\{[^}]*(?:\([^)]*\)[^}]*)*\},\s*)?['`]([^'`$]+)/g;

test('docs/logging.md names every kind of line that the program writes.', () => {
  const page = read('docs/logging.md');
  const messages = globSync('src/**/*.ts', { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(CALL)].map(([, message]) => message!.trim()),
  );
  assert.ok(messages.includes('a defect') && messages.length > 12, messages.join('\n'));
  assert.deepEqual(
    messages.filter((message) => !page.includes(`\`${message}`)),
    [],
  );
});
