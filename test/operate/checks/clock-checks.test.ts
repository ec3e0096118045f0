// What the health page says of the system clock while a service runs that goes on without it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SteadyClock } from '../../../src/lib/steady-clock.ts';
import { HOUR_MS, SECOND_MS } from '../../../src/lib/time.ts';
import type { Subject } from '../../../src/operate/checks/check.ts';
import { CHECKS } from '../../../src/operate/checks/checks.ts';

const check = CHECKS.find(({ id }) => id === 'system_clock')!;
const subject = (part: Partial<Subject>) => part as Subject;

test('a service that stands aside from the system clock says by how much, and what to do.', async () => {
  let [wall, monotonic] = [1_790_000_000_000, 0];
  const clock = new SteadyClock(
    () => wall,
    () => monotonic,
  );
  const running = subject({ clock, verification: () => undefined });
  const after = async (setByMs: number) => {
    wall += setByMs + SECOND_MS;
    monotonic += SECOND_MS;
    clock.look();
    const { is, says, fix } = await check.look(running);
    return fix === undefined ? is : `${is}: ${says}; ${fix}`;
  };
  assert.equal(await after(0), 'ok');
  assert.equal(await after(-4 * SECOND_MS), 'ok');
  assert.equal(
    await after(4 * SECOND_MS - HOUR_MS),
    'failed: The system clock was set, and the service is 3600 s ahead of it; see that the clock is right, then restart the service',
  );
  assert.match(await after(HOUR_MS + 60 * SECOND_MS), /^warning: .* is 60 s behind it; /);
  assert.equal(await after(-60 * SECOND_MS), 'ok');
});

test('where no service runs nothing is said of it.', async () => {
  const clock = new SteadyClock(Date.now, () => performance.now());
  assert.equal((await check.look(subject({ clock }))).is, 'skipped');
});
