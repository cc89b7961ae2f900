import assert from "node:assert/strict";
import { parseAddress, postgresVectorStore } from "../../../plugins/postgres/mod.ts";
import type { IndexEntry, ScanPage, Scope, VectorStore } from "../../../src/interfaces/mod.ts";
import { poll } from "../../within.ts";
import { sealerForTests } from "../sealer_for_tests.ts";
import { playCalls } from "../vector_store_calls.ts";
import { onServer } from "./on_server.ts";

const OWNER = "0x" + "a".repeat(64);
const SCOPE: Scope = { owner: OWNER, namespace: "notes" };

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const range = (count: number) => Array.from({ length: count }, (_, n) => n);

function entryOf(n: number, changes: Partial<IndexEntry> = {}): IndexEntry {
  const angle = n / 7;
  return {
    ...SCOPE,
    id: idOf(n),
    version: 1,
    vectors: [Float32Array.of(Math.cos(angle), Math.sin(angle), 0, 0)],
    payload: new TextEncoder().encode(`sealed record ${n}`),
    keyId: "k".repeat(32),
    createdAt: 1000 + n,
    updatedAt: 2000 + n,
    importance: 0.5,
    source: "remember",
    bytes: 100 + n,
    ...changes,
  };
}

/** An entry whose blob is known: nothing is to come for it. */
const linked = (n: number) => entryOf(n, { blobId: `blob-${n}` });

/** The memories of the pages from a cursor on. */
async function scanFrom(store: VectorStore, cursor?: string): Promise<IndexEntry[]> {
  const entries: IndexEntry[] = [];
  let next = cursor;
  do {
    const page: ScanPage = await store.scan(SCOPE, next);
    entries.push(...page.entries);
    next = page.cursor;
  } while (next !== undefined);
  return entries;
}

const idsOf = (entries: readonly IndexEntry[]) => entries.map(({ id }) => id).sort();

onServer((empty, server) => {
  const open = (url: string, changes: object = {}) =>
    postgresVectorStore({
      address: parseAddress(url),
      connections: 4,
      sealer: sealerForTests(),
      dimensions: 4,
      model: "test-model",
      segmentSize: 8,
      ...changes,
    });
  /** Waits until there are so many segments and single rows: packing goes on beside the calls. */
  const packed = async (url: string, segments: number, single: number) => {
    const sql = `select (select count(*)::int from svc.segment) as segments,
      (select count(*)::int from svc.entry where segment is null) as single`;
    await poll(
      async () => (await server().run<{ segments: number; single: number }>(url, sql))[0]!,
      (now) => now.segments === segments && now.single === single,
    );
  };

  Deno.test("any run of calls leaves in PostgreSQL what a map would hold", async () => {
    await playCalls(async () => {
      const url = await empty();
      return {
        open: (segmentSize) => open(url, { segmentSize, dimensions: 2 }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    }, { runs: 20, oneByOne: true });
  });

  Deno.test("segments are packed, thinned out, unpacked and dropped", async () => {
    const url = await empty();
    await using store = await open(url, { segmentSize: 32 });
    await store.upsert(range(64).map(linked));
    await packed(url, 2, 0);
    await store.delete(SCOPE, range(30).map(idOf));
    await packed(url, 2, 0);
    await store.delete(SCOPE, [idOf(30)]);
    await packed(url, 1, 1);
    assert.deepEqual(await scanFrom(store), [...range(64).slice(32), 31].map(linked));
    await store.delete(SCOPE, range(64).map(idOf));
    await packed(url, 0, 0);
  });

  Deno.test("links beside segments are seen at once and taken into them", async () => {
    const url = await empty();
    await using store = await open(url);
    await store.upsert(range(16).map((n) => entryOf(n)));
    await packed(url, 1, 8);
    const links = range(16).map((n) => ({ id: idOf(n), version: 1, blobId: `blob-${n}` }));
    await store.link(SCOPE, links.slice(0, 1));
    assert.deepEqual((await store.get(OWNER, [idOf(0)]))[0], linked(0));
    assert.deepEqual((await store.scan(SCOPE)).entries[0], linked(0));
    await store.link(SCOPE, links);
    await packed(url, 2, 0);
    const beside = "select 1 from svc.entry where blob is not null";
    await poll(() => server().run(url, beside), (rows) => rows.length === 0);
    assert.deepEqual(await scanFrom(store), range(16).map(linked));
  });

  Deno.test("memories packed while a scope is scanned come once", async () => {
    const url = await empty();
    await using store = await open(url, { segmentSize: 64 });
    await store.upsert(range(640).map(linked));
    const first = await store.scan(SCOPE);
    assert.notEqual(first.cursor, undefined);
    await packed(url, 10, 0);
    const rest = await scanFrom(store, first.cursor);
    assert.deepEqual(idsOf([...first.entries, ...rest]), range(640).map(idOf));
    assert.ok(rest.every(({ blobId, id }) => blobId === `blob-${Number(id.slice(-12))}`));
  });

  Deno.test("what a killed process left single is packed once it is read", async () => {
    const url = await empty();
    {
      await using store = await open(url, { segmentSize: 256 });
      await store.upsert(range(300).map((n) => entryOf(n)));
    }
    await using store = await open(url, { segmentSize: 64 });
    assert.equal((await scanFrom(store)).length, 300);
    await packed(url, 3, 108);
  });

  Deno.test("two relayers write, pack and delete in one scope", async () => {
    const url = await empty();
    // Pools of their own, as two processes have.
    await using one = await open(url, { connections: 3 });
    await using two = await open(url, { connections: 5 });
    await Promise.all(
      range(120).map(async (n) => {
        const [mine, other] = n % 2 === 0 ? [one, two] : [two, one];
        await mine.upsert([entryOf(n)]);
        await other.link(SCOPE, [{ id: idOf(n), version: 1, blobId: `blob-${n}` }]);
        if (n % 3 === 0) await other.delete(SCOPE, [idOf(n)]);
        // Both write it at once: the higher version stays, whoever is first.
        const versions = [entryOf(n + 1000, { version: 2 }), entryOf(n + 1000, { version: 1 })];
        await Promise.all([one.upsert([versions[n % 2]!]), two.upsert([versions[1 - n % 2]!])]);
      }),
    );
    const wanted = [
      ...range(120).filter((n) => n % 3 !== 0).map(linked),
      ...range(120).map((n) => entryOf(n + 1000, { version: 2 })),
    ];
    for (const store of [one, two]) {
      const entries = await scanFrom(store);
      assert.deepEqual(entries.sort((a, b) => a.id < b.id ? -1 : 1), wanted);
      assert.deepEqual(await store.scopes(OWNER), [{
        namespace: "notes",
        count: wanted.length,
        bytes: wanted.reduce((sum, { bytes }) => sum + bytes, 0),
        lastWriteAt: 3119,
      }]);
    }
  });

  Deno.test("memories of another model are read without vectors, until they are moved", async () => {
    const url = await empty();
    {
      await using store = await open(url);
      await store.upsert(range(20).map(linked));
      assert.deepEqual(await store.outdated!(), []);
    }
    const moved = { model: "another", dimensions: 6 };
    {
      await using store = await open(url, moved);
      assert.deepEqual(await store.outdated!(), [{ ...SCOPE, count: 20 }]);
      const bare = range(20).map((n) => ({ ...linked(n), vectors: [] }));
      assert.deepEqual(await scanFrom(store), bare);
      const query = { ...SCOPE, vector: new Float32Array(6).fill(0.4), limit: 9 };
      assert.deepEqual(await store.search(query), []);
      const fresh = range(20).map((n) => ({ ...linked(n), vectors: [new Float32Array(6)] }));
      for (const entry of fresh.slice(0, 12)) await store.upsert([entry]);
      assert.deepEqual(await store.outdated!(), [{ ...SCOPE, count: 8 }]);
      assert.deepEqual(idsOf((await store.search(query)).map(({ entry }) => entry)).length, 9);
    }
    await using store = await open(url);
    // What was not moved has its vectors again.
    const [last] = await store.get(OWNER, [idOf(19)]);
    assert.deepEqual(last, linked(19));
  });

  Deno.test("rows cannot stand in for one another", async () => {
    const url = await empty();
    await using store = await open(url);
    await store.upsert(range(16).map(linked));
    await packed(url, 2, 0);
    const swap =
      "update svc.segment set sealed = (select sealed from svc.segment order by place desc limit 1)";
    await server().run(url, swap);
    const refused = { code: "storage_unavailable", retryable: false };
    await assert.rejects(store.scan(SCOPE), refused);
  });

  Deno.test("a database that another relayer key sealed is refused", async () => {
    const url = await empty();
    await (await open(url))[Symbol.asyncDispose]();
    await assert.rejects(open(url, { sealer: sealerForTests("another") }), {
      code: "storage_unavailable",
      retryable: false,
      message: /another relayer key/,
    });
  });
});
