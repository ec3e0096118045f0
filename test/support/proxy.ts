// nginx and Caddy as this machine has them, run with the configurations of deploy/ on free ports.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './command.ts';
import { freePort, listens } from './free-ports.ts';
import { type Endpoint, HOST } from './https-client.ts';

/** Whether a program is installed on this machine. */
export function isInstalled(program: string, versionOption: string): boolean {
  try {
    execFileSync(program, [versionOption], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface RunningProxy extends Endpoint {
  /** Where it speaks http, to say that it does not. */
  plainPort: number;
  /** What it wrote of the requests it passed on. */
  accessLog(): string;
  /** What it wrote of failures: to a log of its own or to standard error. */
  errorLog(): string;
  stop(): Promise<void>;
}

interface Workplace {
  folder: string;
  certificate: string;
  key: string;
  port: number;
  plainPort: number;
}

/** A folder with a certificate for HOST, signed by itself, and two free ports. */
async function workplace(): Promise<Workplace> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-proxy-'));
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...newKey, '-out', certificate, ...subject], {
    stdio: 'ignore',
  });
  return { folder, certificate, key, port: await freePort(), plainPort: await freePort() };
}

/** Puts other text in the place of what must be there. */
export function replaced(text: string, pairs: readonly (readonly [RegExp, string])[]): string {
  return pairs.reduce((left, [pattern, value]) => {
    if (!pattern.test(left)) throw new Error(`nothing there matches ${pattern}`);
    return left.replace(pattern, value);
  }, text);
}

/** Runs nginx with deploy/nginx.conf in front of the services at these ports. */
export async function startNginx(upstreams: readonly number[]): Promise<RunningProxy> {
  const place = await workplace();
  const { folder } = place;
  const servers = upstreams.map((port) => `server 127.0.0.1:${port} max_fails=3 fail_timeout=1s;`).join(' ');
  const site = replaced(readFileSync(join(ROOT, 'deploy/nginx.conf'), 'utf8'), [
    [/^ *server 127\.0\.0\.1:8080 max_fails=3 fail_timeout=1s;$/m, servers],
    [/^ *listen \[::\].*\n/gm, ''],
    [/\blisten 443\b/g, `listen 127.0.0.1:${place.port}`],
    [/\blisten 80\b/g, `listen 127.0.0.1:${place.plainPort}`],
    [/\S+\/fullchain\.pem/, place.certificate],
    [/\S+\/privkey\.pem/, place.key],
    [/\/var\/log\/nginx/g, folder],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => {
    mkdirSync(join(folder, name));
    return `${name}_temp_path ${folder}/${name};`;
  });
  writeFileSync(join(folder, 'site.conf'), site);
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/pid; ${process.getuid?.() === 0 ? 'user root;' : ''}
    events { worker_connections 1024; }
    http { ${temporary.join(' ')} include ${folder}/site.conf; }`,
  );
  const child = spawn('nginx', ['-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return running(child, place, 'SIGQUIT');
}

/** Runs Caddy with deploy/Caddyfile in front of the services at these ports. */
export async function startCaddy(upstreams: readonly number[]): Promise<RunningProxy> {
  const place = await workplace();
  const { folder, certificate, key, port, plainPort } = place;
  const site = replaced(readFileSync(join(ROOT, 'deploy/Caddyfile'), 'utf8'), [
    [/^\{\n/m, `{\n\tadmin off\n\thttp_port ${plainPort}\n\thttps_port ${port}\n\tskip_install_trust\n`],
    [/^pay\.example \{\n/m, `pay.example {\n\ttls ${certificate} ${key}\n`],
    [/^(\t*reverse_proxy) 127\.0\.0\.1:8080/gm, `$1 ${upstreams.map((one) => `127.0.0.1:${one}`).join(' ')}`],
    [/\/var\/log\/caddy/g, folder],
  ]);
  writeFileSync(join(folder, 'Caddyfile'), site);
  const child = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  });
  return running(child, place, 'SIGTERM');
}

/** The proxy once it listens. Fails with what it said where it ended instead. */
async function running(
  child: ChildProcess,
  { folder, certificate, port, plainPort }: Workplace,
  stopSignal: NodeJS.Signals,
): Promise<RunningProxy> {
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill(stopSignal);
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  while (!(await listens(port))) {
    if (child.exitCode !== null) {
      child.kill('SIGKILL');
      throw new Error(`the proxy does not listen: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    port,
    plainPort,
    certificate: readFileSync(certificate, 'utf8'),
    accessLog: () => readFileSync(join(folder, 'counterfoil.log'), 'utf8'),
    errorLog() {
      const file = join(folder, 'counterfoil-error.log');
      return existsSync(file) ? said + readFileSync(file, 'utf8') : said;
    },
    stop,
  };
}
