import assert from "node:assert/strict";
import { type Constants, excess, type Habits, needsOf } from "../../bench/scale/model.ts";

const CONSTANTS: Constants = {
  memoryBytes: 1000,
  jobBytes: 100,
  logBytes: 2000,
  transactionsOfMemory: 2,
  transactionsOfRecall: 1,
  idleTransactions: 5,
  relayerMsOfMemory: 4,
  relayerMsOfRecall: 2,
  databaseMsOfMemory: 2,
  databaseMsOfRecall: 1,
  openMs: 10,
  databaseMsOfOpening: 5,
  ramBytes: 100,
  relayerRam: 1_000_000,
  connections: 10,
  jobDays: 10,
};
const HABITS: Habits = {
  memoriesOfOwner: 2000,
  writesADay: 36,
  recallsADay: 72,
  busiestHour: 0.5,
  activeShare: 0.36,
  strays: 0,
};

Deno.test("what an installation needs follows from its constants", () => {
  const needs = needsOf({ relayers: 2, owners: 1000 }, HABITS, CONSTANTS, {
    core: 10,
    ramGiB: 0,
    diskGiB: 0,
  });
  assert.equal(needs.memories, 2_000_000);
  assert.equal(needs.diskBytes, 2_000_000 * 1000 + 1000 * 36 * 10 * 100);
  assert.equal(needs.writes, 5);
  assert.equal(needs.recalls, 10);
  assert.equal(needs.coldOpens, 0.1);
  assert.equal(needs.transactions, 5 * 2 + 10 + 2 * 5);
  assert.equal(needs.logBytes, 10_000);
  assert.equal(needs.connections, 20);
  // Two thousand memories of an owner are opened at once.
  const near = (value: number, wanted: number) => assert.ok(Math.abs(value - wanted) < 1e-9);
  near(needs.databaseCores, 5 * 0.002 + 10 * 0.001 + 0.1 * 2 * 0.005);
  near(needs.relayerCores, (5 * 0.004 + 10 * 0.002 + 0.1 * 2 * 0.01) / 2);
  assert.equal(needs.relayerRam, 1_000_000 + 360 * 2000 * 100 / 2);
  near(needs.cost, (2 * needs.relayerCores + needs.databaseCores) / 0.5 * 10);
});

Deno.test("what one server gives least of comes first", () => {
  const needs = needsOf({ relayers: 100, owners: 1000 }, HABITS, CONSTANTS, {
    core: 0,
    ramGiB: 0,
    diskGiB: 0,
  });
  const limits = { cores: 1, connections: 500, transactions: 1e9, logBytes: 1e9, diskBytes: 1e12 };
  assert.deepEqual(excess(needs, limits)[0], ["connections", 2]);
});
