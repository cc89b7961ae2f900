import assert from "node:assert/strict";
import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { FlushLog } from "../../../plugins/lancedb/flush_log.ts";
import { WindowsTable } from "../../../plugins/lancedb/windows_table.ts";
import type { IndexEntry, VectorStore } from "../../../src/interfaces/mod.ts";
import { FailingTable, memory, SCOPE } from "./failing_table.ts";

const ID = memory(1).id;
/** Memory 1 is what others write beside a reading; 2 and 3 stay as they are. */
const OTHERS = [2, 3].map(memory);

/** What others do while a reading is under way. */
interface Beside {
  replace(version: number): Promise<void>;
  remove(): Promise<void>;
  /** Carries over what waits; deletes from the table what is gone. */
  carry(): Promise<void>;
}

interface Interleaving {
  readonly name: string;
  /** Versions of memory 1 that the reading may answer; `undefined`: that there is none. */
  readonly allowed: readonly (number | undefined)[];
  /** Whether the table has memory 1 when the reading begins. */
  readonly carried: boolean;
  act(beside: Beside): Promise<void>;
}

const INTERLEAVINGS: readonly Interleaving[] = [
  {
    name: "replaced",
    allowed: [1, 2],
    carried: true,
    act: ({ replace }) => replace(2),
  },
  {
    name: "replaced and carried over",
    allowed: [1, 2],
    carried: true,
    async act({ replace, carry }) {
      await replace(2);
      await carry();
    },
  },
  {
    name: "replaced, carried over and replaced again",
    allowed: [1, 2, 3],
    carried: true,
    async act({ replace, carry }) {
      await replace(2);
      await carry();
      await replace(3);
    },
  },
  {
    name: "deleted",
    allowed: [1, undefined],
    carried: true,
    act: ({ remove }) => remove(),
  },
  {
    name: "deleted from the table, too",
    allowed: [1, undefined],
    carried: true,
    async act({ remove, carry }) {
      await remove();
      await carry();
    },
  },
  {
    name: "deleted and written anew",
    allowed: [1, undefined],
    carried: true,
    async act({ remove, replace }) {
      await remove();
      await replace(1);
    },
  },
  {
    name: "deleted, written anew and carried over",
    allowed: [1, undefined],
    carried: true,
    async act({ remove, replace, carry }) {
      await remove();
      await carry();
      await replace(1);
      await carry();
    },
  },
  {
    name: "carried over",
    allowed: [1],
    carried: false,
    act: ({ carry }) => carry(),
  },
  {
    name: "carried over and replaced",
    allowed: [1, 2],
    carried: false,
    async act({ replace, carry }) {
      await carry();
      await replace(2);
    },
  },
  {
    name: "replaced while it waits, and carried over",
    allowed: [1, 2],
    carried: false,
    async act({ replace, carry }) {
      await replace(2);
      await carry();
    },
  },
  {
    name: "deleted while it waits",
    allowed: [1, undefined],
    carried: false,
    act: ({ remove }) => remove(),
  },
];

type Reading = (store: VectorStore) => Promise<readonly IndexEntry[]>;

const READINGS: Readonly<Record<string, Reading>> = {
  async search(store) {
    const [vector] = memory(1).vectors;
    const found = await store.search({ ...SCOPE, vector: vector!, limit: 10 });
    return found.map(({ entry }) => entry);
  },
  get: (store) => store.get(SCOPE.owner, [ID, ...OTHERS.map(({ id }) => id)]),
  scan: async (store) => (await store.scan(SCOPE)).entries,
};

/** Resolves once the catalogue is told of a batch that was carried over or deleted. */
function told(method: "confirm" | "deleted"): Promise<void> {
  const original: (given: never) => Promise<void> = FlushLog.prototype[method];
  const { promise, resolve } = Promise.withResolvers<void>();
  const { mock: mocked } = mock.method(
    FlushLog.prototype,
    method,
    async function (this: FlushLog, given: never) {
      await original.call(this, given);
      mocked.restore();
      resolve();
    },
  );
  return promise;
}

/** Runs one batch of what waits and what is gone. */
async function runBatch(failing: FailingTable, ...ends: Promise<void>[]): Promise<void> {
  failing.beQuiet();
  await Promise.all(ends);
  // The batch ends after what it told.
  await setImmediate();
}

function besideOf(store: VectorStore, failing: FailingTable): Beside {
  /** What the next batch tells the catalogue. */
  const due = { confirm: false, deleted: false };
  let inTable = false;
  return {
    async replace(version) {
      due.deleted ||= inTable;
      due.confirm = true;
      inTable = false;
      await store.upsert([{ ...memory(1), version }]);
    },
    async remove() {
      due.deleted ||= inTable;
      inTable = false;
      await store.delete(SCOPE, [ID]);
    },
    async carry() {
      const done = (["confirm", "deleted"] as const).filter((method) => due[method]).map(told);
      inTable ||= due.confirm;
      due.confirm = due.deleted = false;
      await runBatch(failing, ...done);
    },
  };
}

/** Lets others act once, right before or right after the table is read. */
function meanwhile(method: "nearest" | "fetch", after: boolean, act: () => Promise<void>): void {
  const original: (given: never) => Promise<unknown> = WindowsTable.prototype[method];
  const { mock: mocked } = mock.method(
    WindowsTable.prototype,
    method,
    async function (this: WindowsTable, given: never) {
      mocked.restore();
      if (!after) await act();
      const found = await original.call(this, given);
      if (after) await act();
      return found;
    },
  );
}

const MOMENTS = [
  { method: "nearest", after: false, readings: ["search"] },
  { method: "nearest", after: true, readings: ["search"] },
  { method: "fetch", after: false, readings: ["search", "get", "scan"] },
  { method: "fetch", after: true, readings: ["search", "get", "scan"] },
] as const;

for (const { method, after, readings } of MOMENTS) {
  for (const reading of readings) {
    for (const { name, allowed, carried, act } of INTERLEAVINGS) {
      const when = `${after ? "after" : "before"} ${method}`;
      Deno.test(`a ${reading} beside a memory that is ${name}, ${when}`, async () => {
        await using failing = await FailingTable.create();
        await using store = await failing.open({ rows: 1000 });
        await store.upsert(OTHERS);
        await runBatch(failing, told("confirm"));
        const beside = besideOf(store, failing);
        await beside.replace(1);
        if (carried) await beside.carry();
        let acted = false;
        meanwhile(method, after, async () => {
          await act(beside);
          acted = true;
        });
        const found = await READINGS[reading]!(store);
        const versions = found.filter(({ id }) => id === ID).map(({ version }) => version);
        assert.ok(versions.length <= 1, "answered twice");
        assert.ok(allowed.includes(versions[0]), `answered version ${versions[0]}`);
        const others = found.map(({ id }) => id).filter((id) => id !== ID);
        assert.deepEqual(others.sort(), OTHERS.map(({ id }) => id));
        assert.ok(acted, "nothing was read from the table");
      });
    }
  }
}
