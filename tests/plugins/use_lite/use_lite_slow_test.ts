import assert from "node:assert/strict";
import fc from "fast-check";
import { WorkerEmbedder } from "../../../plugins/use_lite/embedder.ts";
import plugin, { useLiteEmbedder } from "../../../plugins/use_lite/mod.ts";
import { SvcError } from "../../../src/errors.ts";
import parity from "../../testdata/use_lite_parity.json" with { type: "json" };

const MEBIBYTE = 1 << 20;
const longText = (seed: number) =>
  `Note ${seed}: the quiet mountains above our village. `.repeat(MEBIBYTE / 40).slice(0, MEBIBYTE);

function isUnavailable(cause?: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof SvcError);
    assert.equal(error.code, "embedding_unavailable");
    if (cause !== undefined) assert.match(String(error.cause), cause);
    return true;
  };
}

function assertUnit(vector: Float32Array): void {
  assert.equal(vector.length, 512);
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  assert.ok(Math.abs(length - 1) < 1e-5, `length ${length}`);
}

Deno.test("the plugin offers the embedder and asks to read its weights and source", async () => {
  assert.equal(plugin.name, "use-lite");
  assert.deepEqual(Object.keys(plugin.roles), ["embedder"]);
  const permissions = await plugin.permissions?.("embedder", {}, "");
  assert.equal(permissions?.read?.length, 3);
  const sys = Deno.build.os === "linux" ? ["getPriority", "setPriority"] : undefined;
  assert.deepEqual({ ...permissions, read: [] }, { read: [], ...(sys && { sys }) });
  assert.deepEqual(await plugin.permissions?.("cipher", {}, ""), {});
  await using embedder = useLiteEmbedder();
  assert.equal(embedder.model, "use-lite@0.2.0+2");
  assert.equal(embedder.dimensions, 512);
  assert.equal(embedder.maxTokens, 128);
});

Deno.test("without what was learned, vectors are those of the reference", async () => {
  await using embedder = new WorkerEmbedder({ plain: true });
  assert.equal(embedder.model, "use-lite@0.2.0");
  const results = await embedder.embed(parity.texts, { purpose: "document" });
  assert.equal(results.length, parity.texts.length);
  results.forEach((windows, i) => {
    assert.equal(windows.length, 1);
    windows[0]!.forEach((x, j) => assert.ok(Math.abs(x - parity.vectors[i]![j]!) < 1e-5));
  });
});

Deno.test("it knows English words, and says when a query is not English", async () => {
  await using embedder = useLiteEmbedder();
  const known = async (text: string) => (await embedder.embedQuery!(text)).known;
  for (
    const text of ["What is my job?", "Which city do I live in?", "old injuries", "Is it OK?!"]
  ) {
    assert.equal(await known(text), 1, text);
  }
  for (const text of ["고양이 건강", "Knieoperation", "Blutdrucktablette", "?!", ""]) {
    assert.equal(await known(text), 0, text);
  }
  const partly = await known("invoice of Brightwell");
  assert.ok(partly > 0 && partly < 1, String(partly));
});

Deno.test("texts of all lengths and kinds have unit vectors", async () => {
  await using embedder = useLiteEmbedder();
  assert.deepEqual(await embedder.embed([], { purpose: "document" }), []);
  const texts = ["", "\u{1f600}", "\ud800", "\0", "tea", "tea. ".repeat(500), longText(1)];
  const documents = await embedder.embed(texts, { purpose: "document" });
  const counts = documents.map((windows) => windows.length);
  assert.deepEqual(counts.slice(0, 5), [1, 1, 1, 1, 1]);
  assert.ok(counts[5]! > 1 && counts[5]! <= 16);
  assert.equal(counts[6], 16);
  documents.flat().forEach(assertUnit);
  const queries = await embedder.embed(texts, { purpose: "query" });
  assert.deepEqual(queries.map((windows) => windows.length), texts.map(() => 1));
  queries.flat().forEach(assertUnit);
});

Deno.test("arbitrary strings have finite unit vectors", async () => {
  await using embedder = useLiteEmbedder();
  const codeUnits = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 300 })
    .map((codes) => String.fromCharCode(...codes));
  const texts = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), codeUnits), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(texts, fc.constantFrom("document", "query"), async (texts, purpose) => {
      const results = await embedder.embed(texts, { purpose });
      assert.equal(results.length, texts.length);
      results.flat().forEach(assertUnit);
    }),
    { numRuns: 20 },
  );
});

Deno.test("equal texts have equal vectors alone and among others", async () => {
  await using embedder = useLiteEmbedder();
  const texts = Array.from({ length: 70 }, (_, i) => `Note ${i} about the village.`);
  const calls = texts.map((text) => embedder.embed([text], { purpose: "document" }));
  const together = (await Promise.all(calls)).map(([windows]) => windows);
  const [alone] = await embedder.embed([texts[33]!], { purpose: "document" });
  alone![0]!.forEach((x, i) => assert.ok(Math.abs(x - together[33]![0]![i]!) < 1e-5));
});

Deno.test("a query overtakes documents", async () => {
  await using embedder = useLiteEmbedder();
  const ask = () => embedder.embed(["What do I like?"], { purpose: "query" });
  await ask();
  const order: string[] = [];
  const documents = [1, 2, 3].map(async (n) => {
    await embedder.embed([longText(n)], { purpose: "document" });
    order.push(`document ${n}`);
  });
  for (const n of [1, 2]) await ask().then(() => order.push(`query ${n}`));
  await Promise.all(documents);
  assert.deepEqual(order, ["query 1", "query 2", "document 1", "document 2", "document 3"]);
});

Deno.test("an aborted call rejects with the reason", async () => {
  await using embedder = useLiteEmbedder();
  const reason = new Error("enough");
  const aborted = AbortSignal.abort(reason);
  const purpose = "document";
  const is = (error: unknown) => error === reason;
  await assert.rejects(embedder.embed(["a"], { purpose, signal: aborted }), is);

  const controller = new AbortController();
  const { signal } = controller;
  const running = embedder.embed([longText(1)], { purpose, signal });
  const waiting = embedder.embed([longText(2), longText(3)], { purpose, signal });
  const query = embedder.embed(["b"], { purpose: "query", signal });
  const kept = embedder.embed(["c"], { purpose });
  controller.abort(reason);
  await assert.rejects(running, is);
  await assert.rejects(waiting, is);
  await assert.rejects(query, is);
  assert.equal((await kept)[0]!.length, 1);
});

Deno.test("a document that is abandoned while it is computed makes room", async () => {
  await using embedder = useLiteEmbedder();
  await embedder.embed(["ready"], { purpose: "query" });
  const controller = new AbortController();
  const reason = new Error("enough");
  const { signal } = controller;
  const running = embedder.embed([longText(1)], { purpose: "document", signal });
  const next = embedder.embed([longText(2)], { purpose: "document" });
  await embedder.embed(["The worker is busy now"], { purpose: "query" });
  controller.abort(reason);
  await assert.rejects(running, (error) => error === reason);
  assert.equal((await next)[0]!.length, 16);
});

Deno.test("disposing rejects what is under way, and everything after", async () => {
  const embedder = useLiteEmbedder();
  const calls = [
    embedder.embed(["a"], { purpose: "document" }),
    embedder.embed(["b"], { purpose: "query" }),
  ];
  const rejected = calls.map((call) => assert.rejects(call, isUnavailable()));
  await embedder[Symbol.asyncDispose]();
  await Promise.all(rejected);
  await assert.rejects(embedder.embed(["c"], { purpose: "query" }), isUnavailable());
  await embedder[Symbol.asyncDispose]();
});

Deno.test("a worker that crashes is replaced", async () => {
  let workers = 0;
  const crashing = "data:text/javascript,onmessage=({data})=>{if(data.texts)throw 'gone'}";
  const real = new URL("../../../plugins/use_lite/worker.ts", import.meta.url);
  const spawn = () => new Worker(workers++ === 0 ? crashing : real, { type: "module" });
  await using embedder = new WorkerEmbedder({ spawn });
  const calls = [
    embedder.embed(["a"], { purpose: "query" }),
    embedder.embed(["b"], { purpose: "document" }),
  ];
  await Promise.all(calls.map((call) => assert.rejects(call, isUnavailable(/gone/))));
  const [windows] = await embedder.embed(["c"], { purpose: "document" });
  assertUnit(windows![0]!);
  assert.equal(workers, 2);
});

Deno.test("missing weights make calls fail until they are there", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using embedder = new WorkerEmbedder({ folder: new URL(`file://${folder}/`).href });
    for (let n = 0; n < 2; n++) {
      const call = embedder.embed(["a"], { purpose: "query" });
      await assert.rejects(call, isUnavailable(/NotFound/));
    }
    const { WEIGHTS_FOLDER } = await import("../../../plugins/use_lite/folders.ts");
    for await (const { name } of Deno.readDir(new URL(WEIGHTS_FOLDER))) {
      await Deno.symlink(new URL(name, WEIGHTS_FOLDER), `${folder}/${name}`);
    }
    assert.equal((await embedder.embed(["a"], { purpose: "query" })).length, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the plain kernel serves where there is no SIMD", async () => {
  await using embedder = useLiteEmbedder({ kernel: "js" });
  await using fastest = useLiteEmbedder();
  const embed = ({ embed }: Pick<WorkerEmbedder, "embed">) =>
    embed([parity.texts[0]!], { purpose: "document" });
  const [[plain], [fast]] = await Promise.all([
    embed({ embed: (...call) => embedder.embed(...call) }),
    embed({ embed: (...call) => fastest.embed(...call) }),
  ]);
  plain![0]!.forEach((x, i) => assert.ok(Math.abs(x - fast![0]![i]!) < 1e-5));
});
