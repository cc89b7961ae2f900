import assert from "node:assert/strict";
import { fetcherPermissions } from "../../src/program/model/fetcher.ts";
import { runModel } from "../../src/program/model/command.ts";
import { getModel } from "../../plugins/onnx/models/get.ts";
import { parseDescription } from "../../plugins/onnx/models/description.ts";
import { KNOWN_MODELS } from "../../plugins/onnx/models/known.ts";
import { describedModel } from "../plugins/onnx/model_folder.ts";
import { HubServer } from "../plugins/onnx/hub_server.ts";

/** Runs `svc model …` in this process, which fetches by itself. */
async function model(args: readonly string[], env: Readonly<Record<string, string>>) {
  const output: string[] = [];
  const errors: string[] = [];
  const io = {
    env,
    cwd: "/",
    stdin: new ReadableStream<Uint8Array>(),
    write: (text: string) => void output.push(text),
    writeError: (text: string) => void errors.push(text),
    exit() {},
  };
  const code = await runModel(args, io, async ({ description, modelDir, hub }, onProgress) => {
    await getModel(description, {
      modelDir,
      hub: { ...hub, pauseMs: 1 },
      onProgress: ({ done, total }) => onProgress(done / total),
    });
  });
  return { code, output: output.join(""), errors: errors.join("") };
}

Deno.test("a command line that says too little or too much is explained", async () => {
  const env = { HOME: "/home/ada" };
  for (
    const args of [[], ["get"], ["get", "a", "b"], ["get", "a", "--from", "b"], ["put"], [
      "check",
      "a",
      "b",
    ], ["list", "--all"]]
  ) {
    const { code, output, errors } = await model(args, env);
    assert.equal(code, 2, args.join(" "));
    assert.match(output + errors, /Usage: svc model list/);
  }
  assert.equal((await model(["--help"], env)).code, 0);
});

Deno.test("a model is named as it should have been, and its terms are for who uses it", async () => {
  const env = { HOME: "/home/ada" };
  const { code, errors } = await model(["get", "bge-m4"], env);
  assert.equal(code, 1);
  assert.match(errors, /of that name; did you mean bge-m3\?/);
  const other = await model(["get", "nothing like it"], env);
  assert.match(other.errors, /of that name; `svc model list` shows them/);
  const gemma = await model(["get", "embeddinggemma-300m"], env);
  assert.match(gemma.errors, /read https:\/\/ai\.google\.dev\/gemma\/terms.*--accept-terms/);
  assert.match((await model(["check", "bge-m3"], env)).errors, /svc model get bge-m3/);
  assert.match((await model(["check", "../x"], env)).errors, /no name of a model/);
  const inside = { ...env, SVC_MODEL_DIR: "/home/ada/.svc/relayer/models" };
  assert.match((await model(["list"], inside)).errors, /must be outside SVC_DATA_DIR/);
});

Deno.test("a description that is none is refused with the member at fault", async () => {
  const home = await Deno.makeTempDir({ prefix: "svc_" });
  const { description } = describedModel();
  const wrong = async (change: object) => {
    await Deno.writeTextFile(`${home}/m.json`, JSON.stringify({ ...description, ...change }));
    const { code, errors } = await model(["get", "--from", `${home}/m.json`], { HOME: home });
    assert.equal(code, 1);
    return errors;
  };
  const cases = [
    [{ name: "../../x" }, /: name/],
    [{ revision: "main" }, /: revision/],
    [{ repository: "x" }, /: repository/],
    [{ repository: "../x" }, /: repository/],
    [{ pooling: "max" }, /: pooling/],
    [{ maxTokens: 7 }, /: maxTokens/],
    [{ dimensions: 0 }, /: dimensions/],
    [{ dimensions: 8193 }, /: dimensions/],
    [{ extra: 1 }, /does not describe a model/],
    [{ weights: "other.onnx" }, /does not describe a model/],
    [{ files: description.files.slice(1) }, /: files/],
    [{ files: [...description.files, { path: "../../.bashrc" }] }, /: files\.2\.path/],
    [{ files: [...description.files, { path: "a/.b" }] }, /: files\.2\.path/],
    [{ files: [...description.files, { path: "/etc/x" }] }, /: files\.2\.path/],
    [
      { files: [...description.files, { path: "a", bytes: 4 * 1024 ** 3 + 1 }] },
      /: files\.2\.bytes/,
    ],
    [{ name: "bge-m3" }, /is the name of a model that is known/],
  ] as const;
  for (const [change, says] of cases) assert.match(await wrong(change), says);
  assert.match(
    (await model(["get", "--from", "nowhere.json"], { HOME: home })).errors,
    /cannot be/,
  );
  await Deno.writeTextFile(`${home}/m.json`, "{");
  const broken = await model(["get", "--from", `${home}/m.json`], { HOME: home });
  assert.match(broken.errors, /is not JSON/);
  await Deno.remove(home, { recursive: true });
});

Deno.test("every model of the table is described as descriptions are, with all checksums", () => {
  const names = new Set<string>();
  for (const known of KNOWN_MODELS) {
    assert.deepEqual(parseDescription(JSON.stringify(known), known.name), known);
    assert.ok(
      known.files.every(({ bytes, sha256 }) => bytes !== undefined && sha256 !== undefined),
    );
    names.add(known.name);
  }
  assert.equal(names.size, KNOWN_MODELS.length);
});

Deno.test("what fetches is allowed the hub, its stores and the folder", () => {
  const flags = fetcherPermissions({
    modelDir: "/m",
    hub: { url: "https://huggingface.co", hosts: ["*.hf.co"] },
  });
  assert.equal(flags[0], "--allow-net=huggingface.co,*.hf.co");
  assert.equal(flags[2], "--allow-write=/m");
  assert.match(flags[1]!, /^--allow-read=\/m,[^,]*plugins,[^,]*src$/);
  assert.equal(flags.length, 3);
});

Deno.test("a hub that cannot be reached is named, and what to do", async () => {
  const home = await Deno.makeTempDir({ prefix: "svc_" });
  await Deno.writeTextFile(`${home}/m.json`, JSON.stringify(describedModel().description));
  const env = { HOME: home, SVC_MODEL_HUB: "http://127.0.0.1:9" };
  const { code, errors } = await model(["get", "--from", `${home}/m.json`], env);
  assert.equal(code, 1);
  assert.match(errors, /127\.0\.0\.1:9 cannot be reached.*\nRun it again/);
  await Deno.remove(home, { recursive: true });
});

Deno.test("a model that is there is listed, for machines too", async () => {
  const small = describedModel({ languages: ["de", "en"] });
  await using hub = await HubServer.start(small);
  const home = await Deno.makeTempDir({ prefix: "svc_" });
  await Deno.writeTextFile(`${home}/m.json`, JSON.stringify(small.description));
  const env = { HOME: home, SVC_MODEL_HUB: hub.url, SVC_MODEL_HUB_HOSTS: "127.0.0.1" };
  const got = await model(["get", "--from", `${home}/m.json`, "--json"], env);
  assert.equal(JSON.parse(got.output).folder, `${home}/.svc/models/small`);
  const { models, model_dir } = JSON.parse((await model(["list", "--json"], env)).output);
  assert.equal(model_dir, `${home}/.svc/models`);
  assert.deepEqual(models.at(-1).languages, ["de", "en"]);
  assert.deepEqual(
    models.filter(({ is_there }: { is_there: boolean }) => is_there).map(
      ({ name }: { name: string }) => name,
    ),
    ["small"],
  );
  // A folder that somebody else has begun is none, and a broken description hides nothing.
  await Deno.mkdir(`${home}/.svc/models/begun`);
  await Deno.mkdir(`${home}/.svc/models/odd`);
  await Deno.writeTextFile(`${home}/.svc/models/odd/svc-model.json`, "{}");
  const listed = await model(["list"], env);
  assert.match(listed.output, /✗ odd\/svc-model\.json does not describe a model/);
  assert.match(listed.output, /✓ small/);
  assert.equal((await model(["check"], env)).code, 1);
  await Deno.remove(home, { recursive: true });
});
