// Worker thread that reads one file of statements, so that no request waits for it.
import { parentPort, workerData } from 'node:worker_threads';
import { readStatements } from '#bank-statements';
import type { FileToRead } from './read-beside.ts';

const { bytes, name, csv } = workerData as FileToRead;
parentPort!.postMessage(readStatements(bytes, name, csv));
