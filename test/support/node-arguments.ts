// The arguments of Node with which `npm start` runs the service.
import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

export const NODE_ARGUMENTS: readonly string[] = scripts.start.match(/--\S+/g);
