// A merchant's webhook endpoints in tests, through /v1: added, read, changed, deleted, and what was delivered to them.
import assert from 'node:assert/strict';
import type { Answer, Harness } from './harness.ts';

const PATH = '/v1/webhook_endpoints';

/** A delivery, as far as tests look at it. */
export interface Shown {
  id: string;
  status: string;
  event_id: string;
  event_type: string;
  attempt_count: number;
  next_attempt_at: string | null;
  last_attempt: { status: number | null; reason: string } | null;
}

/** Endpoints at `urlOf(path)` of the merchant who has the key: Development Shop where none is given. */
export function endpointsOf(
  service: Pick<Harness, 'request'>,
  urlOf: (path?: string) => string,
  key?: string,
) {
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await service.request(PATH + path, { method, body, ...(key && { key }) });
    assert.ok(answer.status < 300, answer.text);
    return answer.json.data as Answer['json'];
  };
  return {
    /** What the answer tells of it, the secret with it. */
    add: (path?: string, fields: object = {}) => ask('POST', '', { url: urlOf(path), ...fields }),
    read: (id: string) => ask('GET', `/${id}`),
    change: (id: string, body: object) => ask('PATCH', `/${id}`, body),
    remove: (id: string) => ask('DELETE', `/${id}`),
    deliveries: (id: string, query = '?limit=100'): Promise<Shown[]> =>
      ask('GET', `/${id}/deliveries${query}`),
  };
}
