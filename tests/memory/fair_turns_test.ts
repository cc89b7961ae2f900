import assert from "node:assert/strict";
import { memoryEmbedder } from "../../plugins/memory/embedder.ts";
import type { LanguageModel } from "../../src/interfaces/mod.ts";
import { FairTurns } from "../../src/memory/fair_turns.ts";
import { QueryVectors } from "../../src/memory/recall/query_vectors.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { Gate, intercepted, Points } from "./intercepted.ts";

const never = new AbortController().signal;

Deno.test("calls beyond the bound wait in order, and too many are refused", async () => {
  const calls = new FairTurns(1, 2);
  const order: string[] = [];
  const first = await calls.enter(never);
  const gone = new AbortController();
  const left = calls.enter(gone.signal);
  const second = calls.enter(never).then((leave) => (order.push("second"), leave));
  await assert.rejects(calls.enter(never), { code: "overloaded" });
  gone.abort();
  await assert.rejects(left, { code: "overloaded" });
  const third = calls.enter(never).then((leave) => (order.push("third"), leave));
  first();
  (await second)();
  (await third)();
  assert.deepEqual(order, ["second", "third"]);
  (await calls.enter(never))();
  await assert.rejects(calls.enter(gone.signal), { code: "overloaded" });
});

Deno.test("holders take turns, however many of one wait", async () => {
  const turns = new FairTurns(1, 100);
  const order: string[] = [];
  const enter = (holder: string) =>
    turns.enter(never, holder).then((leave) => {
      order.push(holder);
      leave();
    });
  const first = await turns.enter(never, "greedy");
  const waiting = ["greedy", "greedy", "greedy", "ada", "ada", "bob"].map(enter);
  first();
  await Promise.all(waiting);
  assert.deepEqual(order, ["greedy", "ada", "bob", "greedy", "ada", "greedy"]);
  (await turns.enter(never, "bob"))();
});

Deno.test("where too many wait, the newest of the largest crowd makes way", async () => {
  const turns = new FairTurns(1, 3);
  const outcomes = new Map<string, string>();
  const enter = (name: string, holder: string) =>
    turns.enter(never, holder).then((leave) => {
      outcomes.set(name, "let in");
      leave();
    }, ({ code }) => void outcomes.set(name, code));
  const first = await turns.enter(never, "greedy");
  const waiting = [1, 2, 3, 4].map((n) => enter(`greedy ${n}`, "greedy"));
  waiting.push(enter("ada 1", "ada"), enter("bob 1", "bob"), enter("bob 2", "bob"));
  first();
  await Promise.all(waiting);
  assert.deepEqual(Object.fromEntries(outcomes), {
    "greedy 1": "let in",
    "greedy 2": "overloaded",
    "greedy 3": "overloaded",
    "greedy 4": "overloaded",
    "ada 1": "let in",
    "bob 1": "let in",
    "bob 2": "overloaded",
  });
});

/** A model whose calls stop at a gate, whatever their signal says. */
function held() {
  const [gate, points] = [new Gate(), new Points()];
  gate.close();
  const state = { underWay: 0, most: 0, started: 0 };
  const languageModel: LanguageModel = {
    model: "held",
    async chat() {
      state.started++;
      state.most = Math.max(state.most, ++state.underWay);
      points.failpoint("call");
      await gate.pass();
      state.underWay--;
      return "Tea.";
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { languageModel, state, gate, points };
}

Deno.test("a flood of questions holds a bounded number of calls of the model", async () => {
  verifies("10.7-16");
  const { languageModel, state, gate, points } = held();
  const config = { llmCalls: 2 };
  await using svc = await startRelayer({ backends: { languageModel }, config });
  const ask = () => svc.post("/api/ask", { question: "What do I drink?" });
  const flood = Array.from({ length: 30 }, ask);
  // The twelve that are neither at work nor waiting are refused while nothing ends.
  const refused = new Set<string>();
  for (const answer of flood) {
    void answer.then(({ status, headers, body }) => {
      if (status === 200) return;
      refused.add(JSON.stringify([status, body.code, headers.get("retry-after")]));
      points.failpoint("refused");
    });
  }
  await points.reached("refused", 12);
  assert.equal(state.started, 2);
  gate.open();
  const answers = await Promise.all(flood);
  assert.equal(answers.filter(({ status }) => status === 200).length, 18);
  assert.deepEqual([...refused], ['[503,"overloaded","1"]']);
  assert.deepEqual([state.most, state.started], [2, 18]);
});

Deno.test("a call that nobody waits for any more still counts until it has ended", async () => {
  verifies("10.7-16");
  const { languageModel, state, gate } = held();
  const config = { llmCalls: 1, llmTimeoutMs: 30 };
  await using svc = await startRelayer({ backends: { languageModel }, config });
  const late = await svc.post("/api/ask", { question: "What do I drink?" });
  assert.deepEqual([late.status, late.body.code], [503, "llm_unavailable"]);
  const busy = await svc.post("/api/analyze", { text: "I drink tea." });
  assert.deepEqual([busy.status, busy.body.code], [503, "overloaded"]);
  assert.equal(state.started, 1);
  gate.open();
  assert.equal((await svc.post("/api/ask", { question: "And now?" })).body.answer, "Tea.");
});

Deno.test("a query is embedded once for all who wait, and not at all when all have left", async () => {
  const gate = new Gate();
  gate.close();
  let calls = 0;
  let aborted = 0;
  const embedder = intercepted(memoryEmbedder(), {
    embed: async (next, texts, options) => {
      calls++;
      options.signal?.addEventListener("abort", () => aborted++, { once: true });
      await gate.pass(options.signal);
      return await next(texts, options);
    },
  });
  const queries = new QueryVectors(embedder, 0, Date.now);
  const [one, two] = [new AbortController(), new AbortController()];
  const first = queries.get("tea", one.signal);
  const second = queries.get("tea", two.signal);
  await gate.reached;
  one.abort(new Error("left"));
  await assert.rejects(first, /left/);
  assert.deepEqual([calls, aborted], [1, 0]);
  two.abort(new Error("left"));
  await assert.rejects(second, /left/);
  assert.deepEqual([calls, aborted], [1, 1]);
  gate.open();
  assert.equal(await queries.get("tea", one.signal).catch(() => undefined), undefined);
  assert.equal((await queries.get("tea")).vector.length, embedder.dimensions);
});

Deno.test("a flood of queries holds a bounded number of calls of the embedder", async () => {
  const gate = new Gate();
  gate.close();
  let underWay = 0;
  let most = 0;
  const embedder = intercepted(memoryEmbedder(), {
    embed: async (next, texts, options) => {
      most = Math.max(most, ++underWay);
      await gate.pass(options.signal);
      underWay--;
      return await next(texts, options);
    },
  });
  const queries = new QueryVectors(embedder, 0, Date.now);
  const flood = Array.from({ length: 200 }, (_, i) => queries.get(`tea ${i}`));
  await gate.reached;
  gate.open();
  await Promise.all(flood);
  assert.equal(most, 64);
});
