import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import plugin, { onnxEmbedder } from "../../../plugins/onnx/mod.ts";
import { OnnxEmbedder } from "../../../plugins/onnx/embedder.ts";
import { MANIFEST_FILE, readManifest } from "../../../plugins/onnx/models/folder.ts";
import type { Embedder } from "../../../src/interfaces/embedder.ts";
import type { Permissions } from "../../../src/interfaces/plugin.ts";
import { LOCKED } from "../../locked.ts";
import { verifies } from "../../requirements.ts";
import { turns } from "../../within.ts";
import { ModelFolder, SMALL } from "./model_folder.ts";

const query = { purpose: "query" } as const;
const document = { purpose: "document" } as const;
const KINDS = ["read", "write", "net", "env", "ffi", "sys"] as const;

const open = ({ modelDir }: ModelFolder, dimensions?: number): Promise<Embedder> =>
  onnxEmbedder({ model: SMALL, modelDir, dimensions });

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

/** A start that cannot succeed before somebody changes something. */
const lasting = (message: RegExp, code = "storage_unavailable") => (error: Error) => {
  assert.match(error.message, message);
  assert.deepEqual(Object(error).code, code);
  assert.equal(Object(error).retryable, false);
  return true;
};

Deno.test("a file that was altered is refused at the start, whichever it is", async () => {
  verifies("15-45");
  await using folder = await ModelFolder.make({}, { beside: "model.onnx_data" });
  for (const file of ["onnx/model.onnx", "onnx/model.onnx_data", "tokenizer.json"]) {
    const path = folder.path(file);
    const bytes = await Deno.readFile(path);
    const altered = bytes.slice();
    altered[altered.length >> 1]! ^= 1;
    await Deno.writeFile(path, altered);
    const differs = new RegExp(`small: ${file} is not what was fetched: its checksum differs`);
    await assert.rejects(open(folder), lasting(differs));
    await Deno.writeFile(path, bytes.slice(1));
    await assert.rejects(open(folder), lasting(differs));
    await Deno.remove(path);
    await assert.rejects(open(folder), lasting(new RegExp(`small: ${file} is missing`)));
    await Deno.writeFile(path, bytes);
  }
  await using _fine = await open(folder);
});

Deno.test("a folder that says nothing sensible of its model is refused", async () => {
  await using folder = await ModelFolder.make();
  const path = folder.path(MANIFEST_FILE);
  const text = await Deno.readTextFile(path);
  const manifest = JSON.parse(text);
  await Deno.writeTextFile(path, text.slice(1));
  await assert.rejects(open(folder), lasting(/svc-model\.json is not JSON/));
  await Deno.writeTextFile(path, JSON.stringify({ ...manifest, files: [] }));
  await assert.rejects(open(folder), lasting(/does not describe a model: files/));
  const [file] = manifest.files;
  const without = { ...manifest, files: [{ path: file.path }, manifest.files[1]] };
  await Deno.writeTextFile(path, JSON.stringify(without));
  await assert.rejects(open(folder), lasting(/lacks the checksum of onnx\/model\.onnx/));
  await Deno.writeTextFile(path, JSON.stringify({ ...manifest, name: "other" }));
  await assert.rejects(open(folder), lasting(/small holds other/));
  await Deno.remove(path);
  const none = { code: "invalid_parameter", message: /there is no small in .*: svc model list/ };
  await assert.rejects(open(folder), none);
});

Deno.test("files of a model of the table have its checksums, whatever lies beside them", async () => {
  await using folder = await ModelFolder.make({ name: "bge-m3" });
  const { modelDir } = folder;
  const other = lasting(/bge-m3: svc-model\.json names other files than those of the model/);
  await assert.rejects(onnxEmbedder({ model: "bge-m3", modelDir }), other);
  const missing = onnxEmbedder({ model: "multilingual-e5-small", modelDir });
  await assert.rejects(missing, { message: /run "svc model get multilingual-e5-small"$/ });
  await assert.rejects(onnxEmbedder({ model: "../x", modelDir }), { code: "invalid_parameter" });
});

Deno.test("a model of another shape than it is said to have is refused", async () => {
  const cases = [
    [{ dimensions: 16 }, {}, /in the shape 1 × \d+ × 32 instead of 1 × \d+ × 16/],
    [{ pooling: "none" }, {}, /in the shape 1 × \d+ × 32 instead of 1 × 32/],
    [{ output: "logits" }, {}, /The model has no output logits/],
    [{}, { odd: true }, /The model asks for pixel_values/],
    // Its weights refer to a file that was not fetched.
    [{ files: undefined }, { beside: "gone.bin" }, /is no model that can be run here/],
  ] as const;
  for (const [about, model, says] of cases) {
    await using folder = await ModelFolder.make();
    const { files: _, ...rest } = { files: undefined, ...about };
    await folder.add(rest, model);
    if ("files" in about) {
      const path = folder.path(MANIFEST_FILE);
      const manifest = JSON.parse(await Deno.readTextFile(path));
      const left = manifest.files.filter(({ path }: { path: string }) => !path.endsWith(".bin"));
      await Deno.writeTextFile(path, JSON.stringify({ ...manifest, files: left }));
    }
    await assert.rejects(open(folder), lasting(says));
  }
});

Deno.test("what is no model or no tokenizer is refused, though its checksum is right", async () => {
  for (
    const [file, says] of [["onnx/model.onnx", /no model that/], [
      "tokenizer.json",
      /no tok/,
    ]] as const
  ) {
    await using folder = await ModelFolder.make();
    const bytes = new TextEncoder().encode("{}");
    await Deno.writeFile(folder.path(file), bytes);
    const path = folder.path(MANIFEST_FILE);
    const manifest = JSON.parse(await Deno.readTextFile(path));
    const known = manifest.files.find((each: { path: string }) => each.path === file);
    known.bytes = bytes.length;
    known.sha256 = createHash("sha256").update(bytes).digest("hex");
    await Deno.writeTextFile(path, JSON.stringify(manifest));
    await assert.rejects(open(folder), lasting(says));
  }
});

Deno.test("a vector is cut to a length the model was trained for, and to no other one", async () => {
  await using folder = await ModelFolder.make({ shorter: [16, 8] });
  await using whole = await open(folder);
  await using half = await open(folder, 16);
  const [[long]] = await whole.embed(["tea"], query) as [[Float32Array]];
  const [[short]] = await half.embed(["tea"], query) as [[Float32Array]];
  assert.deepEqual([long.length, short.length, half.dimensions], [32, 16, 16]);
  const cut = long.slice(0, 16);
  const length = Math.hypot(...cut);
  assert.ok(cut.every((value, i) => Math.abs(value / length - short[i]!) < 1e-5));
  assert.match(half.model, /^onnx:small@[0-9a-f]{12}\/16$/);
  assert.equal(half.model, `${whole.model}/16`);
  const no = {
    code: "invalid_parameter",
    message: /32 numbers, or of 16, 8 by cutting.*not of 12$/,
  };
  await assert.rejects(open(folder, 12), no);
});

Deno.test("queries and documents have the prefixes of the model", async () => {
  await using plain = await ModelFolder.make({ query: "", document: "" });
  await using prefixed = await ModelFolder.make();
  await using bare = await open(plain);
  await using embedder = await open(prefixed);
  for (const [options, prefix] of [[query, "query "], [document, "passage "]] as const) {
    const [[expected]] = await bare.embed([`${prefix}tea`], options) as [[Float32Array]];
    const [[vector]] = await embedder.embed(["tea"], options) as [[Float32Array]];
    assert.ok(cosine(expected, vector) > 0.9999, prefix);
  }
});

Deno.test("what a vector was made with is in the model's name; the prefix of queries is not", async () => {
  const name = async (...made: Parameters<typeof ModelFolder.make>) => {
    await using folder = await ModelFolder.make(...made);
    await using embedder = await open(folder);
    return embedder.model;
  };
  const usual = await name();
  assert.equal(await name({ query: "other " }), usual);
  assert.equal(await name({ licence: "MIT" }), usual);
  const others = [
    await name({}, { seed: 2 }),
    await name({ document: "other " }),
    await name({ pooling: "cls" }),
    await name({ maxTokens: 32 }),
  ];
  assert.equal(new Set([usual, ...others]).size, 5);
});

Deno.test("the last token counts where a model was trained so", async () => {
  await using folder = await ModelFolder.make({ pooling: "last", query: "", document: "" });
  await using embedder = await open(folder);
  const texts = ["tea", "coffee and tea and bread"];
  // The shorter text of a batch ends before the longer one does.
  const together = await embedder.embed(texts, document);
  for (const [i, text] of texts.entries()) {
    const [[alone]] = await embedder.embed([text], document) as [[Float32Array]];
    assert.ok(cosine(together[i]![0]!, alone) > 0.9999);
  }
});

Deno.test("a query overtakes documents that wait", async () => {
  await using folder = await ModelFolder.make({ alone: true });
  await using embedder = await open(folder);
  const order: string[] = [];
  const long = Array.from({ length: 40 }, (_, i) => `${"river stone lamp ".repeat(20)}${i}`);
  const documents = embedder.embed(long, document).then(() => order.push("documents"));
  await embedder.embed(["tea"], query).then(() => order.push("query"));
  await documents;
  assert.deepEqual(order, ["query", "documents"]);
});

Deno.test("a thread that dies is started again, and looks at the files again", async () => {
  await using folder = await ModelFolder.make();
  const manifest = await readManifest(folder.modelDir, SMALL);
  const threads: Worker[] = [];
  await using embedder = new OnnxEmbedder(
    {
      folder: folder.path("").replace(/\/$/, ""),
      manifest: manifest!,
      dimensions: 32,
      window: 16,
      tokens: 32,
    },
    () => {
      const source = new URL("../../../plugins/onnx/worker.ts", import.meta.url);
      const thread = new Worker(source, { type: "module" });
      threads.push(thread);
      return thread;
    },
  );
  const die = () => {
    const thread = threads.at(-1)!;
    thread.dispatchEvent(new ErrorEvent("error", { message: "died", cancelable: true }));
  };
  await embedder.embed(["tea"], query);
  const lost = embedder.embed(["tea"], document);
  // The call has reached the thread by then.
  await turns();
  die();
  await assert.rejects(lost, { code: "embedding_unavailable", retryable: true });
  await embedder.embed(["tea"], query);
  assert.deepEqual([threads.length, embedder.health()], [2, { status: "ok" }]);
  const path = folder.path("tokenizer.json");
  const bytes = await Deno.readFile(path);
  await Deno.writeFile(path, bytes.slice(1));
  die();
  const reason = "small: tokenizer.json is not what was fetched: its checksum differs";
  await assert.rejects(embedder.embed(["tea"], query), {
    code: "embedding_unavailable",
    message: reason,
    retryable: true,
  });
  assert.deepEqual(embedder.health(), { status: "down", reason });
  await Deno.writeFile(path, bytes);
  die();
  await embedder.embed(["tea"], query);
  assert.deepEqual(embedder.health(), { status: "ok" });
});

Deno.test("a closed embedder refuses", async () => {
  await using folder = await ModelFolder.make();
  await using embedder = await open(folder);
  await embedder[Symbol.asyncDispose]();
  const closed = { code: "embedding_unavailable", message: "The embedder is closed" };
  await assert.rejects(embedder.embed(["x"], query), closed);
  await assert.rejects(embedder.embed(["x"], document), closed);
});

Deno.test("it needs its model, the engine and its own source, and nothing else", async () => {
  await using folder = await ModelFolder.make();
  const { modelDir } = folder;
  const settings = { embeddingModel: SMALL, embeddingDimensions: undefined, modelDir };
  const asked = await plugin.permissions!("embedder", settings, "");
  const { read = [] } = asked;
  assert.deepEqual(Object.keys(asked).filter((kind) => kind !== "sys"), ["read"]);
  assert.equal(await embedInChild(modelDir, asked), "32\n");
  for (const path of read) {
    const fewer = read.filter((other) => other !== path);
    assert.doesNotMatch(await embedInChild(modelDir, { read: fewer }), /^32/, path);
  }
});

/** The length of a vector that is made by a process which may do no more than that. */
async function embedInChild(modelDir: string, permissions: Permissions): Promise<string> {
  const root = new URL("../../../", import.meta.url);
  const script = `
    import { onnxEmbedder } from "${new URL("plugins/onnx/mod.ts", root)}";
    const options = ${JSON.stringify({ model: SMALL, modelDir })};
    const answer = onnxEmbedder(options).then(async (embedder) => {
      const [windows] = await embedder.embed(["What do I like?"], { purpose: "query" });
      await embedder[Symbol.asyncDispose]();
      return windows[0].length;
    });
    console.log(await answer.catch((error) => error.code ?? error.name));
  `;
  const allowed = KINDS.flatMap((kind) => {
    const entries = permissions[kind] ?? [];
    return entries.length > 0 ? [`--allow-${kind}=${entries.join(",")}`] : [];
  });
  const args = ["run", "--no-prompt", ...LOCKED, ...allowed, "-"];
  const child = new Deno.Command(Deno.execPath(), {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(script));
  await writer.close();
  const { stdout, stderr } = await child.output();
  const text = new TextDecoder();
  return text.decode(stdout) || text.decode(stderr);
}
