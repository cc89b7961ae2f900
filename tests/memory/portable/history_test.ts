import assert from "node:assert/strict";
import type { Json, TestRelayer } from "../../relayer_fixture.ts";
import { assertError } from "../../http/case.ts";
import { verifies } from "../../requirements.ts";
import { DurableRelayer } from "../durable.ts";

const NDJSON = { "content-type": "application/x-ndjson" };

async function exported(svc: TestRelayer, history = true): Promise<Json[]> {
  const { status, text } = await svc.post("/api/export", { history });
  assert.equal(status, 200, text);
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

async function imported(svc: TestRelayer, lines: readonly Json[], query = ""): Promise<Json> {
  const body = lines.map((line) => JSON.stringify(line)).join("\n");
  const answer = await svc.send("POST", `/api/import${query}`, body, { headers: NDJSON });
  assert.equal(answer.status, 202, answer.text);
  await svc.relayer.idle();
  return answer.body;
}

/** What every version of a memory says, without what another relayer may not know. */
async function historyOf(svc: TestRelayer, id: string): Promise<Json[]> {
  const { body } = await svc.get(`/api/memories/${id}`);
  const known = (
    { blob_id: _, source: __, versions: ___, size_bytes: ____, written_by: _____, ...rest }: Json,
  ) => rest;
  return await Promise.all(body.versions.map(async ({ version, created_at }: Json) => {
    const { status, body } = await svc.get(`/api/memories/${id}?version=${version}`);
    assert.equal(status, 200);
    return { created_at, ...known(body) };
  }));
}

/** A relayer with a memory of four versions, and one of a single version. */
async function filled(): Promise<[DurableRelayer, id: string]> {
  const durable = await DurableRelayer.start();
  const { svc, clock } = durable;
  const id = await svc.remember("first", { importance: 0.1, metadata: { n: 1 } });
  await svc.remember("alone", { namespace: "other" });
  for (const change of [{ text: "second" }, { text: "third", importance: 0.9 }, { text: "last" }]) {
    clock.advance(60_000);
    assert.equal((await svc.send("PUT", `/api/memories/${id}`, change)).status, 202);
    await svc.relayer.idle();
  }
  clock.advance(3_600_000);
  return [durable, id];
}

const kinds = (lines: readonly Json[]) => lines.map(({ type, text }) => text ?? type);
const reasons = ({ skips }: Json) => skips.map(({ reason }: Json) => reason);

Deno.test("a memory with its history, imported elsewhere, has the same history", async () => {
  verifies("10.11-12", "10.11-13");
  const [from, id] = await filled();
  await using _ = from;
  const lines = await exported(from.svc);
  const own = lines.filter(({ memory_id }) => memory_id === id);
  assert.deepEqual(kinds(own), ["first", "second", "third", "last"]);
  assert.deepEqual(own.map(({ type }) => type), ["version", "version", "version", "memory"]);
  assert.deepEqual(lines.at(-1), { type: "end", memories: 2, errors: 0, versions: 3 });
  assert.deepEqual((await exported(from.svc, false)).at(-1), {
    type: "end",
    memories: 2,
    errors: 0,
  });
  await using to = await DurableRelayer.start({ clock: from.clock });
  const taken = await imported(to.svc, lines);
  assert.deepEqual([taken.accepted, taken.job_ids.length, taken.skips], [5, 5, []]);
  const before = await historyOf(from.svc, id);
  assert.deepEqual(before.map(({ text }) => text), ["last", "third", "second", "first"]);
  assert.deepEqual(await historyOf(to.svc, id), before);
  assert.deepEqual(await to.svc.recall("first second third last"), ["last"]);
  assert.deepEqual(
    await exported(to.svc).then((again) => kinds(again).sort()),
    kinds(lines).sort(),
  );
  // Repeated, also after a restart, it changes nothing.
  const again = await imported(to.svc, lines);
  assert.equal(again.accepted, 0);
  assert.deepEqual(reasons(again).sort(), ["exists", "exists", "history", "history", "history"]);
  await to.restart({});
  assert.equal((await imported(to.svc, lines)).accepted, 0);
  assert.deepEqual(await historyOf(to.svc, id), before);
  // What is kept counts in both places alike, but that five records say where they come from.
  const used = async ({ svc }: DurableRelayer) =>
    (await svc.get("/api/account")).body.quota.used_bytes;
  const source = 5 * ("remember".length - "import".length);
  assert.equal(await used(to) + source, await used(from));
  // Undone there as it would be here.
  await to.svc.send("PUT", `/api/memories/${id}`, { from_version: 1 });
  await to.svc.relayer.idle();
  const { body } = await to.svc.get(`/api/memories/${id}`);
  assert.deepEqual([body.text, body.version], ["first", 5]);
});

Deno.test("versions in several requests become the same history", async () => {
  const [from, id] = await filled();
  await using _ = from;
  const lines = await exported(from.svc);
  await using to = await DurableRelayer.start({ clock: from.clock });
  for (const line of lines) await imported(to.svc, [line]);
  assert.deepEqual(await historyOf(to.svc, id), await historyOf(from.svc, id));
});

Deno.test("history is added to no memory that has it, or a later version, or is gone", async () => {
  verifies("10.11-14");
  const [from, id] = await filled();
  await using _ = from;
  const lines = await exported(from.svc);
  const isOwn = ({ memory_id }: Json) => memory_id === id;
  const own = lines.filter(isOwn);
  // The memory came without its history first.
  await using to = await DurableRelayer.start({ clock: from.clock });
  assert.equal((await imported(to.svc, own.slice(-1))).accepted, 1);
  assert.deepEqual(reasons(await imported(to.svc, own)), [
    "history",
    "history",
    "history",
    "exists",
  ]);
  assert.equal((await historyOf(to.svc, id)).length, 1);
  // An earlier version alone was here: the rest is later.
  await using other = await DurableRelayer.start({ clock: from.clock });
  assert.equal((await imported(other.svc, own.slice(1, 2))).accepted, 1);
  assert.deepEqual(reasons(await imported(other.svc, own)), ["history", "history"]);
  assert.deepEqual(kinds((await exported(other.svc)).filter(isOwn)), ["second", "third", "last"]);
  // Another memory has the id: only what the memory says now is stored, elsewhere.
  await using taken = await DurableRelayer.start({ clock: from.clock });
  await imported(taken.svc, [{ memory_id: id, namespace: "elsewhere", text: "mine" }]);
  const aside = await imported(taken.svc, own);
  assert.deepEqual([aside.accepted, reasons(aside)], [1, ["history", "history", "history"]]);
  assert.deepEqual(kinds(await exported(taken.svc)), ["header", "last", "mine", "end"]);
  // Deleted, nothing of it comes back; asked back, only what it said last.
  await from.svc.send("DELETE", `/api/memories/${id}`);
  assert.deepEqual(reasons(await imported(from.svc, own)), Array(4).fill("deleted"));
  const back = await imported(from.svc, own, "?bring_back=true");
  assert.deepEqual([back.accepted, reasons(back)], [1, Array(3).fill("deleted")]);
  assert.equal((await exported(from.svc)).at(-1).versions, 0);
  await from.svc.post("/api/forget", { namespace: "default" });
  assert.deepEqual(reasons(await imported(from.svc, own)), Array(4).fill("deleted"));
});

Deno.test("lines of versions are checked like others", async () => {
  await using durable = await DurableRelayer.start();
  const { svc } = durable;
  const memory_id = crypto.randomUUID();
  const answer = await imported(svc, [
    { type: "version", text: "no id", version: 1 },
    { type: "version", memory_id, text: "no number" },
    { type: "version", memory_id, text: " ", version: 1 },
    { type: "version", memory_id, text: "over", version: 1, expires_at: "2001-01-01T00:00:00Z" },
    { type: "version", memory_id, text: "two", version: 2 },
    { type: "version", memory_id, text: "one", version: 1 },
    { type: "memory", memory_id, text: "three", version: 3 },
    { type: "memory", memory_id, text: "four", version: 4 },
  ]);
  assert.deepEqual(answer.errors.map(({ line }: Json) => line), [1, 2, 3]);
  assert.deepEqual(answer.skips, [
    { line: 4, reason: "expired" },
    { line: 6, reason: "history" },
    { line: 7, reason: "older" },
  ]);
  assert.deepEqual((await historyOf(svc, memory_id)).map(({ text }) => text), ["four", "two"]);
  const many = Array.from(
    { length: 201 },
    (_, i) => JSON.stringify({ type: "version", memory_id, text: "x", version: i + 5 }),
  );
  assertError(await svc.send("POST", "/api/import", many.join("\n"), { headers: NDJSON }), [
    400,
    "too_many_items",
  ]);
});
