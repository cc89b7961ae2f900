import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type Json, startRelayer, type TestRelayer } from "../../relayer_fixture.ts";
import { verifies } from "../../requirements.ts";
import { assertError } from "../../http/case.ts";
import { DurableRelayer } from "../durable.ts";
import { intercepted } from "../intercepted.ts";
import type { BlobStore } from "../../../src/interfaces/mod.ts";
import { LINKS } from "../../../src/wire/limits.ts";

const NDJSON = { "content-type": "application/x-ndjson" };

async function exported(svc: TestRelayer, namespace?: string): Promise<Json[]> {
  const { status, text, headers } = await svc.post("/api/export", { namespace });
  assert.equal(status, 200, text);
  assert.equal(headers.get("content-type"), "application/x-ndjson");
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

const memoriesOf = (lines: Json[]): Json[] => lines.filter(({ type }) => type === "memory");

async function imported(svc: TestRelayer, lines: readonly unknown[], query = ""): Promise<Json> {
  const body = lines.map((line) => typeof line === "string" ? line : JSON.stringify(line))
    .join("\n");
  const answer = await svc.send("POST", `/api/import${query}`, body, { headers: NDJSON });
  assert.equal(answer.status, 202, answer.text);
  await svc.relayer.idle();
  return answer.body;
}

const counts = ({ accepted, skipped, failed }: Json) => ({ accepted, skipped, failed });
const reasons = ({ skips }: Json) => skips.map(({ reason }: Json) => reason);

/** How many blobs the store has of the default namespace. */
async function blobsOf({ backends, owner }: TestRelayer): Promise<number> {
  const all = await Array.fromAsync(backends.blobStore.list({ owner, namespace: "default" }));
  return all.length;
}

/** What a listing says of every memory, without what another relayer may not know. */
async function listing(svc: TestRelayer, namespace = "default"): Promise<Map<string, Json>> {
  const { body } = await svc.get(`/api/memories?limit=200&namespace=${namespace}`);
  return new Map(body.memories.map((memory: Json) => {
    const { blob_id: _, source: __, size_bytes: ___, written_by: ____, ...rest } = memory;
    return [memory.memory_id, rest];
  }));
}

async function fill(durable: DurableRelayer): Promise<string[]> {
  const { svc, clock } = durable;
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) {
    clock.advance(1000);
    ids.push(
      await svc.remember(`fact ${i} "quoted"\nand \u2028 more`.repeat(i === 5 ? 2_000 : 1), {
        importance: i / 12,
        namespace: i % 3 === 0 ? "other" : "default",
        ...(i % 2 === 0 ? { metadata: { n: i, kind: "fact" } } : {}),
        ...(i % 4 === 0 ? { occurred_at: "2026-01-01T10:00:00.000Z" } : {}),
        ...(i % 5 === 0 ? { expires_at: "2999-01-01T00:00:00.000Z" } : {}),
      }),
    );
  }
  for (const text of ["corrected", "corrected again"]) {
    clock.advance(1000);
    await svc.send("PUT", `/api/memories/${ids[1]}`, { text });
    await svc.relayer.idle();
  }
  return ids;
}

Deno.test("an export, imported elsewhere, is the same memories, once", async () => {
  verifies("10.11-1", "10.11-4", "10.11-5", "10.11-6");
  await using from = await DurableRelayer.start();
  const ids = await fill(from);
  const lines = await exported(from.svc);
  assert.deepEqual([lines[0].type, lines[0].format], ["header", "svc-export/1"]);
  assert.equal(lines[0].owner, from.svc.owner);
  assert.deepEqual(lines.at(-1), { type: "end", memories: 12, errors: 0 });
  assert.deepEqual(new Set(memoriesOf(lines).map(({ memory_id }) => memory_id)), new Set(ids));
  assert.equal(memoriesOf(await exported(from.svc, "other")).length, 4);
  assert.equal((await exported(from.svc, "none")).length, 2);

  await using to = await DurableRelayer.start({ clock: from.clock });
  const first = await imported(to.svc, lines);
  assert.deepEqual(counts(first), { accepted: 12, skipped: 0, failed: 0 });
  assert.equal(first.job_ids.length, 12);
  assert.equal(first.status, "pending");
  for (const namespace of ["default", "other"]) {
    assert.deepEqual(await listing(to.svc, namespace), await listing(from.svc, namespace));
  }
  assert.deepEqual(await to.svc.recall("corrected"), await from.svc.recall("corrected"));
  const again = await imported(to.svc, lines);
  assert.deepEqual(counts(again), { accepted: 0, skipped: 12, failed: 0 });
  assert.deepEqual(new Set(reasons(again)), new Set(["exists"]));
  // Also after a restart, a lost index, and into where it came from.
  await to.restart({}, (dir) => Deno.remove(`${dir}/index.db`));
  for (const namespace of ["default", "other"]) {
    await to.svc.post("/api/restore", { namespace, limit: 100 });
    assert.deepEqual(await listing(to.svc, namespace), await listing(from.svc, namespace));
  }
  assert.deepEqual(memoriesOf(await exported(to.svc)).length, 12);
  assert.equal((await imported(from.svc, lines)).skipped, 12);
  // A memory that came in can be corrected like any other.
  await to.svc.send("PUT", `/api/memories/${ids[1]}`, { text: "corrected here" });
  await to.svc.relayer.idle();
  const { body } = await to.svc.get(`/api/memories/${ids[1]}`);
  assert.deepEqual([body.version, body.text], [4, "corrected here"]);
});

Deno.test("two hundred memories are taken at once, however long they are", async () => {
  verifies("10.11-3", "10.11-6");
  await using to = await DurableRelayer.start();
  const lines = Array.from({ length: 200 }, (_, i) => ({
    type: "memory",
    text: `fact ${i}`,
    metadata: { text: crypto.getRandomValues(new Uint8Array(2_900)).toBase64() },
  }));
  assert.equal((await imported(to.svc, lines)).accepted, 200);
  await to.restart();
  const taken = memoriesOf(await exported(to.svc));
  const metadataOf = (all: Json[]) => new Map(all.map(({ text, metadata }) => [text, metadata]));
  assert.deepEqual(metadataOf(taken), metadataOf(lines));
});

Deno.test("two hundred memories are taken at once, however much ties them to others", async () => {
  verifies("10.11-3");
  await using to = await DurableRelayer.start();
  const link = () => ({ id: crypto.randomUUID(), kind: "distinct", by: "review", score: 1 });
  const lines = Array.from({ length: 200 }, (_, i) => ({
    type: "memory",
    text: `fact ${i}`,
    links: Array.from({ length: LINKS }, link),
  }));
  assert.equal((await imported(to.svc, lines)).accepted, 200);
  await to.restart();
  const linksOf = (all: Json[]) => new Map(all.map(({ text, links }) => [text, links]));
  assert.deepEqual(linksOf(memoriesOf(await exported(to.svc))), linksOf(lines));
});

Deno.test("an older export takes nothing back, and a newer one brings what is new", async () => {
  verifies("10.11-5", "10.11-8");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const before = await exported(svc);
  await svc.send("PUT", `/api/memories/${id}`, { text: "coffee" });
  await svc.relayer.idle();
  const after = await exported(svc);
  assert.deepEqual(reasons(await imported(svc, before)), ["older"]);
  assert.deepEqual(await svc.recall("tea coffee"), ["coffee"]);

  await using other = await startRelayer();
  await imported(other, before);
  assert.equal((await imported(other, after)).accepted, 1);
  assert.deepEqual(await other.recall("tea coffee"), ["coffee"]);
  const { body } = await other.get(`/api/memories/${id}`);
  assert.deepEqual(body.versions.map(({ version }: Json) => version), [2, 1]);
  assert.equal((await other.get(`/api/memories/${id}?version=1`)).body.text, "tea");
  // The same version with another text is another memory.
  const twin = memoriesOf(after).map((line) => ({ ...line, text: "cocoa" }));
  assert.equal((await imported(other, twin)).accepted, 1);
  assert.equal((await imported(other, twin)).skipped, 1);
  assert.equal((await listing(other)).size, 2);
});

Deno.test("deleted memories stay deleted, unless they are asked back", async () => {
  verifies("10.11-10");
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  await svc.remember("coffee");
  const lines = await exported(svc);
  await svc.send("DELETE", `/api/memories/${id}`);
  assert.deepEqual(reasons(await imported(svc, lines)).sort(), ["deleted", "exists"]);
  await svc.post("/api/forget", { namespace: "default" });
  assert.deepEqual(reasons(await imported(svc, lines)), ["deleted", "deleted"]);
  assert.equal((await listing(svc)).size, 0);
  const back = await imported(svc, lines, "?bring_back=true");
  assert.deepEqual(counts(back), { accepted: 2, skipped: 0, failed: 0 });
  assert.equal((await imported(svc, lines, "?bring_back=true")).skipped, 2);
  const present = await listing(svc);
  assert.equal(present.size, 2);
  assert.ok(!present.has(id));
  assert.deepEqual((await svc.recall("tea coffee")).sort(), ["coffee", "tea"]);
});

Deno.test("what was forgotten unindexed comes back as what it is now, and nothing before it", async () => {
  verifies("10.11-10", "10.8-9");
  const keeps = { blobStore: (store: BlobStore) => intercepted(store, { delete: keep }) };
  const keep = () => Promise.resolve(false);
  await using durable = await DurableRelayer.start({ wrap: keeps });
  const { clock } = durable;
  const id = await durable.svc.remember("I live in Berlin");
  const lines = await exported(durable.svc);
  await durable.restart({}, async (dir) => {
    for (const end of ["", "-wal", "-shm"]) {
      await Deno.remove(`${dir}/index.db${end}`).catch(() => {});
    }
  });
  clock.advance(1_000);
  const { svc } = durable;
  const forgotten = await svc.post("/api/forget", { namespace: "default" });
  assert.deepEqual([forgotten.body.deleted, await blobsOf(svc)], [0, 1]);
  assert.deepEqual(reasons(await imported(svc, lines)), ["deleted"]);
  clock.advance(1_000);
  const changed = lines.map((line) => line.type === "memory" ? { ...line, text: "I ski" } : line);
  assert.equal((await imported(svc, changed, "?bring_back=true")).accepted, 1);
  const look = async () => {
    const { memories } = (await durable.svc.get("/api/memories")).body;
    assert.deepEqual(memories.map((one: Json) => [one.memory_id, one.text]), [[id, "I ski"]]);
    const { versions } = (await durable.svc.get(`/api/memories/${id}`)).body;
    assert.deepEqual(versions.map(({ version }: Json) => version), [1]);
  };
  await look();
  assert.equal((await svc.post("/api/restore", { namespace: "default" })).body.restored, 0);
  // Not out of the stored records alone either, of which both are there.
  await durable.restart({}, async (dir) => {
    for (const end of ["", "-wal", "-shm"]) {
      await Deno.remove(`${dir}/index.db${end}`).catch(() => {});
    }
  });
  assert.equal(await blobsOf(durable.svc), 2);
  const restored = await durable.svc.post("/api/restore", { namespace: "default" });
  assert.equal(restored.body.restored, 1);
  await look();
  clock.advance(1_000);
  assert.equal((await durable.svc.send("DELETE", `/api/memories/${id}`)).status, 200);
  const again = await durable.svc.post("/api/restore", { namespace: "default" });
  assert.equal(again.body.restored, 0);
});

Deno.test("lines without ids are recognised; broken ones are named and keep no other out", async () => {
  verifies("10.11-9", "10.11-11", "2-20");
  await using svc = await startRelayer();
  const secret = "the launch code is 1234";
  const lines = [
    { text: "tea" },
    { type: "memory", text: "coffee", namespace: "work" },
    `{"text": "${secret}`,
    { type: "header" },
    "",
    "[1]",
    { text: " " },
    { text: "a", memory_id: "x" },
    { text: "a", version: 0 },
    { text: "a", importance: 2 },
    { text: "a", created_at: "2999-01-01T00:00:00Z" },
    { text: "a", expires_at: "2001-01-01T00:00:00Z" },
    { text: "a", metadata: { b: {} } },
    { text: "tea" },
  ];
  const answer = await imported(svc, lines);
  assert.deepEqual(counts(answer), { accepted: 2, skipped: 2, failed: 8 });
  assert.deepEqual(answer.skips, [
    { line: 12, reason: "expired" },
    { line: 14, reason: "exists" },
  ]);
  assert.deepEqual(
    answer.errors.map(({ line, code }: Json) => [line, code]),
    [
      [3, "malformed_json"],
      [6, "invalid_request"],
      [7, "empty_text"],
      [8, "invalid_parameter"],
      [9, "invalid_parameter"],
      [10, "invalid_parameter"],
      [11, "invalid_parameter"],
      [13, "invalid_metadata"],
    ],
  );
  assert.ok(!JSON.stringify(answer).includes("1234"));
  const { memories: [first] } = (await svc.get("/api/memories")).body;
  assert.deepEqual([first.text, first.source], ["tea", "import"]);
  assert.equal((await imported(svc, lines)).accepted, 0);
});

Deno.test("an import has limits, a type, and takes nothing where it is refused", async () => {
  verifies("10.11-3", "16-16", "3-29");
  await using svc = await startRelayer();
  const send = (body: unknown, headers: Record<string, string> = NDJSON) =>
    svc.send("POST", "/api/import", body, { headers });
  const lines = (count: number) =>
    Array.from({ length: count }, (_, i) => JSON.stringify({ text: `fact ${i}` })).join("\n");
  assertError(await send(lines(201)), [400, "too_many_items"]);
  assertError(await send("\n".repeat(1001)), [400, "too_many_items"]);
  assertError(await send('{"type":"other"}\n'.repeat(1001)), [400, "too_many_items"]);
  assertError(await send({ text: "tea" }, { "content-type": "application/json" }), [
    415,
    "unsupported_media_type",
  ]);
  assertError(await send(Uint8Array.of(0xff)), [400, "malformed_json"]);
  assertError(await svc.post("/api/export", { namespace: "\n" }), [400, "invalid_namespace"], {
    field: "namespace",
  });
  assert.equal((await listing(svc)).size, 0);
  assert.equal((await send(lines(200))).status, 202);
  assert.equal((await send("\n".repeat(1000))).status, 202);
  assert.equal((await send("")).status, 202);
  const mib = 1024 * 1024;
  assert.equal((await send("\n".repeat(900) + " ".repeat(32 * mib - 900))).status, 202);
  assertError(await send(" ".repeat(32 * mib + 1)), [413, "body_too_large"]);
});

Deno.test("an id in two namespaces is two memories, and one is deleted without the other", async () => {
  await using svc = await startRelayer();
  const memory_id = crypto.randomUUID();
  const lines = ["one", "two"].map((namespace) => ({ memory_id, namespace, text: namespace }));
  assert.equal((await imported(svc, lines)).accepted, 2);
  const ids = [...await listing(svc, "one"), ...await listing(svc, "two")].map(([id]) => id);
  assert.equal(new Set(ids).size, 2);
  assert.ok(ids.includes(memory_id));
  await svc.send("DELETE", `/api/memories/${memory_id}`);
  const left = [...await listing(svc, "one"), ...await listing(svc, "two")];
  assert.deepEqual(left.map(([id]) => id), ids.filter((id) => id !== memory_id));
});

Deno.test("a number whose job was never accepted is given again", async () => {
  await using durable = await DurableRelayer.start();
  const memory_id = await durable.svc.remember("first");
  await durable.svc.send("PUT", `/api/memories/${memory_id}`, { text: "second" });
  await durable.svc.relayer.idle();
  const { owner } = durable.svc;
  await durable.restart({}, (dir) => {
    using core = new DatabaseSync(`${dir}/core.db`);
    core.prepare("insert into memory_version values (?, ?, ?, 3, ?, 0, 0, null, 0)")
      .run(owner, new TextEncoder().encode("default"), memory_id, crypto.randomUUID());
    return Promise.resolve();
  });
  const { svc } = durable;
  assert.equal((await imported(svc, [{ memory_id, text: "third", version: 3 }])).accepted, 1);
  const found = [...await listing(svc)].map(([id, { text, version }]) => [id, text, version]);
  assert.deepEqual(found, [[memory_id, "third", 3]]);
});

Deno.test("two imports of the same file at once store each memory once", async () => {
  await using svc = await startRelayer();
  const lines = Array.from({ length: 50 }, (_, i) => ({
    memory_id: crypto.randomUUID(),
    text: `fact ${i}`,
  }));
  const answers = await Promise.all([1, 2, 3].map(() => imported(svc, lines)));
  assert.equal(answers.reduce((sum, { accepted }) => sum + accepted, 0), 50);
  assert.equal((await listing(svc)).size, 50);
});

Deno.test("an id of another owner is that owner's business", async () => {
  await using svc = await startRelayer();
  const id = await svc.remember("tea");
  const { key: other } = await svc.addAccount();
  const line = JSON.stringify({ memory_id: id, text: "hers" });
  const answer = await svc.send("POST", "/api/import", line, { key: other, headers: NDJSON });
  assert.equal(answer.body.accepted, 1);
  await svc.relayer.idle();
  assert.equal((await svc.get(`/api/memories/${id}`)).body.text, "tea");
  assert.equal((await svc.get(`/api/memories/${id}`, { key: other })).body.text, "hers");
  assert.equal(
    (await svc.send("DELETE", `/api/memories/${id}`, undefined, { key: other })).status,
    200,
  );
  assert.equal((await svc.get(`/api/memories/${id}`)).body.text, "tea");
});

Deno.test("what an owner encrypted is named, and not in the clear", async () => {
  verifies("10.11-7", "10.11-2");
  await using svc = await startRelayer();
  const manual = { encrypted_data: "AAAA", vector: Array(256).fill(1) };
  const { memory_id } = (await svc.post("/api/remember/manual", manual)).body;
  const accepted = svc.post("/api/remember", { text: "tea" });
  await accepted;
  const lines = await exported(svc);
  assert.deepEqual(lines.filter(({ type }) => type === "error"), [
    { type: "error", memory_id, namespace: "default", code: "manual_memory" },
  ]);
  assert.deepEqual(lines.at(-1), { type: "end", memories: 1, errors: 1 });
});
