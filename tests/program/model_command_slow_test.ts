import assert from "node:assert/strict";
import { type DescribedModel, describedModel, SMALL } from "../plugins/onnx/model_folder.ts";
import { HubServer } from "../plugins/onnx/hub_server.ts";
import { inHome, Program } from "../program.ts";

/** Runs `svc model …` to its end. */
async function model(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly output: string; readonly errors: string }> {
  await using program = new Program(["model", ...args], env);
  const code = await program.end();
  return { code, output: await program.output, errors: program.errors.join("\n") };
}

/** A hub with a small model, its description in a file, and the settings to fetch it. */
async function withHub(
  work: (
    hub: HubServer,
    env: Readonly<Record<string, string>>,
    file: string,
    small: DescribedModel,
  ) => Promise<void>,
): Promise<void> {
  const small = describedModel();
  await using hub = await HubServer.start(small);
  await inHome(async (home) => {
    const file = `${home}/small.json`;
    await Deno.writeTextFile(file, JSON.stringify(small.description));
    const env = { HOME: home, SVC_MODEL_HUB: hub.url, SVC_MODEL_HUB_HOSTS: hub.store };
    await work(hub, env, file, small);
  });
}

Deno.test("a model is fetched, listed and checked", async () => {
  await withHub(async (_hub, env, file) => {
    const got = await model(["get", "--from", file], env);
    assert.equal(got.code, 0, got.errors);
    assert.match(
      got.output,
      /^small is there, 1 MB, every file checked: .*\/\.svc\/models\/small\n/,
    );
    assert.match(got.output, /SVC_EMBEDDER=onnx SVC_EMBEDDING_MODEL=small/);
    const listed = await model(["list"], env);
    assert.match(listed.output, /^✓ small /m);
    assert.match(listed.output, /^ {2}multilingual-e5-small +135 MB +384 {2}MIT/m);
    assert.equal((await model(["check", SMALL], env)).code, 0);
    const folder = `${env["HOME"]}/.svc/models/${SMALL}`;
    await Deno.writeTextFile(`${folder}/tokenizer.json`, "{}");
    await Deno.remove(`${folder}/onnx/model.onnx`);
    const checked = await model(["check"], env);
    assert.equal(checked.code, 1);
    assert.match(checked.errors, /small: onnx\/model\.onnx is missing/);
    assert.match(checked.errors, /small: tokenizer\.json is altered/);
  });
});

Deno.test("what fetches may reach the hub and its stores, and nothing else", async () => {
  await withHub(async (hub, env, file) => {
    const none = await model(["get", "--from", file], { ...env, SVC_MODEL_HUB_HOSTS: "" });
    assert.equal(none.code, 1);
    assert.match(none.errors, /which is not among its hosts: SVC_MODEL_HUB_HOSTS names them/);
    assert.ok(hub.asked.every((line) => line.startsWith("hub")));
  });
});

Deno.test("a file that is not what it should be is named by the process that fetched it", async () => {
  await withHub(async (hub, env, file) => {
    hub.faults.alter = true;
    const broken = await model(["get", "--from", file, "--json"], env);
    assert.equal(broken.code, 1);
    const { code, error } = JSON.parse(broken.errors);
    assert.equal(code, "storage_unavailable");
    assert.match(error, /came broken/);
  });
});
