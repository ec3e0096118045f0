// Incidents under load, one after the other: seen in time, told, ended by the runbook. A client of its own counts what it was answered.
// It prints the table that docs/reliability.md holds.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../support/free-ports.ts';
import { eventually } from '../support/waiting.ts';
import { INCIDENTS, type Incident } from './incidents.ts';
import { PaymentCounter } from './payment-counter.ts';
import type { Site } from './told-site.ts';

const HEAD = ['Incident', 'Seen after', 'Said', 'Ended by', 'Acknowledged', 'Lost', 'Doubled'];
/** Payments acknowledged before an incident, and after its end. */
const BEFORE = 60;
const AFTER = 30;
const SEEN_WITHIN_MS = 10_000;
const rows: string[][] = [];

const isRefused = (health: Incident['health']) => health === 1 || health === 78;

/** Waits until all is seen and said. Returns how long the first took, and the words. */
async function seen(
  site: Site,
  { health, says }: Incident,
  logged: number,
): Promise<{ ms: number; words: string | undefined }> {
  const begun = performance.now();
  if (isRefused(health)) assert.equal(site.refused?.code, health, site.refused?.said ?? 'it started');
  else
    await eventually(async () => {
      const { status } = await site.ask('/health');
      return status === (health === 'no answer' ? undefined : health);
    });
  const ms = performance.now() - begun;
  const lines = () => [...site.server.output.slice(logged), site.refused?.said ?? ''];
  if (!says) return { ms, words: undefined };
  const words = () => says.exec(lines().join('\n'))?.[0];
  await eventually(
    () => words() !== undefined,
    () => `not said: ${says}; said: ${lines().slice(-5).join('\n')}`,
  );
  return { ms, words: words() };
}

before(() => freePort());
after(() => {
  const lines = [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  console.log(lines.join('\n'));
});

describe('an incident loses nothing that was acknowledged, and doubles nothing', {
  concurrency: true,
}, () => {
  for (const [where, incidents] of Object.entries(INCIDENTS))
    describe(where, { concurrency: 1 }, () => {
      for (const incident of incidents)
        test(incident.what, { skip: incident.skip ?? false }, async () => {
          const { what, health, end, losesAll } = incident;
          const site = await incident.site();
          try {
            const counter = new PaymentCounter(site.origin);
            await counter.more(BEFORE);
            const logged = site.server.output.length;
            await incident.happen(site);
            const { ms, words } = await seen(site, incident, logged);
            assert.ok(ms < SEEN_WITHIN_MS, `seen after ${ms} ms`);
            if (health === 200) await counter.more(AFTER);
            const atMost = counter.acknowledged;
            await incident.lead(site);
            assert.equal(site.refused, undefined);
            await counter.more(AFTER);
            const { acknowledged, lost, doubled } = await counter.count();
            assert.deepEqual(doubled, []);
            assert.equal(lost.length, losesAll ? atMost : 0, lost.slice(0, 5).join());
            const verified = await site.run('audit', 'verify');
            assert.equal(verified.code, 0, verified.said);
            const told = isRefused(health) ? `the start ends with ${health}` : `\`/health\` ${health}`;
            const when = isRefused(health) ? 'at the start' : `${(ms / 1000).toFixed(1)} s`;
            const said = words ? `${told}; \`${words}\`` : told;
            const counts = [acknowledged, lost.length, doubled.length].map(String);
            rows.push([what, when, said, end, ...counts]);
          } finally {
            await site.end();
          }
        });
    });
});
