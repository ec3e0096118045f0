// Worker thread that reads one file of statements, so that no request waits for it. Its lines follow in parts: each is taken over quickly.
import { parentPort, workerData } from 'node:worker_threads';
import { readStatements } from '#bank-statements';
import { type FileToRead, LINES_IN_PART, type ReadPart } from './read-beside.ts';

const { bytes, name, csv } = workerData as FileToRead;
const send = (part: ReadPart) => parentPort!.postMessage(part);
const read = readStatements(bytes, name, csv);
const lines = read.statements.map((one) => one.lines);
for (const statement of read.statements) statement.lines = [];
send({ read });
for (const [statement, all] of lines.entries())
  for (let from = 0; from < all.length; from += LINES_IN_PART)
    send({ statement, lines: all.slice(from, from + LINES_IN_PART) });
send({ isEnd: true });
