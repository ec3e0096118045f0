// What a refused request must look like: 422, and a fault for just the fields that have one.
import assert from 'node:assert/strict';
import type { Answer } from './harness.ts';

export function assertFaults(answer: Answer, names: string[], label: string): void {
  assert.equal(answer.status, 422, `${label}: ${answer.text}`);
  assert.equal(answer.json.error.code, 'validation_failed', label);
  assert.deepEqual(Object.keys(answer.json.error.details).sort(), [...names].sort(), label);
}
