// Worker thread that scores one password, so that the event loop stays free and the word lists are unloaded afterwards.
import { parentPort, workerData } from 'node:worker_threads';
import { isGuessable } from './guessable.ts';

const { password, about } = workerData as { password: string; about: string[] };
parentPort!.postMessage(await isGuessable(password, about));
