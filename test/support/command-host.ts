// A process that runs one command after another for `run`: the modules are loaded once, and the rest is as in a fresh process.
import { fileURLToPath } from 'node:url';
import { run } from '../../src/operate/commands/counterfoil.ts';

const COMMAND = fileURLToPath(new URL('../../bin/counterfoil.js', import.meta.url));

export interface HostedCommand {
  args: readonly string[];
  cwd: string;
  /** The whole environment. */
  env: Record<string, string | undefined>;
}

export interface HostedResult {
  code: number;
  stdout: string;
  stderr: string;
}

const printed = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const)
  process[name].write = (chunk: Uint8Array | string, ...rest: unknown[]) => {
    printed[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const written = rest.at(-1);
    if (typeof written === 'function') process.nextTick(written as () => void);
    return true;
  };

process.setMaxListeners(0); // each run adds its own
process.on('message', async ({ args, cwd, env }: HostedCommand) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = undefined;
  process.argv = [process.execPath, COMMAND, ...args];
  await run(process.argv);
  process.stdout.removeAllListeners('error'); // each run adds one
  const result: HostedResult = { code: Number(process.exitCode ?? 0), ...printed };
  printed.stdout = '';
  printed.stderr = '';
  process.exitCode = undefined;
  process.send!(result);
});
process.on('disconnect', () => process.exit());
