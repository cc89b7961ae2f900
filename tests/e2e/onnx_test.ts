import assert from "node:assert/strict";
import { MANIFEST_FILE } from "../../plugins/onnx/models/folder.ts";
import { Installation } from "../crash/installation.ts";
import { call, health, idle } from "../crash/wire.ts";
import { ModelFolder } from "../plugins/onnx/model_folder.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";

const FACTS = ["die Katze schläft auf dem Sofa", "ich wohne in Berlin", "I drink green tea"];

const ready = (url: string) =>
  poll(() => health(url), ({ dependencies }) => dependencies.embedder.status === "ok");

Deno.test("a model of files finds by meaning in the sandbox, and another one takes over", async () => {
  verifies("15-43");
  await using folder = await ModelFolder.make({ name: "first" });
  await folder.add({ name: "second", pooling: "cls" }, { seed: 7, tokenTypes: true });
  const settings = { SVC_EMBEDDER: "onnx", SVC_MODEL_DIR: folder.modelDir };
  const first = { ...settings, SVC_EMBEDDING_MODEL: "first" };
  const second = { ...settings, SVC_EMBEDDING_MODEL: "second" };
  await using installation = await Installation.create();
  const identity = await installation.account();
  const recalled = async (url: string) => {
    const body = { query: "wo wohne ich", limit: 10 };
    const answer = await call(url, identity, { route: "POST /api/recall", body });
    return answer.body.results.map(({ text }) => text);
  };
  const modelOf = async (url: string) =>
    (await (await fetch(`${url}/config`)).json()).embeddingModel;
  {
    await using program = await installation.launch(["start"], first);
    for (const text of FACTS) {
      const { status, body } = await call(program.url, identity, {
        route: "POST /api/remember",
        body: { text },
      });
      assert.equal(status, 202);
      // It reads them all.
      assert.ok(!("unread_language" in body));
    }
    await idle(program.url);
    assert.equal((await recalled(program.url))[0], FACTS[1]);
    assert.match(await modelOf(program.url), /^onnx:first@[0-9a-f]{12}$/);
    assert.equal(await program.stop(), 0);
  }
  {
    await using program = await installation.launch(["start"], second);
    const { dependencies } = await ready(program.url);
    assert.deepEqual(Object(dependencies.embedder).reembedding, { done: 3, total: 3, failed: 0 });
    assert.deepEqual((await recalled(program.url)).toSorted(), FACTS.toSorted());
    assert.match(await modelOf(program.url), /^onnx:second@/);
    assert.equal(await program.stop(), 0);
  }
  await Deno.writeTextFile(folder.path("tokenizer.json", "second"), "{}");
  const tampered = await installation.run(["start"], second);
  assert.equal(tampered.code, 78);
  assert.match(tampered.errors, /second: tokenizer\.json is not what was fetched/);
  await Deno.remove(folder.path(MANIFEST_FILE, "second"));
  const missing = await installation.run(["start"], { ...settings });
  assert.equal(missing.code, 78);
  assert.match(missing.errors, /run "svc model get multilingual-e5-small"/);
});

Deno.test("the relayer may read its model, and no other one", async () => {
  await using folder = await ModelFolder.make();
  await using installation = await Installation.create();
  const env = {
    SVC_EMBEDDER: "onnx",
    SVC_MODEL_DIR: folder.modelDir,
    SVC_EMBEDDING_MODEL: "small",
  };
  const list = async (more: Readonly<Record<string, string>>) => {
    const { output } = await installation.run(["--print-permissions"], more);
    const [relayer = ""] = output.split("sidecar");
    return new Map(
      [...relayer.matchAll(/--allow-(\w+)=(\S+)/g)].map((
        [, kind, list],
      ) => [kind, list!.split(",")]),
    );
  };
  const usual = await list({ SVC_EMBEDDER: "memory" });
  const chosen = await list(env);
  const added = chosen.get("read")!.filter((path) => !usual.get("read")!.includes(path));
  assert.deepEqual(
    added.map((path) => path.replace(/.*\//, "")).sort(),
    ["ort-wasm-simd-threaded.wasm", "small"],
  );
  for (const kind of ["net", "write", "env", "ffi"]) {
    assert.deepEqual(chosen.get(kind), usual.get(kind), kind);
  }
});
