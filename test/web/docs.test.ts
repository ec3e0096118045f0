// The documentation at /docs: its pages, their links and anchors, their weight, the search, the texts for programs, and the setting.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { STATUS_OF_CODE } from '../../src/lib/errors.ts';
import { KEY, sharedHarness, startHarness } from '../support/harness.ts';
import { markupFaults } from '../support/markup.ts';

const PAGE_BYTES = 40 * 1024;
const MARK = '<q>"&\'';

const harness = sharedHarness('sqlite');
/** The pages, by what stands behind /docs. */
let slugs: string[];
let paths: string[];
before(async () => {
  const linked = (await load('/docs')).text.matchAll(/ href="\/docs\/([a-z-]+)["#?]/g);
  slugs = [...new Set([...linked].map(([, slug]) => slug!))].filter((slug) => slug !== 'assets');
  paths = ['/docs', ...slugs.map((slug) => `/docs/${slug}`)];
  assert.ok(slugs.length > 10, slugs.join());
});

const load = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(harness.origin + path, { headers, redirect: 'manual' });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const idsOf = (text: string) => new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!));
const unescaped = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'");

describe('the documentation', () => {
  test('is sound, small and without script on each page.', async () => {
    for (const path of [...paths, '/docs/webhooks?code=python', '/docs?q=secret']) {
      const { status, headers, text } = await load(path);
      assert.equal(status, 200, path);
      assert.deepEqual(markupFaults(text), [], path);
      assert.ok(gzipSync(text).length <= PAGE_BYTES, `${path}: ${gzipSync(text).length} bytes`);
      assert.match(headers.get('content-security-policy')!, /default-src 'none'.*script-src 'none'/);
      assert.ok(!/<script|<style| style=/.test(text), path);
      const known = { 'if-none-match': headers.get('etag')! };
      const again = await load(path, known);
      assert.deepEqual([again.status, again.text], [304, ''], path);
      const dark = await load(path, { cookie: 'counterfoil_theme=dark', ...known });
      assert.equal(dark.status, 200, path);
    }
  });

  test('has no link that leads nowhere.', async () => {
    const pages = new Map<string, { status: number; ids: Set<string>; text: string }>();
    const pageOf = async (path: string) => {
      const known = pages.get(path);
      if (known) return known;
      const { status, text } = await load(path);
      pages.set(path, { status, text, ids: idsOf(text) });
      return pages.get(path)!;
    };
    const wrong: string[] = [];
    for (const path of paths)
      for (const [, found] of (await pageOf(path)).text.matchAll(/ href="([^"]+)"/g)) {
        const url = new URL(unescaped(found!), harness.origin + path);
        if (url.origin !== harness.origin || url.searchParams.has('theme')) continue;
        const target = url.pathname + (url.searchParams.size > 0 && url.hash ? url.search : '');
        if (/\/(console|dev|assets|payment\.php)/.test(target)) continue;
        const { status, ids } = await pageOf(target);
        const isThere = !url.hash || ids.has(decodeURIComponent(url.hash.slice(1)));
        if (status !== 200 || !isThere) wrong.push(`${path}: ${found}`);
      }
    assert.deepEqual(wrong, []);
  });

  test('has an anchor for each operation and each field of it.', async () => {
    const { paths: operationsOf, components } = (await harness.request('/openapi.json')).json;
    const ids = idsOf((await load('/docs/reference')).text);
    for (const id of [
      'payments.create.amount',
      'payments.create.customer.email',
      'payments.list.cursor',
      'payment.status',
    ])
      assert.ok(ids.has(id), id);
    const operations = Object.entries(operationsOf)
      .filter(([path]) => path.startsWith('/v1/'))
      .flatMap(([, item]) => Object.values(item as object));
    const text = (await load('/docs/reference.md')).text;
    assert.ok(operations.length > 25);
    for (const { summary, requestBody, parameters = [] } of operations) {
      const anchor = new RegExp(`^### ${summary} \\{#([\\w.]+)\\}$`, 'm').exec(text)?.[1];
      assert.ok(anchor, summary);
      const schema = requestBody?.content['application/json'].schema.$ref.split('/').at(-1);
      const names = [
        ...Object.keys(components.schemas[schema]?.properties ?? {}),
        ...parameters.map(
          ({ $ref }: { $ref: string }) => components.parameters[$ref.split('/').at(-1)!].name,
        ),
      ];
      for (const name of names) assert.ok(ids.has(`${anchor}.${name}`), `${anchor}.${name}`);
    }
  });

  test('tells of each error its status, its cause, what to do and how it looks.', async () => {
    const { text } = await load('/docs/errors.md');
    for (const [code, status] of Object.entries(STATUS_OF_CODE)) {
      assert.ok(text.includes(`| ${status} | [\`${code}\`](#${code}) |`), code);
      const section = text.split(`### ${code}\n`)[1]?.split('\n### ')[0];
      assert.match(
        section ?? '',
        new RegExp(`Cause.*Fix.*\`\`\`json\\n\\{"error": \\{"code": "${code}"`, 's'),
        code,
      );
    }
  });

  test('is for this installation: its addresses, and a key that works.', async () => {
    const { text } = await load('/docs/quickstart.md');
    assert.ok(text.includes(`BASE=${harness.origin}\nKEY=${KEY}\n`));
    assert.ok(!text.includes('127.0.0.1:8080'));
    assert.match((await load('/docs/quickstart?code=python')).text, /KEY = &quot;cfk_test_dev/);
  });

  test('shows one language of each example, and keeps the choice in its links.', async () => {
    const { text } = await load('/docs/payments?code=php');
    assert.ok(text.includes('$second = call(') && !/curl (<span>)?-s/.test(text));
    assert.match(text, /href="\/docs\/errors\?code=php"/);
    assert.match((await load('/docs/payments?code=cobol')).text, /curl <span>-s/);
  });

  test('finds sections by words, and shows the words as text.', async () => {
    const { text } = await load('/docs?q=rotate%20secret');
    assert.match(text, /href="\/docs\/webhooks#set-one-up"/);
    const marked = await load(`/docs?q=${encodeURIComponent(MARK)}`);
    assert.ok(!marked.text.includes(MARK) && marked.text.includes('&lt;q&gt;&quot;&amp;&#39;'));
    assert.deepEqual(markupFaults(marked.text), []);
    const long = await load(`/docs?q=${'x'.repeat(5000)}`);
    assert.equal(long.status, 200);
    assert.match((await load('/docs?q=payment&q=other')).text, /<h1>Counterfoil for developers/);
  });

  test('puts sections about a word before those that mention it, whatever its ending.', async () => {
    for (const [asked, ...first] of [
      ['retries', '/docs/idempotency', '/docs/webhooks'],
      ['webhook', '/docs/webhooks'],
      ['signed', '/docs/webhooks'],
      ['keys', '/docs/security', '/docs/reference'],
    ] as const) {
      const { text } = await load(`/docs?q=${asked}`);
      const [found = ''] = text.split('<ul class="contents">')[1]!.match(/(?<=href=")[^"#]+/) ?? [];
      assert.ok((first as readonly string[]).includes(found), `${asked}: ${found}`);
    }
    const [one, many] = await Promise.all(
      ['signature', 'signatures'].map(
        async (word) => (await load(`/docs?q=${word}`)).text.match(/\d+ found/)?.[0],
      ),
    );
    assert.equal(one, many);
  });

  test('has a page for an address that has none.', async () => {
    const { status, headers, text } = await load('/docs/nothing?code=php');
    assert.deepEqual([status, headers.get('content-type')], [404, 'text/html; charset=utf-8']);
    assert.deepEqual(markupFaults(text), []);
    assert.ok(
      text.includes('<h1>There is no such page</h1>') && text.includes('"/docs/quickstart?code=php"'),
    );
  });

  test('keeps an option of a command and what follows it on one line.', async () => {
    assert.ok((await load('/docs/quickstart')).text.includes('<span>-d &#39;{</span>'));
  });

  test('shows the changelog without the brackets of its source.', async () => {
    const { text } = await load('/docs/changelog');
    assert.ok(!/>\[\d|>\[Unreleased|\([\w ]+ \(<code>/.test(text));
    assert.ok(text.includes('(how: <code>docs/operating/install.md</code>)'));
    assert.ok(text.includes('href="/docs/events#the-stream"'));
  });

  test('finds the words that a developer looks for where they are explained.', async () => {
    for (const [words, section] of [
      ['refund', 'statuses#less-more-and-back'],
      ['partial', 'statuses#less-more-and-back'],
      ['underpaid', 'statuses#less-more-and-back'],
      ['overpaid', 'statuses#less-more-and-back'],
      ['pays less', 'statuses#less-more-and-back'],
      ['fulfil', 'statuses#less-more-and-back'],
      ['sandbox', 'testing'],
      ['idempotent', 'idempotency'],
      ['node sdk', 'quickstart#2-set-up'],
      ['live key', 'going-live#get-a-live-key'],
      ['missed events', 'events#i-missed-events'],
      ['rotate secret', 'webhooks#rotate-the-secret'],
    ] as const)
      assert.ok((await load(`/docs?q=${words}`)).text.includes(`href="/docs/${section}"`), words);
  });

  test('is there as Markdown, with an index for programs; a document that is not served is named.', async () => {
    for (const slug of slugs)
      assert.doesNotMatch((await load(`/docs/${slug}.md`)).text, /\]\((?:\.\.|docs)\//, slug);
    assert.match((await load('/docs/webhooks.md')).text, /`merchants\[\]\.webhooks`/);
    const { text, headers } = await load('/llms.txt');
    assert.equal(headers.get('content-type'), 'text/markdown; charset=utf-8');
    assert.match(text, /^# Counterfoil\n\n(> .+\n)+\n[^#]+\n## Docs\n\n(- \[.+\]\(.+\): .+\n)+\n##/);
    for (const [, url = ''] of text.matchAll(/\]\((.+?)\)/g))
      assert.equal((await fetch(url)).status, 200, url);
  });
});

test('no key is shown where the development key does not work, and the addresses are those of the configuration.', async () => {
  const configuration = 'host: 127.0.0.1\n';
  await using service = await startHarness('sqlite', { environment: 'production', configuration });
  const { status, text } = await service.request('/docs/quickstart.md', { key: null });
  assert.equal(status, 200);
  assert.ok(text.includes('BASE=https://pay.example/api\nKEY=cfk_test_YOUR_KEY\n'));
  assert.ok(text.includes('https://pay.example/checkout/payment.php') && !text.includes(KEY));
});

test('nothing of it is there where it is switched off.', async () => {
  await using service = await startHarness('sqlite', { configuration: 'docs: false\n' });
  for (const path of ['/docs', '/docs/payments', '/docs/payments.md', '/llms.txt'])
    assert.equal((await fetch(service.origin + path)).status, 404, path);
  assert.equal((await fetch(`${service.origin}/openapi.json`)).status, 200);
});
