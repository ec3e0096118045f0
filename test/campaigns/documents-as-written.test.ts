// Every command line of docs/operating, run as it is written on a machine of its own with systemd, from root's shell and from cron's.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ROOT } from '../support/command.ts';
import { bootMachine, type Machine, noMachine } from '../support/machine.ts';
import { LEFT, PROGRAMS, STEPS, type Step } from './operator-steps.ts';

const ROOTS_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const CRONS_PATH = '/usr/bin:/bin';
/** What an inline command begins with. Few words without an option or a path name a command, and are no line to type. */
const PROGRAM =
  /^(sudo|counterfoil|systemctl|journalctl|du|df|find|install|openssl|ss|curl|tail|ps|pg_\w+|psql|npm|docker|apt-get|dnf) \S/;
const NAME = /^[a-z_]+( [a-z_-]+){1,2}$/;
const CRON_LINE = /^(\S+ \S+ \S+ \S+ \S+) root (.*)$/;

/** `install.md First steps 2`: the second block of commands below that heading. A line that goes on is one line. */
const blocks = new Map<string, string[]>();
/** Lines between backticks in running text. */
const inline = new Set<string>();
const crontab: string[] = [];
for (const file of globSync('docs/operating/*.md', { cwd: ROOT }).sort()) {
  let heading = '';
  const counts = new Map<string, number>();
  const text = readFileSync(join(ROOT, file), 'utf8');
  for (const [part, , language, code] of text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```|^#+ .*|.+/gm)) {
    if (part.startsWith('#')) heading = part.replace(/^#+ /, '');
    else if (code === undefined)
      for (const [, span] of part.matchAll(/`([^`]+)`/g))
        if (PROGRAM.test(span!) && !NAME.test(span!)) inline.add(span!.replaceAll('\\|', '|'));
        else;
    else if (language === 'sh') {
      const count = (counts.get(heading) ?? 0) + 1;
      counts.set(heading, count);
      blocks.set(`${basename(file)} ${heading} ${count}`, linesOf(code));
    } else crontab.push(...code.split('\n').flatMap((line) => CRON_LINE.exec(line)?.[2] ?? []));
  }
}

/** The command lines of a block: what a backslash or a here-document carries on is one. */
function linesOf(code: string): string[] {
  return [...code.matchAll(/(?:.*\\\n)*.*<<(\w+)\n[\s\S]*?^\1$|(?:.*\\\n)*.+/gm)].map(([line]) =>
    line.trim(),
  );
}

const isLeft = (line: string) => LEFT.some(({ lines }) => lines.test(line));
const runs = STEPS.flatMap(({ block, lines }) => lines ?? blocks.get(block!) ?? []);

test('every line of the documents is run below, or is left with a reason', () => {
  assert.ok(blocks.size > 40 && inline.size > 40 && crontab.length === 2);
  const named = STEPS.flatMap(({ block }) => block ?? []);
  assert.deepEqual(
    named.filter((name) => !blocks.has(name)),
    [],
    'steps of blocks that are not there',
  );
  const wanted = [...[...blocks.values()].flat(), ...inline, ...crontab];
  assert.deepEqual(
    [...new Set(wanted)].filter((line) => !runs.includes(line) && !isLeft(line)),
    [],
  );
  const written = STEPS.flatMap(({ lines }) => lines ?? []);
  assert.deepEqual(
    written.filter((line) => !wanted.includes(line)),
    [],
    'steps of lines that the documents do not have',
  );
});

describe('as it is written', { skip: noMachine() }, () => {
  let machine: Machine;
  before(async () => {
    machine = await bootMachine(PROGRAMS);
  });
  after(() => machine?.remove());

  for (const step of STEPS) test(step.block ?? step.lines!.join('; '), () => walk(step));

  async function walk(step: Step): Promise<void> {
    const { arrange = 'true', replace = {}, typed, exits = {}, says, fromCron } = step;
    const lines = (step.lines ?? blocks.get(step.block!)!).filter((line) => !isLeft(line));
    const put = (line: string) =>
      Object.entries(replace).reduce((text, [from, to]) => text.replaceAll(from, to), line);
    const script = [
      `${arrange}\nprintf "\\n=0 arranged\\n"`,
      ...lines.map((line, index) => `${put(line)}\nprintf "\\n=%d ${index}\\n" $?`),
    ].join('\n');
    const env = {
      PATH: fromCron ? CRONS_PATH : ROOTS_PATH,
      HOME: '/root',
      TERM: 'xterm',
      SHELL: '/bin/bash',
      SCRIPT: script,
    };
    // A command that asks gets a terminal.
    const running = typed
      ? machine.start(
          'script',
          ['--quiet', '--return', '--command', 'exec bash -c "$SCRIPT"', '/dev/null'],
          env,
        )
      : machine.start(fromCron ? '/bin/sh' : '/bin/bash', ['-c', script], env);
    for (const [asked, answer] of typed ?? []) {
      await running.until(asked);
      running.child.stdin!.write(`${answer}\n`);
    }
    if (!typed) running.child.stdin!.end();
    await running.ended;
    const said = running.stdout + running.stderr;
    const codes = [...running.stdout.matchAll(/^=(\d+) \d+\r?$/gm)].map(([, code]) => Number(code));
    assert.deepEqual(
      lines.map((line, index) => [line, codes[index]]),
      lines.map((line) => [line, exits[line] ?? 0]),
      said,
    );
    if (says) assert.match(said, says);
  }
});
