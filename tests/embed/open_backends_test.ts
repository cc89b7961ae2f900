import "../checked_relayers.ts";
import assert from "node:assert/strict";
import lancedb from "../../plugins/lancedb/mod.ts";
import { local } from "../../plugins/local/mod.ts";
import { memory, memoryBackends, memoryEmbedder } from "../../plugins/memory/mod.ts";
import { openBackends } from "../../src/embed/open_backends.ts";
import type { Embedder } from "../../src/interfaces/mod.ts";
import { type BackendSource, pluginSource, type Sealer } from "../../src/interfaces/plugin.ts";
import { createRelayer } from "../../src/relayer.ts";
import { sealerForTests } from "../plugins/sealer_for_tests.ts";
import { SURROUNDINGS } from "./surroundings.ts";

/** An embedder that notes when it is disposed of. */
function noted(name: string, log: string[]): Embedder {
  const embedder = memoryEmbedder();
  return {
    ...embedder,
    model: name,
    [Symbol.asyncDispose]() {
      log.push(name);
      return embedder[Symbol.asyncDispose]();
    },
  };
}

async function refusal(backends: unknown): Promise<string> {
  const options = { backends } as Parameters<typeof createRelayer>[0];
  const error = await createRelayer(options).catch((thrown) => thrown);
  assert.equal(error.code, "invalid_parameter");
  return error.message;
}

Deno.test("the last source of a role plays it, and the others are not opened", async () => {
  const never = () => assert.fail("opened");
  const log: string[] = [];
  await using relayer = await createRelayer({
    backends: [
      { ...memory(), embedder: never, vectorStore: never },
      { embedder: noted("last", log), vectorStore: memory().vectorStore },
      { embedder: undefined },
    ],
  });
  assert.equal(relayer.backends.embedder.model, "last");
  assert.deepEqual(Object.keys(relayer.backends).sort(), [
    "accounts",
    "blobStore",
    "cipher",
    "embedder",
    "vectorStore",
  ]);
});

Deno.test("what a factory opened ends with the relayer, and what was given open does not", async () => {
  const log: string[] = [];
  const given = noted("given", log);
  const made = noted("made", log);
  for (const embedder of [given, () => made]) {
    const relayer = await createRelayer({ backends: [memory(), { embedder }] });
    await relayer[Symbol.asyncDispose]();
  }
  assert.deepEqual(log, ["made"]);
  await given[Symbol.asyncDispose]();
});

Deno.test("an object that plays two roles is disposed of once", async () => {
  let disposals = 0;
  const both = {
    ...memoryEmbedder(),
    chat: () => Promise.resolve(""),
    [Symbol.asyncDispose]: () => Promise.resolve(void disposals++),
  };
  const source = { embedder: () => both, languageModel: () => both };
  await (await createRelayer({ backends: [memory(), source] }))[Symbol.asyncDispose]();
  assert.equal(disposals, 1);
});

Deno.test("a list that cannot be opened is refused in one sentence", async () => {
  const { cipher: _cipher, vectorStore: _vectorStore, ...rest } = memoryBackends();
  assert.equal(
    await refusal(rest),
    "Nothing plays cipher, vectorStore: add a source of it to backends",
  );
  assert.match(await refusal([memory(), { vectorstore: {} }]), /^vectorstore is no role: /);
  assert.match(await refusal([memory(), lancedb]), /^\w+ is no role: /);
  assert.match(await refusal([memory(), { cipher: "local" }]), /cipher is neither a backend nor/);
  assert.match(await refusal([memory(), null]), /is no object of roles/);
  assert.match(
    await refusal([memory(), { cipher: () => undefined }]),
    /^The factory of cipher opened no backend/,
  );
  assert.equal(
    await refusal([memory(), { blobStore: local().blobStore }]),
    "local keeps files: give the relayer a dataDir",
  );
});

Deno.test("each plugin seals under a name of its own, and as it always did", async () => {
  const purposes: string[] = [];
  const backends = memoryBackends();
  const play: BackendSource = {
    cipher: () => backends.cipher,
    vectorStore: () => backends.vectorStore,
  };
  for (const name of ["local", "lancedb", "mine", undefined]) {
    await using stack = new AsyncDisposableStack();
    await openBackends([memory(), { ...play, name }], {
      ...SURROUNDINGS,
      sealer: (purpose) => (purposes.push(purpose), sealerForTests(purpose)),
    }, stack);
  }
  assert.deepEqual(purposes, [
    "plugin local-cipher",
    "plugin local-index",
    "plugin lancedb-cipher",
    "plugin lancedb",
    "plugin mine-cipher",
    "plugin mine-vectorStore",
    "plugin cipher",
    "plugin vectorStore",
  ]);
});

const PLUGINS = [
  ["lancedb", "lancedb"],
  ["local", "local"],
  ["memory", "memory"],
  ["ollama", "ollama"],
  ["openai", "openai"],
  ["sui/accounts", "sui"],
  ["sui/seal", "seal"],
  ["sui/walrus", "walrus"],
  ["sui/sponsors/enoki", "enoki"],
  ["sui/sponsors/gas_station", "gasStation"],
  ["use_lite", "useLite"],
];

for (const [folder, name] of PLUGINS) {
  Deno.test(`${name}() is a source of the plugin's roles`, async () => {
    const module = await import(`../../plugins/${folder}/mod.ts`);
    const wanted = Object.keys(pluginSource(module.default)).sort();
    const source = module[name!]({ embeddingModel: "one", chatModel: "another" });
    assert.deepEqual(Object.keys(source).sort(), wanted);
    assert.equal(source.name, module.default.name);
  });
}

Deno.test("data keys that one embedded cipher wrapped are unwrapped by its like, and no other", async () => {
  const sealerOf = async (name: string): Promise<Sealer> => {
    const { promise, resolve } = Promise.withResolvers<Sealer>();
    const inner = memory();
    const cipher: BackendSource["cipher"] = (context) => {
      resolve(context.sealer);
      return memoryBackends().cipher;
    };
    await using stack = new AsyncDisposableStack();
    await openBackends([inner, { name, cipher }], SURROUNDINGS, stack);
    return await promise;
  };
  const [own, like, other] = await Promise.all(["local", "postgres", "seal"].map(sealerOf));
  const bytes = Uint8Array.of(1, 2, 3);
  const small = own!.seal(bytes, "a");
  const large = await own!.sealLarge(bytes, "a");
  for (const sealer of [own!, like!]) {
    assert.deepEqual(sealer.open(small, "a"), bytes);
    assert.deepEqual(await sealer.openLarge(large, "a"), bytes);
    assert.throws(() => sealer.open(small, "b"), { code: "storage_unavailable" });
  }
  assert.deepEqual(own!.open(like!.seal(bytes, "a"), "a"), bytes);
  assert.throws(() => other!.open(small, "a"), { code: "storage_unavailable" });
  assert.throws(() => own!.open(other!.seal(bytes, "a"), "a"), { code: "storage_unavailable" });
});
