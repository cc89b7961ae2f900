import assert from "node:assert/strict";
import { startRelayer } from "../relayer_fixture.ts";

/** Beginnings of texts, and what is repeated behind them: each was once read again from every place. */
const TEXTS = [
  ["user", "\n"],
  ["user", " "],
  ["a", "\u0301\u0323"],
  ["I like tea", "\n"],
  ["", "ﷺ"],
  ["", "中"],
  ["", "# "],
  ["", "Ada's "],
  ["", ", "],
  ["", "и"],
  ["", "1-"],
] as const;
/** What takes some of the time of others takes less than a second; it was minutes, milliseconds. */
const HELD_UP_MS = 30_000;

Deno.test("no text of repeated characters holds the relayer up", async () => {
  await using svc = await startRelayer();
  for (const [start, repeated] of TEXTS) {
    const long = (bytes: number) => {
      const { length } = new TextEncoder().encode(repeated);
      return `${start}${repeated.repeat((bytes - 20) / length)}x`;
    };
    const began = performance.now();
    const text = long(1024 * 1024);
    assert.equal((await svc.post("/api/remember", { text })).status, 202);
    for (const mode of ["hybrid", "keyword"]) {
      assert.equal((await svc.post("/api/recall", { query: long(64 * 1024), mode })).status, 200);
    }
    for (let i = 0; i < 2; i++) {
      assert.equal((await svc.post("/api/analyze", { text: long(64 * 1024) })).status, 202);
    }
    await svc.relayer.idle();
    const took = performance.now() - began;
    assert.ok(took < HELD_UP_MS, `${JSON.stringify(repeated)}: ${took} ms`);
  }
});
