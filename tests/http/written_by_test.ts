import assert from "node:assert/strict";
import { type Json, startRelayer, type TestKey, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

/** What is said of the writers of the memories in `work`, by each way to read them. */
async function toldTo(svc: TestRelayer, key: TestKey): Promise<Record<string, Json[]>> {
  const work = { namespace: "work" };
  const recalled = await svc.post("/api/recall", { query: "tea", ...work }, { key });
  const listed = await svc.get("/api/memories?namespace=work", { key });
  const id = listed.body.memories[0].memory_id;
  const got = await svc.get(`/api/memories/${id}`, { key });
  const reviewed = await svc.get("/api/review?namespace=work", { key });
  const exported = await svc.post("/api/export", work, { key });
  const lines: Json[] = exported.text.trim().split("\n").map((line) => JSON.parse(line));
  return {
    recall: recalled.body.results,
    list: listed.body.memories,
    get: [got.body],
    review: reviewed.body.items,
    export: lines.filter(({ type }) => type === "memory"),
  };
}

const writersOf = (ways: Record<string, Json[]>) =>
  Object.entries(ways).map(([way, memories]) => [
    way,
    ...memories.map(({ written_by, written_by_label }) => [written_by, written_by_label]),
  ]);

Deno.test("every way to read a memory says which key wrote it, and what that is called", async () => {
  verifies("2-29", "2-25");
  await using svc = await startRelayer();
  const { accountId } = svc.account;
  const admin = svc.backends.accounts.admin!;
  const guest = await svc.addKey(["read", "write"], { label: "Ada's agent", namespaces: ["work"] });
  const writer = await svc.addKey(["read", "write"], { label: "Laptop" });
  await svc.remember("I like tea", { namespace: "work", trust: "web" }, { key: writer });
  const expected = (label?: string) =>
    ["recall", "list", "get", "review", "export"].map((way) => [way, [writer.publicKey, label]]);
  assert.deepEqual(writersOf(await toldTo(svc, svc.key)), expected("Laptop"));
  assert.deepEqual(writersOf(await toldTo(svc, guest)), expected("Laptop"));

  await admin.removeKey(accountId, writer.publicKey);
  assert.deepEqual(writersOf(await toldTo(svc, svc.key)), expected(), "a key that was removed");

  const { publicKey } = writer;
  const elsewhere = { label: "Lawyer", permissions: ["read"], namespaces: ["secret"] } as const;
  await admin.addKey(accountId, { publicKey, ...elsewhere });
  assert.deepEqual(writersOf(await toldTo(svc, svc.key)), expected("Lawyer"));
  assert.deepEqual(writersOf(await toldTo(svc, guest)), expected(), "a key of elsewhere");
});
