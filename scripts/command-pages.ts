// The manual page and the completion of bash, made of the commands' own help.
import type { Command } from 'commander';
import { VERSION } from '../src/lib/version.ts';
import { commandLine } from '../src/operate/commands/counterfoil.ts';

/** A command with those below it, each with what is typed to reach it: `counterfoil keys create`. */
function walk(command: Command, above = ''): { path: string; command: Command }[] {
  const path = `${above}${command.name()}`;
  return [{ path, command }, ...command.commands.flatMap((one) => walk(one, `${path} `))];
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 78 });
  command.outputHelp();
  return text.trimEnd();
}

/** As roff takes a line that is to stand as it is. */
const roff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');

/** counterfoil(1), for `man`. `day` is printed at its foot. */
export async function manualPage(day: Date): Promise<string> {
  const [program, ...commands] = walk(await commandLine());
  const { command } = program!;
  const parts = commands.map((one) => `.SS ${roff(one.path)}\n.nf\n${roff(helpOf(one.command))}\n.fi\n`);
  return `.TH COUNTERFOIL 1 ${day.toISOString().slice(0, 10)} "Counterfoil ${VERSION}"
.SH NAME
counterfoil \\- ${roff(command.description())}
.SH SYNOPSIS
.nf
${roff(helpOf(command))}
.fi
.SH COMMANDS
${parts.join('')}.SH FILES
.TP
/etc/counterfoil/counterfoil.yaml
The configuration. Every setting: /usr/lib/counterfoil/docs/configuration.md
.TP
/var/lib/counterfoil
The store and its keys.
`;
}

/** Completion for bash: the commands and options below each command. */
export async function completionText(): Promise<string> {
  const lines = walk(await commandLine()).map(({ path, command }) => {
    const options = command.options.flatMap(({ long }) => long ?? []);
    const words = [...command.commands.map((one) => one.name()), ...options, '--help'];
    return `  ['${path}']='${[...new Set(words)].join(' ')}'\n`;
  });
  return `# Completion of bash for counterfoil, made of the commands' help.
declare -gA _counterfoil_words=(
${lines.join('')})

_counterfoil() {
  local path=counterfoil word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ -z "\${_counterfoil_words["$path $word"]-}" ] || path="$path $word"
  done
  mapfile -t COMPREPLY < <(compgen -W "\${_counterfoil_words[$path]}" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _counterfoil counterfoil
`;
}
