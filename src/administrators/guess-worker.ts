// The thread in which one password is looked at: it keeps nobody waiting, and its word lists go with it.
import { parentPort, workerData } from 'node:worker_threads';
import { isGuessable } from './guessable.ts';

const { password, about } = workerData as { password: string; about: string[] };
parentPort!.postMessage(await isGuessable(password, about));
