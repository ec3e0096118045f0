// Worker thread that folds the write-ahead log of SQLite into the database, so that no request waits for the disk.
import { parentPort, workerData } from 'node:worker_threads';
import { Connection } from './sqlite-connection.ts';
import type { Folded } from './write-ahead-log.ts';

let connection: Connection | undefined;

parentPort!.on('message', (order: 'fold' | 'close') => {
  if (order === 'close') {
    connection?.raw.close();
    parentPort!.close();
  } else parentPort!.postMessage(fold());
});

function fold(): Folded {
  try {
    connection ??= new Connection(workerData as string, { readOnly: false });
    connection.all('pragma wal_checkpoint(passive)', []);
    return undefined;
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number };
    return { errcode, message };
  }
}
