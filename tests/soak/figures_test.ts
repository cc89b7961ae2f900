import assert from "node:assert/strict";
import { p95, type Sample, slope, type Timing, verdictsOf } from "./figures.ts";

const MINUTES = 60;

function samplesOf(memory: (minute: number) => number, open: (minute: number) => number): Sample[] {
  return Array.from({ length: MINUTES }, (_, minute) => ({
    at: 60 * minute,
    relayerMiB: memory(minute),
    sidecarMiB: 50,
    descriptors: open(minute),
  }));
}

function timingsOf(ms: (minute: number) => number): Timing[] {
  return Array.from({ length: MINUTES }, (_, minute) => ({ at: 60 * minute, ms: ms(minute) }));
}

const met = (samples: readonly Sample[], timings: readonly Timing[]) =>
  verdictsOf(60 * MINUTES, samples, timings).map(({ isMet }) => isMet);

Deno.test("a slope and a quantile are what they are called", () => {
  assert.equal(slope([[0, 1], [1, 3], [2, 5]]), 2);
  assert.equal(slope([[1, 1]]), 0);
  assert.equal(p95(Array.from({ length: 100 }, (_, i) => i + 1)), 95);
});

Deno.test("what grows, slows down or stays open after the first sixth is seen", () => {
  const flat = samplesOf(() => 150, () => 40);
  const steady = timingsOf(() => 2);
  assert.deepEqual(met(flat, steady), [true, true, true]);
  const warming = samplesOf((minute) => 150 + 10 * Math.min(minute, 10), () => 40);
  assert.deepEqual(met(warming, steady), [true, true, true]);
  const growing = samplesOf((minute) => 150 + 1.6 * minute, () => 40);
  assert.deepEqual(met(growing, steady), [false, true, true]);
  const leaking = samplesOf(() => 150, (minute) => 40 + minute);
  assert.deepEqual(met(leaking, steady), [true, true, false]);
  const slower = timingsOf((minute) => minute < 30 ? 2 : 5);
  assert.deepEqual(met(flat, slower), [true, false, true]);
});
