// Takes merchants over from the configuration file into the store, and says which lines the file no longer needs.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';
import { counted } from '../../lib/text.ts';
import { DEVELOPMENT_KEY, keyDigest, type MerchantWithKeys } from '../../merchants/merchant.ts';
import { importMerchant } from '../../merchants/register.ts';
import { loadDirectory, noSuchMerchant } from './merchant-names.ts';
import { OPERATOR, type Store } from './store.ts';
import { Failure, shownPath } from './terminal.ts';

interface Lines {
  from: number;
  to: number;
}

type Imported = Awaited<ReturnType<typeof importOne>>;

/** `counterfoil merchants import`. Throws `Failure`. */
export async function importMerchants(store: Store, ids: readonly string[], options: { all?: boolean }) {
  const { configuration } = store;
  const wanted = options.all
    ? configuration.merchants
    : await Promise.all(ids.map((id) => configuredMerchant(id, store)));
  const lines = linesIn(configuration.file);
  const merchants: Imported[] = [];
  for (const merchant of wanted) merchants.push(await importOne(store, merchant, lines));
  return { json: { merchants }, text: told(merchants, configuration.file, lines).join('\n') };
}

/** Ends the command, before it opens the store, unless it names either merchants or all. */
export function requireIds(command: Command): void {
  if (Boolean(command.opts().all) === command.args.length > 0)
    command.error('error: name the merchants by their ids, or take over --all');
}

/** A merchant of the file by its id. Throws `Failure`. */
async function configuredMerchant(id: string, { configuration, database }: Store): Promise<MerchantWithKeys> {
  const found = configuration.merchants.find((one) => one.id === id);
  if (found) return found;
  const directory = await loadDirectory(configuration, database);
  if (directory.merchant(id)) throw new Failure(`${id} stands in the store already, and not in the file`);
  throw noSuchMerchant(id, directory);
}

async function importOne({ journal }: Store, merchant: MerchantWithKeys, lines: ReadonlyMap<string, Lines>) {
  // The public development key stays if production refuses to start with it.
  const keys = merchant.keys.filter(({ digest }) => digest !== keyDigest(DEVELOPMENT_KEY));
  const done = await importMerchant(journal, { ...merchant, keys }, OPERATOR);
  const { id, name } = merchant;
  return {
    id,
    name,
    /** Whether the store did not have it. */
    imported: done.merchant !== undefined,
    keys: done.keys.length,
    /** Whether the development key is one of its keys: that is not taken over. */
    hasDevelopmentKey: keys.length < merchant.keys.length,
    lines: lines.get(id),
  };
}

/** Where each merchant stands in the file, by its id; where the list itself begins, by nothing. */
function linesIn(file: string): ReadonlyMap<string, Lines> {
  const counter = new LineCounter();
  const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter: counter });
  const merchants = isMap(document.contents) ? document.contents.get('merchants') : undefined;
  const list = isMap(document.contents)
    ? document.contents.items.find(({ key }) => isScalar(key) && key.value === 'merchants')
    : undefined;
  const line = isScalar(list?.key) ? counter.linePos(list.key.range![0]).line : 0;
  const items = isSeq(merchants) ? (merchants as YAMLSeq).items : [];
  return new Map([
    ['', { from: line, to: line }],
    ...items
      .filter((item): item is YAMLMap => isMap(item))
      .map((item): [string, Lines] => {
        const [from, to] = item.range!;
        return [
          String(item.get('id')),
          { from: counter.linePos(from).line, to: counter.linePos(Math.max(from, to - 1)).line },
        ];
      }),
  ]);
}

function told(done: readonly Imported[], file: string, lines: ReadonlyMap<string, Lines>): string[] {
  const merchants = done.filter(({ imported }) => imported).length;
  const keys = done.reduce((sum, one) => sum + one.keys, 0);
  // A list whose merchants are all taken over may be removed with its name.
  const isAll = done.length > 0 && done.length === lines.size - 1;
  return [
    merchants + keys === 0
      ? 'The store has all of it already.'
      : `Took over ${counted(merchants, 'merchant')}${keys === 0 ? '.' : ` with ${counted(keys, 'key')}. They work as before.`}`,
    ...(done.some(({ hasDevelopmentKey }) => hasDevelopmentKey)
      ? ['The development key stays in the file: without these lines it ends.']
      : []),
    `\nThese lines of ${shownPath(file)} may be removed; SIGHUP or a restart makes a server forget them:`,
    ...(isAll ? [`  ${String(lines.get('')!.from).padEnd(9)} merchants:`] : []),
    ...done.map(
      ({ lines: own, id, name }) => `  ${own ? `${own.from}–${own.to}`.padEnd(9) : ''} ${id} (${name})`,
    ),
  ];
}
