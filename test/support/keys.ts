// What the files and the store know of an API key: its digest, and the id that is made of that.
import { createHash } from 'node:crypto';

export const digestOf = (key: string) => createHash('sha256').update(key).digest('hex');
export const idOfKey = (key: string) => `key_${digestOf(key).slice(0, 16)}`;
