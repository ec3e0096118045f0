// What to type after `counterfoil init`, for the way it was asked to run: systemd's wrapper, containers, a clone, or by its path.
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { environment } from '../config.ts';
import type { InitFlags } from './init-questions.ts';

/** Installations whose service reads `COUNTERFOIL_CONFIG`; `COUNTERFOIL_RUN_BY` names which (deploy/counterfoil, Dockerfile). */
const INSTALLED: Readonly<Record<string, { start: string; command: string }>> = {
  systemd: { start: 'sudo systemctl enable --now counterfoil', command: 'sudo counterfoil' },
  compose: {
    start: 'docker compose up --detach --build --wait',
    command: 'docker compose exec node-a counterfoil',
  },
};

/** Commands to paste: `own` gives the files to the account that serves, where that is another; then the start; then the rest. */
export function nextSteps(
  file: string,
  storage: string,
  { administrator, allowRoot }: InitFlags,
): { own: string | undefined; start: string; beside: string[] } {
  const installed = INSTALLED[environment.COUNTERFOIL_RUN_BY ?? ''];
  const isClone = !installed && existsSync(join(process.cwd(), 'bin/counterfoil.js'));
  const isInPath = basename(process.argv[1]!) === 'counterfoil';
  const path = `${quoted(process.execPath)} ${quoted(process.argv[1]!)}`;
  const command = installed?.command ?? (isClone ? 'npx counterfoil' : isInPath ? 'counterfoil' : path);
  const { COUNTERFOIL_CONFIG: served } = environment;
  const isTheService = installed !== undefined && served !== undefined && file === resolve(served);
  const config = isTheService ? '' : ` --config ${quoted(file)}`;
  const email = administrator || 'you@example.org';
  const person = ` --email ${quoted(email)} --name ${quoted(email.split('@')[0]!)} --role administrator`;
  const isRoot = process.getuid?.() === 0 && !allowRoot;
  return {
    own: isRoot ? `chown -R counterfoil: ${quoted(file)} ${quoted(storage)}` : undefined,
    start: isTheService ? installed.start : isClone ? `npm start --${config}` : `${command} serve${config}`,
    beside: [`${command} administrators create${config}${person}`, `${command} doctor${config}`],
  };
}

/** A word as a shell takes it. */
const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
