import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { type OpenConnection, OpenConnections } from "../../src/http1/open_connections.ts";

/** A connection that notes in a list when it is closed. */
function connection(network: string, name: string, closed: string[]): OpenConnection {
  return { network, close: () => void closed.push(name), check() {} };
}

/** Connections of several networks, by names such as `a1`; the letters are the networks. */
function filled(
  caps: { readonly connections?: number; readonly connectionsPerNetwork?: number },
  names: readonly string[],
  isKnown?: (network: string) => boolean,
) {
  const closed: string[] = [];
  const all = new OpenConnections(
    { connections: 100, connectionsPerNetwork: 100, ...caps },
    isKnown,
  );
  const byName = new Map<string, OpenConnection>();
  const admit = (name: string, isBounded = true) => {
    const network = name[0]!;
    if (!all.admits(network, isBounded)) return false;
    const made = connection(network, name, closed);
    byName.set(name, made);
    all.add(made);
    return true;
  };
  for (const name of names) assert.ok(admit(name));
  const of = (name: string) => byName.get(name)!;
  return { all, closed, admit, of };
}

Deno.test("where there is no room, the largest network gives what never sent a request", () => {
  verifies("3-67");
  const { all, closed, admit, of } = filled({ connections: 5 }, ["b1", "a1", "a2", "a3", "c1"]);
  all.setBusy(of("a1"));
  assert.ok(admit("d1"));
  assert.deepEqual(closed, ["a2"]);
  // Of networks that have as many, the one that was there first.
  all.setIdle(of("a1"));
  assert.ok(admit("a4"));
  assert.deepEqual(closed, ["a2", "a3"]);
  assert.ok(admit("d2"));
  assert.deepEqual(closed, ["a2", "a3", "a4"]);
  assert.ok(admit("d3"));
  assert.deepEqual(closed.slice(3), ["d1"]);
  assert.equal(all.size, 5);
});

Deno.test("strangers give connections up before networks that somebody signed from", () => {
  verifies("3-67");
  const names = ["a1", "a2", "a3", "b1", "c1"];
  const { closed, admit } = filled({ connections: 5 }, names, (network) => network === "a");
  assert.ok(admit("d1"));
  assert.ok(admit("a4"));
  assert.ok(admit("a5"));
  assert.deepEqual(closed, ["b1", "c1", "d1"]);
  // Nobody else is left.
  assert.ok(admit("e1"));
  assert.deepEqual(closed.slice(3), ["a1"]);
});

Deno.test("what waits for another request goes behind what sent none, the oldest first", () => {
  const { all, closed, admit, of } = filled({ connections: 3 }, ["a1", "a2", "a3"]);
  for (const name of ["a2", "a1", "a3"]) all.setBusy(of(name));
  for (const name of ["a2", "a1"]) all.setIdle(of(name));
  assert.ok(admit("b1"));
  assert.deepEqual(closed, ["a2"]);
  assert.ok(admit("b2"));
  assert.deepEqual(closed, ["a2", "a1"]);
  all.setBusy(of("b1"));
  all.setBusy(of("b2"));
  // Nobody is in the middle of nothing.
  assert.ok(!admit("c1"));
  all.remove(of("a3"));
  assert.ok(admit("c1"));
  assert.deepEqual(closed, ["a2", "a1"]);
});

Deno.test("a bounded network makes room within itself, and others are not asked", () => {
  const caps = { connectionsPerNetwork: 2 };
  const { all, closed, admit, of } = filled(caps, ["b1", "a1", "a2"]);
  assert.ok(admit("a3"));
  assert.deepEqual(closed, ["a1"]);
  all.setBusy(of("a2"));
  all.setBusy(of("a3"));
  assert.ok(!admit("a4"));
  assert.ok(admit("a4", false));
  assert.ok(admit("b2"));
  assert.deepEqual(closed, ["a1"]);
});

Deno.test("where descriptors ran out, some stay free from then on", () => {
  const names = Array.from({ length: 200 }, (_, i) => `a${i}`);
  const { all, closed, admit } = filled({ connections: 1000, connectionsPerNetwork: 1000 }, names);
  all.shrink();
  assert.equal(all.size, 136);
  assert.deepEqual(closed, names.slice(0, 64));
  assert.ok(admit("b1"));
  assert.equal(all.size, 136);
  // It never gives up.
  for (let i = 0; i < 10; i++) all.shrink();
  assert.equal(all.size, 32);
  assert.ok(admit("b2"));
});

Deno.test("everything that waits can be closed, and what was closed is forgotten", () => {
  const { all, closed, of } = filled({}, ["a1", "a2", "b1"]);
  const busy = of("a2");
  all.setBusy(busy);
  all.closeIdle();
  assert.deepEqual(closed, ["a1", "b1"]);
  assert.deepEqual([...all], [busy]);
  all.remove(busy);
  all.setIdle(busy);
  assert.equal(all.size, 0);
  all.closeIdle();
  assert.deepEqual(closed, ["a1", "b1"]);
});
