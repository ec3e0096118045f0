// docs/operating held to the program: its files, settings and commands are there, and the links of every document lead somewhere.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { configurationSchema } from '../src/operate/settings/settings.ts';
import { ROOT, run } from './support/command.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const PAGES = globSync('docs/operating/*.md', { cwd: ROOT }).sort();
/** The pages for operators, one after the other. */
const page = PAGES.map(read).join('\n');

/** Where GitHub puts a heading's anchor. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** A page that the service writes beside those of docs/integrate: its anchors are the API's. */
const WRITTEN = /^docs\/integrate\/\S+ reference\.md(#|$)/;

test('every link of a document leads to a file of the project, and to a heading that is there', () => {
  const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });
  const links = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => ({ document, target: target! })),
  );
  assert.ok(links.length > 100);
  for (const { document, target } of links.filter(({ target }) => !/^(https?|mailto):/.test(target))) {
    if (WRITTEN.test(`${document} ${target}`)) continue;
    const [file, anchor] = target.split('#');
    const path = file ? join(ROOT, dirname(document), file) : join(ROOT, document);
    assert.ok(existsSync(path), `${document}: ${target}`);
    // The service writes the reference: test/web/docs.test.ts follows links into it.
    if (anchor && path.endsWith('.md') && !path.endsWith('/integrate/reference.md'))
      assert.ok(anchorsOf(readFileSync(path, 'utf8')).includes(anchor), `${document}: ${target}`);
  }
});

test('each page for operators opens with a list of its contents, and the messages and files of the program name pages that are there', () => {
  assert.equal(PAGES.length, 4);
  for (const file of PAGES) {
    const text = read(file).replace(/^```[\s\S]*?^```/gm, '');
    const headings = [...text.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading!);
    const listed = [...text.matchAll(/^ *- \[([^\]]+)\]\(#/gm)].map(([, heading]) => heading!);
    assert.deepEqual(listed, headings, file);
  }
  const naming = globSync(['src/**/*.ts', 'deploy/**/*.*', 'compose.yaml', 'Dockerfile'], { cwd: ROOT });
  const named = naming.flatMap((file) =>
    [...read(file).matchAll(/docs\/[\w/-]+\.md/g)].map(([path]) => ({ file, path })),
  );
  assert.ok(named.length > 5);
  for (const { file, path } of named) assert.ok(existsSync(join(ROOT, path)), `${file}: ${path}`);
});

test('every file of the project that it names is there', () => {
  const named = [
    ...page.matchAll(/(?<![\w/.-])(?:\/opt\/counterfoil\/)?((?:deploy|bin|docs|test|scripts)\/[\w./-]+\w)/g),
  ];
  assert.ok(named.length > 5);
  for (const [, file] of named) assert.ok(existsSync(join(ROOT, file!)), `${file} is not there`);
});

test('every setting in its examples is one', () => {
  const blocks = [...page.matchAll(/^( *)```yaml\n([\s\S]*?)^\1```/gm)];
  assert.ok(blocks.length >= 3);
  for (const [, , text] of blocks) configurationSchema.parse(parse(text!));
});

describe('commands', () => {
  /** The words and options of each `counterfoil …`, as it stands in a block or between backticks. */
  const lines = [
    ...page.matchAll(
      /(?<=^|[\s`])(?<!\* )(?:\S+\/counterfoil\.js|counterfoil|tools) ((?:[a-z]+(?:-[a-z]+)*\b ?)+)([^\n`]*)/gm,
    ),
  ].map(([, words, rest]) => ({ words: words!.trim().split(' '), rest: rest! }));
  const commands = new Map<string, string>();
  before(async () => {
    const known = new Map<string, Promise<string>>();
    const helpOf = (words: readonly string[]) => {
      const name = words.join(' ');
      if (!known.has(name))
        known.set(
          name,
          run([...words, '--help']).then(({ stdout }) => stdout),
        );
      return known.get(name)!;
    };
    for (const { words } of lines) {
      // Words behind the command's own are arguments: the longest beginning that has help of its own is the command.
      for (let length = words.length; length > 0; length--) {
        const command = words.slice(0, length);
        const help = await helpOf(command);
        // A group of commands does nothing itself: its next word must be one of them.
        const isOne =
          help.startsWith(`Usage: counterfoil ${command.join(' ')} `) && !/^Commands:$/m.test(help);
        if (!isOne) continue;
        commands.set(words.join(' '), help);
        break;
      }
    }
  });

  test('each is known to --help, with its options', () => {
    assert.ok(lines.length > 20, `${lines.length} commands are found`);
    for (const { words, rest } of lines) {
      const help = commands.get(words.join(' '));
      assert.ok(help, `there is no command ${words.join(' ')}`);
      for (const [option] of rest.matchAll(/(?<=^|\s)--[a-z-]+/g))
        assert.ok(help.includes(option), `${words.join(' ')} has no ${option}`);
    }
  });
});
