import assert from "node:assert/strict";
import { Installation } from "./installation.ts";
import { scan } from "./scan.ts";
import { IS_ON_POSTGRES } from "../test_store.ts";
import { textOf } from "./texts.ts";
import { call, idle, listAll, type Parts, send, sign, takenUp } from "./wire.ts";

function unit(dimensions: number): number[] {
  return Array.from({ length: dimensions }, (_, n) => n === 0 ? 1 : 0);
}

/** One request of every kind that writes jobs, and the marks of its memories. */
function requests(): { readonly parts: Parts; readonly marks: readonly string[] }[] {
  const [small, staged, mark] = [textOf(80), textOf(40_000), textOf(30)];
  const items = Array.from({ length: 20 }, (_, n) => ({ text: textOf(n === 7 ? 30_000 : 60) }));
  const encrypted_data = new Uint8Array(20_000).fill(5).toBase64();
  const facts = Array.from({ length: 5 }, (_, n) => `My locker opens at ${n}:15 ${textOf(60)}.`);
  const idempotencyKey = "once";
  return [
    {
      parts: { route: "POST /api/remember", body: { text: small }, idempotencyKey },
      marks: [small],
    },
    {
      parts: { route: "POST /api/remember", body: { text: staged }, form: "legacy" },
      marks: [staged],
    },
    {
      parts: { route: "POST /api/remember/bulk", body: { items }, idempotencyKey },
      marks: items.map(({ text }) => text),
    },
    {
      parts: {
        route: "POST /api/remember/manual",
        body: { encrypted_data, vector: unit(256), metadata: { mark } },
        idempotencyKey,
      },
      marks: [mark],
    },
    {
      parts: { route: "POST /api/analyze", body: { text: facts.join("\n") }, idempotencyKey },
      marks: facts,
    },
  ];
}

/** Each waits for the lease of the relayer that was killed, where relayers share a store. */
const KINDS_ON_POSTGRES = 3;

/** A crash at a point of every kind of writing, and what is there then. */
export async function crashAt(point: string): Promise<void> {
  await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
  const identity = await installation.account();
  const all: string[] = [];
  const hashes: string[] = [];
  const isWhole = !IS_ON_POSTGRES || point === "accept";
  for (const { parts, marks } of requests().slice(0, isWhole ? undefined : KINDS_ON_POSTGRES)) {
    // The start after the crash before refused what was signed by its second second.
    const request = await sign(identity, { ...parts, ahead: 3 });
    hashes.push(request.bodySha256);
    {
      await using relayer = await installation.start({ SVC_TEST: "1", SVC_FAILPOINT: point });
      // A crash before the commit breaks the connection; later ones may.
      const answer = await send(relayer.url, request).catch(() => undefined);
      if (point === "stage" || point === "accept") assert.equal(answer, undefined);
      const status = await relayer.child.ended();
      assert.equal(status.signal, "SIGKILL");
    }
    await using relayer = await installation.start();
    await takenUp(relayer.url, identity);
    const before = (await listAll(relayer.url, identity, "default")).length - all.length;
    assert.equal(before, point === "stage" ? 0 : marks.length);

    const again = parts.form === "legacy"
      ? await send(relayer.url, request)
      : await call(relayer.url, identity, parts);
    assert.ok(again.status === 202 || again.status === 200, again.body.code);
    const isReplay = again.headers.get("idempotency-replayed") === "true";
    assert.equal(isReplay, point !== "stage");
    await idle(relayer.url);
    if (parts.route === "POST /api/analyze") {
      // Sent as something new, the same text still stores nothing twice.
      const anew = await call(relayer.url, identity, { ...parts, idempotencyKey: "anew" });
      assert.deepEqual([anew.status, anew.body.total], [202, 0]);
    }
    all.push(...marks);
    assert.equal(await relayer.stop(), 0);
  }

  await using relayer = await installation.start();
  const memories = await listAll(relayer.url, identity, "default", 7);
  const found = memories.map((memory) => memory.text ?? memory.metadata["mark"]);
  assert.deepEqual(found.sort(), all.sort());
  assert.ok(memories.every(({ blob_id, status }) => blob_id !== "" && status === "done"));
  for (const { memory_id, text } of memories) {
    if (text === undefined) continue;
    const body = { query: text, limit: 5 };
    const { body: recalled } = await call(relayer.url, identity, {
      route: "POST /api/recall",
      body,
    });
    assert.ok(recalled.results.some((hit) => hit.memory_id === memory_id));
  }
  const restored = await call(relayer.url, identity, {
    route: "POST /api/restore",
    body: { namespace: "default", limit: 500 },
  });
  assert.deepEqual([restored.body.restored, restored.body.total], [0, all.length]);
  assert.equal(await relayer.stop(), 0);
  assert.deepEqual(await scan(installation, identity, hashes), []);
}
