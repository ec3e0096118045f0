// What is wrong with a configuration file, in words: the setting, what it must be, and the name that was probably meant.
import type { z } from 'zod';
import { editDistance } from '../../lib/text.ts';
import { VERSION } from '../../lib/version.ts';

/** How much of an unknown name is repeated. */
const NAME_SHOWN = 40;

const NOUNS: Record<string, string> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  array: 'a list',
  object: 'a group of `name: value` lines',
};

function nounOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction';
  if (typeof value === 'boolean') return `${value}`;
  return typeof value === 'string' ? 'text' : 'a group of lines';
}

/** `['merchants', 0, 'name']` → `merchants[0].name`. Empty for the file itself. */
export function settingName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const name = shownName(String(part));
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

function shownName(name: string): string {
  const short = name.length > NAME_SHOWN ? `${name.slice(0, NAME_SHOWN)}…` : name;
  return /^[\w.…-]+$/.test(short) ? short : JSON.stringify(short);
}

/** The known name that `name` was probably meant to be: the nearest, when no more than a third of its letters differ. */
function meant(name: string, known: readonly string[]): string | undefined {
  if (name.length > NAME_SHOWN) return undefined;
  const plain = (text: string) => text.toLowerCase().replaceAll('-', '_');
  const [nearest] = known
    .map((candidate) => ({ candidate, distance: editDistance(plain(name), plain(candidate)) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

/**
 * What an issue says, to stand behind the setting's name: `must be at most 65535`. `known` are the names there are where an
 * unknown one was found. Values are repeated for closed lists alone, since others may be secrets.
 */
export function explainIssue(issue: z.core.$ZodIssue, known: readonly string[]): string {
  switch (issue.code) {
    case 'unrecognized_keys': {
      const guess = meant(issue.keys[0]!, known);
      return `is not a setting${guess ? `; did you mean ${guess}?` : ` of version ${VERSION} (docs/configuration.md lists them all)`}`;
    }
    case 'invalid_type': {
      const { input, expected } = issue;
      if (input === undefined) return 'is missing';
      const noun = NOUNS[expected] ?? expected;
      if (input === null) return `has no value: it must be ${noun}`;
      const quoted = typeof input === 'string' && input !== '' && !Number.isNaN(Number(input));
      const unquoted = expected === 'string' && typeof input === 'number';
      return `must be ${noun}, not ${nounOf(input)}${quoted && /int|number/.test(expected) ? ' (leave the quotes out)' : ''}${unquoted ? ' (put it in quotes)' : ''}`;
    }
    case 'invalid_value': {
      const given = typeof issue.input === 'string' ? JSON.stringify(issue.input.slice(0, NAME_SHOWN)) : '';
      const list = issue.values.map(String);
      const choice = list.length > 1 ? `${list.slice(0, -1).join(', ')} or ${list.at(-1)}` : list[0];
      return `must be ${choice}${given && `, not ${given}`}`;
    }
    case 'too_small':
      if (issue.origin === 'array') return 'must not be an empty list';
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    default:
      // Sentences of `lib/` become the second half of one.
      return issue.message.replace(/^Must /, 'must ').replace(/\.$/, '');
  }
}

/** What the YAML parser said, without the place, which stands in front. */
export function explainSyntax(error: { code: string; message: string }, at: string): string {
  if (error.code === 'DUPLICATE_KEY') return `${shownName(/^[\w-]*/.exec(at)![0])} is set twice`;
  if (error.code === 'MULTIPLE_DOCS') return 'a second YAML document begins here; the file must be one';
  if (error.code === 'TAB_AS_INDENT') return 'not YAML: indent with spaces, not tabs';
  if (error.code === 'BLOCK_AS_IMPLICIT_KEY')
    return 'not YAML: two colons in one line; put the value in quotes';
  const [sentence] = error.message.split('\n');
  return `not YAML: ${sentence!.replace(/ at line \d+, column \d+:?$/, '')}`;
}
