// counterfoil listen and trigger: events of a test key arrive on the developer's machine, signed, each once, also across a lost connection.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { COMMAND, type Running, run, start } from '../../support/command.ts';
import { freePort } from '../../support/free-ports.ts';
import { type Harness, LIVE_KEY, OTHER_KEY, startHarness } from '../../support/harness.ts';
import { eventually } from '../../support/waiting.ts';

interface Posted {
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events freely
  event: any;
}

describe('counterfoil listen and trigger', () => {
  let service: Harness;
  let receiver: Server;
  let hook: string;
  let posted: Posted[];
  let answers: number[];

  before(async () => {
    service = await startHarness('sqlite');
    receiver = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      posted.push({ headers: request.headers, body, event: JSON.parse(body) });
      response.writeHead(answers.shift() ?? 204, { location: '/elsewhere' }).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  });
  beforeEach(() => {
    posted = [];
    answers = [];
  });
  after(async () => {
    receiver.close();
    await service.close();
  });

  /** An address where nothing listens. */
  const nobody = async () => `http://127.0.0.1:${await freePort()}`;

  async function listening(...more: string[]): Promise<Running> {
    const args = [COMMAND, 'listen', '--forward-to', hook, '--url', service.origin, ...more];
    return start(process.execPath, args);
  }
  const trigger = (...args: string[]) => run(['trigger', ...args, '--url', service.origin]);
  const stop = async ({ child, ended }: Running) => {
    child.kill('SIGINT');
    await ended;
  };

  test('an odd id, what is no event and codes for terminals end nothing and are not printed.', async () => {
    const event = (id: string, data: unknown) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
    const right = { type: 'payment.created', data: { payment_id: 'pay_1' } };
    const stranger = createServer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (request.headers['last-event-id'] !== 'evt_0') return response.end('retry: 1000\nid: evt_0\n\n'); // cut at once
      response.write(
        event('evt.1', right) + event('\u001b[2J', right) + event('evt_2', null) + event('evt_3', {}),
      );
      response.write(
        `id: evt_4\ndata: {not json\n\n${event('evt_5', { ...right, type: '\u001b]0;mine\u0007' })}`,
      );
      response.write(
        event('evt_6', { ...right, data: { payment_id: '\u202epay\u009b31m' } }) + event('evt_7', right),
      );
    }).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const url = `http://localhost:${(stranger.address() as AddressInfo).port}`;
    const args = [COMMAND, 'listen', '--forward-to', hook, '--url', url];
    const listener = start(process.execPath, args);
    await eventually(() => posted.length === 1);
    assert.equal(posted[0]!.headers['webhook-id'], 'evt_7');
    await eventually(() => listener.stdout.includes('pay_1'));
    await stop(listener);
    stranger.closeAllConnections();
    stranger.close();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(listener.stdout + listener.stderr, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  test('what a server says no with is printed without codes for terminals.', async () => {
    const stranger = createServer((_request, response) =>
      response.writeHead(403).end(JSON.stringify({ error: { message: 'no\u001b[2J\u009b31m' } })),
    ).listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const url = `http://localhost:${(stranger.address() as AddressInfo).port}`;
    const { stderr, code } = await run(['listen', '--forward-to', hook, '--url', url]);
    stranger.close();
    assert.equal(code, 1);
    assert.match(stderr, /answered 403: no/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(stderr, /[\u001b\u009b]/);
  });

  test('each event is posted once, in order, signed with the secret that is printed, and has a line; a lost connection is made again behind the last.', async () => {
    const given = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const wrong = await run(['listen', '--forward-to', hook, '--secret', 'whsec_short']);
    assert.equal(wrong.code, 2);
    const listener = await listening('--json', '--secret', given);
    assert.equal(JSON.parse((await listener.until(/^.*\n/))[0]).secret, given);
    answers = [200, 500, 302];
    const other = await service.create({}, { key: OTHER_KEY });
    const { code, stdout } = await trigger('payment.approved');
    assert.equal(code, 0);
    const [, id] = /^payment\.approved {2}(pay_\w+) is approved\n$/.exec(stdout)!;
    await listener.until(/"payment\.approved"/);
    service.service.app.server.closeAllConnections();
    // The client of this process has lost a connection that it meant to use again.
    const { id: missed } = await service.create().catch(() => service.create());
    await listener.until(new RegExp(`"payment_id":"${missed}"`));
    await eventually(() =>
      /connection was lost .*connecting again\n.*connected again\n$/.test(listener.stderr),
    );
    await stop(listener);
    const expected = [
      ['payment.created', id, 1, 200],
      ['payment.submitted', id, 2, 500],
      ['payment.approved', id, 3, 302],
      ['payment.created', missed, 1, 204],
    ];
    assert.deepEqual(
      posted.map(({ event }) => [event.type, event.data.payment_id, event.data.version]),
      expected.map((one) => one.slice(0, 3)),
    );
    const lines = listener.stdout.trim().split('\n').slice(1);
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)).map(({ type, payment_id, status }) => [type, payment_id, status]),
      expected.map(([type, payment_id, , status]) => [type, payment_id, status]),
    );
    assert.ok(!listener.stdout.includes(other.id));
    const verifier = new Webhook(given);
    for (const { headers, body, event } of posted) {
      assert.equal(headers['webhook-id'], event.id);
      verifier.verify(body, headers as Record<string, string>);
      assert.throws(() => verifier.verify(`${body} `, headers as Record<string, string>));
    }
  });

  test('every type that can be triggered ends in its event; the event comes though nothing takes it.', async () => {
    const words = ['listen', '--forward-to', await nobody(), '--url', service.origin];
    const away = start(process.execPath, [COMMAND, ...words]);
    const [, secret] = await away.until(/Signing secret: (whsec_\S+)\n/);
    const again = await listening();
    assert.equal((await again.until(/Signing secret: (whsec_\S+)\n/))[1], secret, 'at each start');
    await stop(again);
    const { Event } = (await service.request('/openapi.json')).json.components.schemas;
    for (const name of Event.properties.type.enum) {
      const { stdout } = await trigger(name, '--json');
      const { type, payment_id } = JSON.parse(stdout);
      assert.equal(type, name);
      const { data } = (await service.request(`/v1/payments/${payment_id}/events`)).json;
      assert.equal(data.at(-1).type, type);
    }
    await away.until(/payment\.expired {9}pay_\w+ {2}no answer \(ECONNREFUSED\)\n/);
    await stop(away);
    const own = await service.create();
    await trigger('payment.submitted', '--payment', own.id);
    const { stdout } = await trigger('payment.approved', '--payment', own.id);
    assert.equal(stdout, `payment.approved  ${own.id} is approved\n`);
    const { data } = (await service.request(`/v1/payments/${own.id}/events`)).json;
    assert.equal(data.length, 3, 'submitted once');
  });

  test('a service that does not know the development key asks for another, and one with a wrong key is not told so.', async () => {
    const strict = createServer((_, response) =>
      response.writeHead(401).end('{"error":{"message":"The API key is missing or invalid."}}'),
    ).listen(0, '127.0.0.1');
    await once(strict, 'listening');
    const url = `http://127.0.0.1:${(strict.address() as AddressInfo).port}`;
    const advice = / It does not know the development key: give a test key of it with --key\.\n$/;
    assert.match((await run(['trigger', 'payment.created', '--url', url])).stderr, advice);
    const own = await run(['trigger', 'payment.created', '--url', url, '--key', OTHER_KEY]);
    assert.match(own.stderr, /answered 401: The API key/);
    strict.close();
  });

  test('live keys, addresses without https, wrong keys and a service that is away are refused in a line.', async () => {
    for (const [args, code, line] of [
      [['--key', LIVE_KEY], 2, /--key takes test keys alone/],
      [['--url', 'http://pay.example'], 2, /--url must be an https URL/],
      [['--key', `${OTHER_KEY.slice(0, -1)}A`], 1, /answered 401: The API key is mistyped/],
      [
        ['--url', await nobody()],
        1,
        /cannot be reached \(ECONNREFUSED\): see whether the service runs there, or name the address that it printed at its start with --url$/m,
      ],
    ] as const)
      for (const command of [
        ['listen', '--forward-to', hook],
        ['trigger', 'payment.created'],
      ]) {
        const result = await run([...command, '--url', service.origin, ...args]);
        assert.equal(result.code, code, result.stderr);
        assert.match(result.stderr, line);
        assert.equal(result.stderr.trimEnd().split('\n').length, 1, result.stderr);
        assert.ok(!result.stderr.includes(LIVE_KEY));
      }
  });
});
