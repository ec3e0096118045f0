// The clock of a process, fed by hand with what the machine's clocks say: sudden steps, slow drift, and years of both by chance.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SteadyClock } from '../../src/lib/steady-clock.ts';
import { DAY_MS, HOUR_MS, inTime, MINUTE_MS, SECOND_MS } from '../../src/lib/time.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { standStill } from '../support/waiting.ts';

const BEGIN = Date.UTC(2026, 10, 21, 12);
const { seed } = new SeededRandom();
const HISTORIES = 300;

/** A machine whose clock can be set. */
class Machine {
  monotonic = 5000;
  wall = BEGIN;
  readonly clock = new SteadyClock(
    () => this.wall,
    () => this.monotonic,
  );
  pass(ms: number): void {
    this.monotonic += ms;
    this.wall += ms;
  }
  /** Lets time pass in which the clock is looked after each second. Gives what the looks found. */
  live(ms: number) {
    const found = [];
    for (let rest = ms; rest > 0; rest -= SECOND_MS) {
      this.pass(Math.min(rest, SECOND_MS));
      found.push(this.clock.look());
    }
    return found.filter((one) => one !== undefined);
  }
  set(byMs: number): void {
    this.wall += byMs;
  }
  /** How far the clock is from what it would be had nobody set anything. */
  get off(): number {
    return this.clock.now() - (BEGIN + this.monotonic - 5000);
  }
}

describe('the steady clock', () => {
  test('begins with the machine and goes on with the time that passes.', () => {
    const machine = new Machine();
    assert.equal(machine.clock.now(), BEGIN);
    machine.pass(1234.5);
    assert.equal(machine.clock.now(), BEGIN + 1234);
    assert.deepEqual(machine.live(DAY_MS), []);
    assert.ok(Math.abs(machine.clock.now() - machine.wall) <= 1);
  });

  for (const [name, by] of [
    ['a second', SECOND_MS],
    ['an hour', HOUR_MS],
    ['400 days', 400 * DAY_MS],
  ] as const) {
    test(`does not go back when the machine's clock is set back by ${name}, and says so once.`, () => {
      const machine = new Machine();
      machine.set(-by);
      const found = machine.live(30 * MINUTE_MS);
      assert.equal(found.length, 1);
      assert.ok(Math.abs(found[0]!.set + by) < 2);
      assert.ok(machine.off <= 0 && machine.off >= -30 * MINUTE_MS * (1 / 2000) - 1, String(machine.off));
    });

    test(`does not follow a step of ${name} forward that is put right within a minute.`, () => {
      const machine = new Machine();
      machine.set(by);
      const [forward, ...more] = machine.live(MINUTE_MS);
      assert.ok(Math.abs(forward!.set - by) < 2 && forward!.followed === 0);
      assert.deepEqual(more, []);
      machine.set(-by);
      const [right, ...after] = machine.live(HOUR_MS);
      assert.ok(Math.abs(right!.set + by) < 2 && Math.abs(right!.ahead) < 100);
      assert.deepEqual(after, []);
      assert.ok(Math.abs(machine.off) < 100, String(machine.off));
    });

    test(`follows a step of ${name} forward that has stood for a minute.`, () => {
      const machine = new Machine();
      machine.set(by);
      machine.live(MINUTE_MS);
      assert.ok(machine.off < 100);
      const [followed] = machine.live(SECOND_MS);
      assert.ok(Math.abs(followed!.followed - by) < 100);
      assert.ok(Math.abs(machine.off - by) < 100);
      assert.deepEqual(machine.live(HOUR_MS), []);
    });
  }

  test('follows only what stood for the whole minute of a step that grew in it.', () => {
    const machine = new Machine();
    machine.set(HOUR_MS);
    machine.live(50 * SECOND_MS);
    machine.set(400 * DAY_MS);
    machine.live(15 * SECOND_MS);
    assert.ok(Math.abs(machine.off - HOUR_MS) < 100, String(machine.off));
    machine.set(-400 * DAY_MS);
    machine.live(HOUR_MS);
    assert.ok(Math.abs(machine.off - HOUR_MS) < 100, String(machine.off));
  });

  test('never believes a clock that is put right before each minute is over.', () => {
    const machine = new Machine();
    for (let i = 0; i < 100; i++) {
      machine.set(HOUR_MS);
      machine.live(59 * SECOND_MS);
      machine.set(-HOUR_MS);
      machine.live(SECOND_MS);
    }
    assert.ok(Math.abs(machine.off) < 10 * SECOND_MS, String(machine.off));
  });

  test('comes near a clock that is some seconds behind, a second in 2000, and does not stand still for it.', () => {
    const machine = new Machine();
    machine.set(-5 * SECOND_MS);
    for (let i = 0; i < 5 * 2000; i++) {
      const before = machine.clock.now();
      machine.live(SECOND_MS);
      assert.ok(machine.clock.now() - before >= 999);
    }
    machine.live(10 * MINUTE_MS);
    assert.ok(Math.abs(machine.clock.now() - machine.wall) <= 2);
  });

  test('takes nothing from a look during which the process stood still.', () => {
    let [wall, monotonic] = [BEGIN, 0];
    let pause = 0;
    const clock = new SteadyClock(
      () => wall,
      () => {
        const now = monotonic;
        monotonic += pause;
        wall += pause;
        return now;
      },
    );
    pause = 10 * SECOND_MS;
    assert.equal(clock.look(), undefined);
    pause = 0;
    assert.equal(clock.look(), undefined);
    assert.ok(Math.abs(clock.now() - wall) < 100);
  });

  test(`keeps its promises through ${HISTORIES} histories of steps by chance (seed ${seed}).`, () => {
    for (let i = 0; i < HISTORIES; i++) history(new SeededRandom(seed + i), `seed ${seed} + ${i}`);
  });
});

/**
 * One history: waits and steps of all sizes. Whatever comes, time goes forward, by a 2000th less or more than passes at most, but
 * where it follows a lead that the machine's clock had all through a minute.
 */
function history(random: SeededRandom, told: string): void {
  const machine = new Machine();
  const leads: { at: number; lead: number }[] = [];
  let last = machine.clock.now();
  for (let step = 0; step < 60; step++) {
    const sizes = [40, 400, SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS, 400 * DAY_MS];
    if (random.chance(0.7)) machine.set((random.chance(0.5) ? 1 : -1) * random.pick(sizes) * random.next());
    for (let looks = random.between(1, 130); looks > 0; looks--) {
      const passed = random.chance(0.1) ? random.between(1, 5 * MINUTE_MS) : SECOND_MS;
      machine.pass(passed);
      const before = machine.clock.now();
      leads.push({ at: machine.monotonic, lead: machine.wall - before });
      const followed = machine.clock.look()?.followed ?? 0;
      const now = machine.clock.now();
      assert.ok(before >= last && now >= before, `${told}: backwards`);
      const lived = now - last - followed;
      assert.ok(Math.abs(lived - passed) <= passed / 2000 + 2, `${told}: ${passed} ms were ${lived}`);
      if (followed > 0) {
        const begun = leads.findLastIndex(({ at }) => at <= machine.monotonic - MINUTE_MS);
        const least = Math.min(...leads.slice(begun).map(({ lead }) => lead));
        assert.ok(
          begun >= 0 && followed <= least + 100,
          `${told}: followed ${followed} ms, ${least} had stood`,
        );
      }
      last = now;
    }
  }
}

test('a time limit is not over for what came while the process stood still', async () => {
  await new Promise(setImmediate); // from here on timers come before what is immediate
  const came = new Promise((resolve) => setImmediate(resolve, 'came'));
  const answer = inTime<unknown>(40, came, () => 'late');
  standStill(60);
  assert.equal(await answer, 'came');
  assert.equal(await inTime(4, new Promise(() => {}), () => 'late'), 'late');
});
