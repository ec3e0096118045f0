// Faults injected into a running service: what health, readiness, doctor, measurements, log and runbook say, and within which time.
// It prints the table that docs/reliability.md holds.
import { after, before, describe, test } from 'node:test';
import { freePort } from '../support/free-ports.ts';
import { FAULTS } from './told-faults.ts';
import { Watch } from './told-watch.ts';

const HEAD = [
  'Fault',
  '`/health`',
  '`/health/ready`',
  '`doctor`',
  'Measurements, alert',
  'Log, or the refusal',
  'Runbook',
];
const rows: string[][] = [];

before(() => freePort());
after(() => {
  const lines = [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  console.log(lines.join('\n'));
});

describe('each fault is told as the table says', { concurrency: true }, () => {
  for (const [where, faults] of Object.entries(FAULTS))
    describe(`a fault of the ${where}`, { concurrency: 1 }, () => {
      for (const { what, skip, site: make, inject, told } of faults)
        test(what, { skip: skip ?? false }, async () => {
          const site = await make();
          try {
            const watch = await Watch.of(site);
            await inject(site);
            rows.push([what, ...(await watch.cells(told))]);
          } finally {
            await site.end();
          }
        });
    });
});
