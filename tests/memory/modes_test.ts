import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import { memoryCipher } from "../../plugins/memory/cipher.ts";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import { type Json, startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { guarded, SESSION } from "./guarded.ts";
import { intercepted } from "./intercepted.ts";

async function find(svc: TestRelayer, query: string, members: Json = {}): Promise<Json[]> {
  const { status, body } = await svc.post("/api/recall", { query, ...members });
  assert.equal(status, 200, body.code);
  return body.results;
}

const textsOf = (hits: Json[]): string[] => hits.map((hit) => hit.text);

/** An embedder for which all texts are alike, and that may be down. */
function blind(state: { down: boolean }) {
  return intercepted(memoryEmbedder(), {
    embed: (next, texts, options) => {
      if (state.down) return Promise.reject(new SvcError("embedding_unavailable"));
      return next(texts.map(() => "same"), options);
    },
  });
}

Deno.test("keyword mode finds words and their forms, without the embedder", async () => {
  verifies("10.6-4", "10.6-5", "10.6-16");
  const state = { down: false };
  await using svc = await startRelayer({ backends: { embedder: blind(state) } });
  const texts = ["We walked in the mountains", "Ticket NET-2271 is closed", "The tea is green"];
  for (const text of texts) await svc.remember(text);
  state.down = true;
  const keyword = { mode: "keyword" };
  assert.deepEqual(textsOf(await find(svc, "walking", keyword)), [texts[0]]);
  assert.deepEqual(textsOf(await find(svc, "NET-2271", keyword)), [texts[1]]);
  assert.deepEqual(textsOf(await find(svc, "mountans", keyword)), [texts[0]], "misspelt");
  assert.deepEqual(await find(svc, "submarine", keyword), []);
  const hits = await find(svc, "green mountains tea", keyword);
  assert.deepEqual(textsOf(hits), [texts[2], texts[0]]);
  for (const { score, distance } of hits) {
    assert.ok(score > 0 && score <= 1);
    assert.ok(Math.abs(distance - (1 - score)) < 1e-6);
  }
  const [best, second] = hits;
  const narrowed = (members: Json) => find(svc, "green mountains tea", { ...keyword, ...members });
  assert.equal((await narrowed({ min_score: best.score })).length, 1);
  assert.equal((await narrowed({ max_distance: second.distance })).length, 1);
  assert.equal((await narrowed({ limit: 1 })).length, 1);
});

Deno.test("hybrid mode lets words decide where the meaning does not, and is the default", async () => {
  verifies("10.6-6");
  await using svc = await startRelayer({ backends: { embedder: blind({ down: false }) } });
  await svc.remember("My dog is called Biscuit");
  await svc.remember("I play the cello");
  await svc.remember("We live in Lisbon");
  const hits = await find(svc, "cello");
  assert.equal(hits.length, 3);
  assert.equal(hits[0].text, "I play the cello");
  assert.deepEqual(hits, await find(svc, "cello", { mode: "hybrid" }));
  for (const { score, distance } of hits) {
    assert.ok(score >= 0 && score <= 1);
    assert.ok(distance < 1e-6);
  }
  const semantic = await find(svc, "cello", { mode: "semantic" });
  assert.equal(semantic[0].text, "We live in Lisbon", "all alike: the newest comes first");
});

Deno.test("scores above 1 are cut off, their order is not", async () => {
  verifies("10.6-6");
  await using svc = await startRelayer();
  await svc.remember("tea");
  for (const text of ["tea tea tea", "coffee", "train", "piano"]) await svc.remember(text);
  const hits = await find(svc, "tea");
  assert.deepEqual(hits.slice(0, 2).map(({ text, score }) => [text, score]), [
    ["tea", 1],
    ["tea tea tea", 1],
  ]);
});

Deno.test("weights work on the relevance of every mode", async () => {
  verifies("10.6-19");
  await using svc = await startRelayer();
  await svc.remember("green tea", { importance: 1 });
  await svc.remember("black tea", { importance: 0 });
  for (const mode of ["hybrid", "semantic", "keyword"]) {
    const plain = new Map((await find(svc, "tea", { mode })).map((hit) => [hit.text, hit.score]));
    const scoring_weights = { semantic: 2, importance: 3 };
    for (const hit of await find(svc, "tea", { mode, scoring_weights })) {
      const expected = 2 * plain.get(hit.text) + 3 * hit.importance;
      assert.ok(Math.abs(hit.score - expected) < 1e-6, mode);
    }
  }
});

Deno.test("words follow what is written and deleted", async () => {
  verifies("10.6-22");
  await using svc = await startRelayer();
  const keyword = { mode: "keyword" };
  const id = await svc.remember("the heron at the lake");
  assert.equal((await find(svc, "heron", keyword)).length, 1);
  await svc.remember("another heron");
  assert.equal((await find(svc, "heron", keyword)).length, 2);
  await svc.send("DELETE", `/api/memories/${id}`);
  assert.deepEqual(textsOf(await find(svc, "heron", keyword)), ["another heron"]);
});

Deno.test("words are indexed with a credential only, and once", async () => {
  const count = { opened: 0 };
  const cipher = guarded(memoryCipher(), {
    open: (next, items, context) => {
      count.opened += items.length;
      return next(items, context);
    },
  });
  await using svc = await startRelayer({ backends: { cipher } });
  const headers = SESSION;
  for (let i = 0; i < 5; i++) await svc.remember(`heron ${i}`);
  assert.equal(count.opened, 0, "nothing is opened when it is written");
  const wrong = { "x-delegate-key": "cd".repeat(32) };
  const refused = await svc.post("/api/recall", { query: "heron" }, { headers: wrong });
  assert.equal(refused.body.code, "decrypt_credential_invalid");
  const body = { query: "heron", mode: "keyword", limit: 2 };
  assert.equal((await svc.post("/api/recall", body, { headers })).body.total, 2);
  assert.equal(count.opened, 5 + 2);
  assert.equal((await svc.post("/api/recall", body, { headers })).body.total, 2);
  assert.equal(count.opened, 5 + 2 + 2, "the hits only");
  const nothing = { query: "submarine", mode: "keyword" };
  assert.equal((await svc.post("/api/recall", nothing, { headers })).body.total, 0);
  const guessed = await svc.post("/api/recall", nothing, { headers: wrong });
  assert.equal(guessed.body.code, "decrypt_credential_invalid", "not even that there is nothing");
});

Deno.test("what cannot be opened for the moment is found by its words later", async () => {
  const refused = new Map<string, SvcError>();
  const cipher = intercepted(memoryCipher(), {
    open: async (next, items, context) =>
      (await next(items, context)).map((result, i) => {
        const reason = refused.get(items[i]!.memoryId);
        return reason === undefined ? result : { status: "rejected" as const, reason };
      }),
  });
  await using svc = await startRelayer({ backends: { cipher } });
  const ids = [await svc.remember("heron one"), await svc.remember("heron two")];
  const damaged = await svc.remember("heron three");
  refused.set(ids[0]!, new SvcError("key_service_unavailable"));
  refused.set(damaged, new SvcError("storage_unavailable", undefined, { retryable: false }));
  const keyword = { mode: "keyword" };
  assert.deepEqual(textsOf(await find(svc, "heron", keyword)), ["heron two"]);
  const { body } = await svc.post("/api/recall", { query: "heron" });
  assert.equal(body.dropped_count, 2, "by meaning they are found");
  refused.clear();
  assert.deepEqual(
    textsOf(await find(svc, "heron", keyword)),
    ["heron two"],
    "not asked again yet",
  );
  svc.clock.advance(30_000);
  assert.equal((await find(svc, "heron", keyword)).length, 2, "the damaged one stays out");
});

Deno.test("callers share the work of opening a scope", async () => {
  const count = { opened: 0 };
  const cipher = intercepted(memoryCipher(), {
    open: (next, items, context) => {
      count.opened += items.length;
      return next(items, context);
    },
  });
  await using svc = await startRelayer({ backends: { cipher } });
  for (let i = 0; i < 20; i++) await svc.remember(`heron ${i}`);
  const search = () => svc.post("/api/recall", { query: "heron", limit: 1, mode: "keyword" });
  const answers = await Promise.all(Array.from({ length: 8 }, search));
  assert.ok(answers.every(({ body }) => body.total === 1));
  assert.equal(count.opened, 20 + 8);
});

Deno.test("recalls beside writes and deletions never find what is gone or foreign", async () => {
  verifies("10.6-22", "10.6-24", "10.6-25");
  await using svc = await startRelayer();
  await svc.remember("heron elsewhere", { namespace: "other" });
  const gone = new Set<string>();
  const written: string[] = [];
  const work = async (worker: number) => {
    for (let i = 0; i < 25; i++) {
      const text = `heron ${worker} ${i}`;
      const { body } = await svc.post("/api/remember", { text });
      const mode = ["hybrid", "keyword", "semantic"][i % 3]!;
      const before = new Set(gone);
      const hits = await find(svc, text, { mode, limit: 100 });
      assert.ok(hits.some((hit) => hit.memory_id === body.job_id), `${text} is missing`);
      assert.deepEqual(hits.filter((hit) => before.has(hit.memory_id)), []);
      assert.ok(hits.every((hit) => /^heron \d+ \d+$/.test(hit.text)));
      if (i % 2 === 0) {
        const { status } = await svc.send("DELETE", `/api/memories/${body.job_id}`);
        assert.equal(status, 200);
        gone.add(body.job_id);
      } else written.push(text);
    }
  };
  await Promise.all(Array.from({ length: 6 }, (_, worker) => work(worker)));
  await svc.relayer.idle();
  const left = await find(svc, "heron", { mode: "keyword", limit: 100 });
  assert.deepEqual(textsOf(left).sort(), written.sort());
});
