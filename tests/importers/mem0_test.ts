import { deepStrictEqual, ok } from "node:assert/strict";
import { reportOf, reportOfJson, skippedOf, textsOf } from "./reports.ts";

// After the answers of `get_all` and of exports in the documentation of mem0 (docs.mem0.ai).
const PLATFORM = {
  count: 3,
  next: null,
  previous: null,
  results: [
    {
      id: "24e466b5-e1c6-4bde-8a92-f09a327ffa60",
      memory: "Dev works at TechCorp as a senior engineer",
      user_id: "dev",
      metadata: { type: "professional", confidence: 0.9, nested: { a: 1 } },
      categories: ["work", "career"],
      created_at: "2024-07-26T10:29:36.630547-07:00",
      updated_at: "2024-07-26T10:29:36.630547-07:00",
      expiration_date: "2030-01-02",
    },
    { id: "2", memory: "Dev works at TechCorp as a senior engineer", user_id: "dev" },
    { id: "3", memory: "Dev works at TechCorp as a senior engineer", user_id: "arjun" },
  ],
};

Deno.test("memories of mem0 keep whom they are of, when they were made, and flat metadata", () => {
  const report = reportOfJson("export.json", PLATFORM);
  deepStrictEqual(report.format, "mem0");
  deepStrictEqual(report.memories, [
    {
      text: "Dev works at TechCorp as a senior engineer",
      metadata: {
        type: "professional",
        confidence: 0.9,
        categories: "work, career",
        user_id: "dev",
      },
      occurredAt: "2024-07-26T17:29:36.630Z",
      expiresAt: "2030-01-02T00:00:00.000Z",
    },
    { text: "Dev works at TechCorp as a senior engineer", metadata: { user_id: "arjun" } },
  ]);
  deepStrictEqual(skippedOf(report), ["results[1] duplicate"]);
  deepStrictEqual(report.notes, [
    { where: "results[0]", kind: "metadata_dropped", members: ["nested"] },
  ]);
});

Deno.test("an export, a bare list and the library for JavaScript have the same memories", () => {
  const item = { id: "1", memory: "Likes tea", created_at: "2024-07-26T10:29:36Z" };
  for (const root of [{ memories: [item] }, [item], { results: [item] }]) {
    deepStrictEqual(reportOfJson("x.json", root).memories, [
      { text: "Likes tea", occurredAt: "2024-07-26T10:29:36.000Z" },
    ]);
  }
  const camel = { memory: "Likes tea", createdAt: "2024-07-26T10:29:36Z", userId: "dev" };
  deepStrictEqual(reportOfJson("x.json", [camel]).memories, [
    { text: "Likes tea", metadata: { user_id: "dev" }, occurredAt: "2024-07-26T10:29:36.000Z" },
  ]);
});

Deno.test("relations beside memories are memories too", () => {
  const report = reportOfJson("all.json", {
    results: [{ memory: "Alice met Bob" }],
    relations: [{ source: "alice", relationship: "works_with", target: "bob" }, { source: 1 }],
  });
  deepStrictEqual(textsOf(report), ["Alice met Bob", "alice works with bob"]);
  deepStrictEqual(skippedOf(report), ["relations[1] unknown_shape"]);
});

// After `_export_sqlite` of openmemory/api/app/routers/backup.py in mem0ai/mem0, commit 54e275a.
Deno.test("a backup of OpenMemory leaves out what was deleted there", () => {
  const report = reportOfJson("memories.json", {
    user: { id: "u" },
    memories: [
      {
        id: "1",
        user_id: "u",
        content: "Likes tea",
        state: "active",
        metadata: { a: 1 },
        app_id: null,
      },
      { id: "2", user_id: "u", content: "Likes coffee", state: "deleted" },
    ],
  });
  deepStrictEqual(report.format, "mem0");
  deepStrictEqual(textsOf(report), ["Likes tea"]);
  deepStrictEqual(report.memories[0]?.metadata, { a: 1, user_id: "u", state: "active" });
  deepStrictEqual(skippedOf(report), ["memories[1] deleted"]);
});

Deno.test("items of mem0 that are no memories are reported one by one", () => {
  const report = reportOfJson("x.json", {
    memories: [
      { memory: "fine", created_at: "yesterday" },
      { memory: "  " },
      { memory: 7 },
      {},
      null,
      "text",
      { memory: "\ud800" },
      { memory: "x".repeat(2 * 1_048_576) },
      { memory: "é".repeat(600_000) },
    ],
  });
  deepStrictEqual(textsOf(report), ["fine"]);
  deepStrictEqual(skippedOf(report), [
    "memories[1] empty",
    "memories[2] not_text",
    "memories[3] no_text",
    "memories[4] unknown_shape",
    "memories[5] unknown_shape",
    "memories[6] not_unicode",
    "memories[7] too_long",
    "memories[8] too_long",
  ]);
  deepStrictEqual(report.notes, [
    { where: "memories[0]", kind: "time_unreadable", members: ["occurred_at"] },
  ]);
});

Deno.test("metadata beyond 4 KiB and members that change prototypes are left out and named", () => {
  const report = reportOf(
    "x.json",
    `[{"memory": "a", "metadata": {"__proto__": "evil", "long": "${"é".repeat(2048)}", "n": 1e999,
      "s": "\\ud800", "ok": null, "${"k".repeat(100)}\\n": []}}]`,
  );
  deepStrictEqual(report.memories, [{ text: "a", metadata: { ok: null } }]);
  deepStrictEqual(report.notes, [{
    where: "[0]",
    kind: "metadata_dropped",
    members: ["__proto__", "long", "n", "s", "k".repeat(64)],
  }]);
  ok(Object.getPrototypeOf(report.memories[0]?.metadata) === Object.prototype);
});

Deno.test("metadata of exactly 4096 bytes is kept", () => {
  const fits = { a: "x".repeat(4096 - '{"a":""}'.length) };
  deepStrictEqual(
    reportOfJson("x.json", [{ memory: "m", metadata: fits }]).memories[0]?.metadata,
    fits,
  );
  const more = { a: `${fits.a}x` };
  deepStrictEqual(reportOfJson("x.json", [{ memory: "m", metadata: more }]).memories, [{
    text: "m",
  }]);
});
