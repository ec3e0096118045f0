// Measures how statement files are read in a stream, beside a plain line counter and a plain XML pass over the same file.
import { execFileSync } from 'node:child_process';
import { closeSync, createReadStream, fstatSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { SaxesParser } from 'saxes';
import { type ByteSource, readInStream } from '#bank-statements';
import { camt } from '../test/support/camt.ts';

// Run it with `node bench/statement-files.ts [lines] [entries]`. Each way is a process of its own, so that its peak memory is its own.
const PIECE_BYTES = 64 * 1024;
const MB = 1_000_000;

/** The bytes of a file, read piece by piece. */
function fileSource(descriptor: number): ByteSource {
  return {
    size: fstatSync(descriptor).size,
    *pieces() {
      for (let at = 0; ; ) {
        const piece = new Uint8Array(PIECE_BYTES);
        const read = readSync(descriptor, piece, 0, PIECE_BYTES, at);
        if (read === 0) return;
        at += read;
        yield piece.subarray(0, read);
      }
    },
  };
}

const WAYS: Record<string, (file: string) => Promise<number>> = {
  async lines(file) {
    let lines = 0;
    for await (const _ of createInterface({ input: createReadStream(file) })) lines++;
    return lines;
  },
  async xml(file) {
    let elements = 0;
    const parser = new SaxesParser();
    parser.on('opentag', () => void elements++);
    for await (const piece of createReadStream(file, 'utf8')) parser.write(piece as string);
    parser.close();
    return elements;
  },
  async read(file) {
    let lines = 0;
    const descriptor = openSync(file, 'r');
    const { faults, statements } = readInStream(fileSource(descriptor), file, {}, () => void lines++);
    closeSync(descriptor);
    const said = [...faults, ...statements.flatMap((one) => one.faults)].map(({ text }) => text);
    if (said.length > 0) throw new Error(said.slice(0, 3).join(' '));
    return lines;
  },
};

/** Seconds of processor time and the peak of memory above what stood before, in MB. */
interface Cost {
  count: number;
  seconds: number;
  peak: number;
  above: number;
}

async function measure(way: string, file: string): Promise<Cost> {
  const idle = process.memoryUsage.rss() / MB;
  const begun = process.cpuUsage();
  const count = await WAYS[way]!(file);
  const { user, system } = process.cpuUsage(begun);
  const peak = (process.resourceUsage().maxRSS * 1024) / MB;
  return { count, seconds: (user + system) / 1e6, peak, above: peak - idle };
}

function costOf(way: string, file: string): Cost {
  return JSON.parse(execFileSync(process.execPath, [import.meta.filename, way, file], { encoding: 'utf8' }));
}

function report(what: string, plain: string, file: string): void {
  const [one, other] = [costOf(plain, file), costOf('read', file)];
  const factor = (other.seconds / one.seconds).toFixed(1);
  console.log(
    `${what}: ${other.count} lines in ${other.seconds.toFixed(2)} s, ${factor} times a plain pass (${one.seconds.toFixed(2)} s); peak ${other.peak.toFixed(0)} MB, ${other.above.toFixed(0)} MB above idle`,
  );
}

function csv(lines: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const money = (minor: number) =>
    `${minor < 0 ? '-' : ''}${Math.floor(Math.abs(minor) / 100)},${two(Math.abs(minor) % 100)}`;
  let balance = 0;
  const rows = Array.from({ length: lines }, (_, i) => {
    const minor = (((i * 7919) % 90_000) + 100) * (i % 4 === 0 ? -1 : 1);
    balance += minor;
    const day = `${two(1 + (i % 28))}.${two(1 + (Math.floor(i / 28) % 12))}.2026`;
    return `${day};Kunde ${i % 997};R-${1_000_000 + i};${money(minor)};${money(balance)}`;
  });
  return ['Datum;Name;Text;Betrag EUR;Saldo', ...rows].join('\r\n');
}

const [first = '1000000', second = '100000'] = process.argv.slice(2);
if (WAYS[first]) console.log(JSON.stringify(await measure(first, second)));
else {
  const files = {
    csv: join(tmpdir(), `bench-${process.pid}.csv`),
    xml: join(tmpdir(), `bench-${process.pid}.xml`),
  };
  const entries = Array.from({ length: Number(second) }, (_, i) => ({
    amount: `${100 + (i % 900)}.${String(i % 100).padStart(2, '0')}`,
    ...{
      bank: `B${i}`,
      text: `Invoice of October, order ${i}`,
      name: 'Erika Mustermann',
      endToEnd: `ORDER-${i}`,
    },
  }));
  try {
    writeFileSync(files.csv, csv(Number(first)));
    writeFileSync(files.xml, camt(entries));
    report('CSV', 'lines', files.csv);
    report('CAMT', 'xml', files.xml);
  } finally {
    for (const file of Object.values(files)) rmSync(file, { force: true });
  }
}
