import assert from "node:assert/strict";
import { Installation } from "./installation.ts";
import { textOf } from "./texts.ts";
import { call, idle, listAll } from "./wire.ts";
import { poll } from "../within.ts";

async function loseIndex(installation: Installation): Promise<void> {
  const { database } = installation;
  if (database !== undefined) {
    const { runIn } = await import("../postgres/databases.ts");
    await runIn(database, "truncate svc.entry, svc.segment, svc.scope");
    return;
  }
  for (const suffix of ["", "-wal", "-shm"]) {
    await Deno.remove(`${installation.dataDir}/index.db${suffix}`).catch(() => undefined);
  }
}

Deno.test("an index that is lost comes back from the blobs, whole and once", async () => {
  await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
  const identity = await installation.account();
  const write = async (url: string, path: string, body: unknown) => {
    const answer = await call(url, identity, { route: `POST ${path}`, body });
    assert.ok(answer.status === 202 || answer.status === 200, answer.body.code);
    return answer.body;
  };
  const vector = Array.from({ length: 256 }, () => Math.random());
  let before;
  {
    await using relayer = await installation.start();
    const { url } = relayer;
    for (let part = 0; part < 4; part++) {
      const items = Array.from({ length: 20 }, (_, n) => ({
        text: textOf(n === 3 ? 30_000 : 50 + n),
        importance: n / 20,
        ...(n % 3 === 0 ? { metadata: { number: n, kind: "é" } } : {}),
        ...(n % 4 === 0
          ? { occurred_at: `2020-01-${String(n + 1).padStart(2, "0")}T10:00:00Z` }
          : {}),
      }));
      await write(url, "/api/remember/bulk", { items });
    }
    await idle(url);
    const all = await listAll(url, identity, "default");
    for (const { memory_id } of all.slice(0, 9)) {
      await call(url, identity, { route: `DELETE /api/memories/${memory_id}` });
    }
    before = await listAll(url, identity, "default");
    assert.equal(before.length, 71);
    // The newest ones: a restore meets them first.
    for (let n = 0; n < 3; n++) {
      const encrypted_data = crypto.getRandomValues(new Uint8Array(100)).toBase64();
      await write(url, "/api/remember/manual", { encrypted_data, vector });
    }
    assert.equal(await relayer.stop(), 0);
  }
  await loseIndex(installation);
  await using relayer = await installation.start();
  const { url } = relayer;
  assert.deepEqual(await listAll(url, identity, "default"), []);
  const counts = await write(url, "/api/restore", { namespace: "default", limit: 0 });
  assert.deepEqual([counts.total, counts.remaining], [74, 74]);
  let restored = 0;
  let remaining = Infinity;
  // Every call meets the newest ones, which cannot be opened; they do not use up its limit.
  for (const limit of [2, 2, 20, 20, 20, 20]) {
    const body = await write(url, "/api/restore", { namespace: "default", limit });
    assert.equal(body.total, body.restored + body.skipped + body.failed + body.remaining);
    assert.ok(body.remaining < remaining, "no progress");
    assert.equal(body.failed, 3);
    remaining = body.remaining;
    restored += body.restored;
  }
  assert.deepEqual([restored, remaining], [71, 0]);
  assert.deepEqual(await listAll(url, identity, "default"), before);
  const again = await write(url, "/api/restore", { namespace: "default", limit: 500 });
  assert.deepEqual([again.restored, again.skipped, again.failed], [0, 71, 3]);
  for (const { memory_id, text } of before.slice(0, 10)) {
    const recalled = await write(url, "/api/recall", { query: text, limit: 5 });
    assert.ok(recalled.results.some((hit) => hit.memory_id === memory_id));
  }
});

Deno.test("a restore that a crash cuts off is finished by another one", async () => {
  await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
  const identity = await installation.account();
  let before;
  {
    await using relayer = await installation.start();
    for (let part = 0; part < 15; part++) {
      const items = Array.from({ length: 20 }, () => ({ text: textOf(200) }));
      const route = "POST /api/remember/bulk";
      await call(relayer.url, identity, { route, body: { items } });
    }
    await idle(relayer.url);
    before = await listAll(relayer.url, identity, "default");
    assert.equal(await relayer.stop(), 0);
  }
  await loseIndex(installation);
  const parts = { route: "POST /api/restore", body: { namespace: "default", limit: 500 } };
  for (let crashes = 0; crashes < 3; crashes++) {
    await using relayer = await installation.start();
    const restoring = call(relayer.url, identity, parts).catch(() => undefined);
    // Somewhere in the middle: some are indexed, and the answer is not there yet.
    await poll(
      async () => (await listAll(relayer.url, identity, "default")).length,
      (count) => count > crashes * 60,
      10_000,
    );
    await relayer.crash();
    await restoring;
  }
  await using relayer = await installation.start();
  const { body } = await call(relayer.url, identity, parts);
  assert.deepEqual([body.total, body.failed, body.remaining], [300, 0, 0]);
  assert.deepEqual(await listAll(relayer.url, identity, "default"), before);
});
