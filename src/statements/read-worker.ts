// Worker thread that reads one file of statements: as a whole without the lines of a large one, or those lines in parts.
import { parentPort, workerData } from 'node:worker_threads';
import { bytesInMemory, readInStream, type StatementLine } from '#bank-statements';
import { type FileToRead, LINES_SENT, PARTS_AHEAD, type ReadPart } from './read-beside.ts';
import { LINES_AT_ONCE, Telling } from './told-lines.ts';

const { bytes, name, csv, parts } = workerData as FileToRead;
const send = (part: ReadPart, transfer: ArrayBuffer[] = []) => parentPort!.postMessage(part, transfer);

/** Reads the file, and tells of its lines. Those of a small file are sent with it. */
function readWhole(): void {
  const tellings = new Map<number, Telling>();
  const kept = new Map<number, StatementLine[]>();
  let count = 0;
  const { places, ...read } = readInStream(bytesInMemory(bytes), name, csv, (line, place) => {
    const telling = tellings.get(place) ?? new Telling();
    tellings.set(place, telling);
    telling.add(line);
    if (++count <= LINES_SENT) kept.set(place, [...(kept.get(place) ?? []), line]);
    else kept.clear();
  });
  const told = read.statements.map(({ opening }, i) =>
    (tellings.get(places[i]!) ?? new Telling()).end(opening),
  );
  const isLarge = count > LINES_SENT;
  for (const [i, statement] of read.statements.entries())
    statement.lines = isLarge ? [] : (kept.get(places[i]!) ?? []);
  send({ read: { ...read, told, places: isLarge ? places : undefined, bytes } }, [bytes.buffer]);
}

/** Sends the lines of some statements in parts, and waits while more of them are on their way than `PARTS_AHEAD`. */
function sendLines(places: readonly number[], taken: Int32Array): void {
  const waiting = new Map<number, StatementLine[]>(places.map((place) => [place, []]));
  let sent = 0;
  const flush = (place: number, lines: StatementLine[]) => {
    send({ part: { place: places.indexOf(place), lines } });
    waiting.set(place, []);
    sent++;
    for (;;) {
      const before = Atomics.load(taken, 0);
      if (sent - before < PARTS_AHEAD) return;
      Atomics.wait(taken, 0, before);
    }
  };
  readInStream(bytesInMemory(bytes), name, csv, (line, place) => {
    const lines = waiting.get(place);
    lines?.push(line);
    if (lines?.length === LINES_AT_ONCE) flush(place, lines);
  });
  for (const [place, lines] of waiting) if (lines.length > 0) flush(place, lines);
  send({ isEnd: true, bytes }, [bytes.buffer]);
}

if (parts) sendLines(parts.places, parts.taken);
else readWhole();
