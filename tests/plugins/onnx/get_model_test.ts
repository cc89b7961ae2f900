import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { ModelDescription } from "../../../plugins/onnx/models/description.ts";
import { getModel, type GetOptions, type Progress } from "../../../plugins/onnx/models/get.ts";
import { MANIFEST_FILE, readManifest } from "../../../plugins/onnx/models/folder.ts";
import { type DescribedModel, describedModel, sha256, SMALL } from "./model_folder.ts";
import { verifies } from "../../requirements.ts";
import { HubServer } from "./hub_server.ts";

const WEIGHTS = "onnx/model.onnx";

/** A hub with a small model, an empty folder, and how to fetch from the one into the other. */
async function withHub(
  work: (world: {
    readonly hub: HubServer;
    readonly modelDir: string;
    readonly model: DescribedModel;
    readonly get: (
      about?: Partial<ModelDescription>,
      options?: Partial<GetOptions>,
    ) => ReturnType<typeof getModel>;
  }) => Promise<void>,
): Promise<void> {
  const model = describedModel();
  const modelDir = await Deno.makeTempDir({ prefix: "svc_models_" });
  try {
    await using hub = await HubServer.start(model);
    const { url, store } = hub;
    const get = (about = {}, options = {}) =>
      getModel({ ...model.description, ...about }, {
        modelDir,
        hub: { url, hosts: [store], stallMs: 300, pauseMs: 1 },
        ...options,
      });
    await work({ hub, modelDir, model, get });
  } finally {
    await Deno.remove(modelDir, { recursive: true });
  }
}

/** The files with their checksums, as a table has them. */
async function pinned({ description, files }: DescribedModel) {
  return await Promise.all(description.files.map(async ({ path }) => {
    const bytes = files.get(path)!;
    return { path, bytes: bytes.length, sha256: await sha256(bytes) };
  }));
}

/** How many bytes of a file lie there before it is whole. */
const partSize = async (modelDir: string, path: string = WEIGHTS) =>
  (await Deno.stat(`${modelDir}/${SMALL}/${path}.part`)).size;

Deno.test("a model is fetched from the store that the hub names, and described beside it", async () => {
  await withHub(async ({ hub, modelDir, model, get }) => {
    const seen: Progress[] = [];
    const manifest = await get({}, { onProgress: (progress: Progress) => seen.push(progress) });
    assert.deepEqual(manifest.files, await pinned(model));
    assert.deepEqual(await readManifest(modelDir, SMALL), manifest);
    for (const [path, bytes] of model.files) {
      assert.deepEqual(await Deno.readFile(`${modelDir}/${SMALL}/${path}`), bytes);
    }
    const total = [...model.files.values()].reduce((sum, { length }) => sum + length, 0);
    assert.deepEqual(seen.at(-1), { done: total, total });
    assert.ok(seen.every(({ done }, i) => done >= (seen[i - 1]?.done ?? 0)), "it only grows");
    const revision = model.description.revision;
    assert.deepEqual(hub.asked.filter((line) => line.startsWith("hub")), [
      `hub /svc/small/resolve/${revision}/${WEIGHTS}`,
      `hub /svc/small/resolve/${revision}/tokenizer.json`,
    ]);
  });
});

Deno.test("what is there already is not fetched again, and what was altered is", async () => {
  await withHub(async ({ hub, modelDir, model, get }) => {
    const files = await pinned(model);
    await get({ files });
    hub.asked.length = 0;
    await get({ files });
    assert.deepEqual(hub.asked, []);
    await Deno.writeTextFile(`${modelDir}/${SMALL}/tokenizer.json`, "{}");
    await get({ files });
    assert.equal(hub.asked.length, 2);
    assert.equal(
      (await Deno.readFile(`${modelDir}/${SMALL}/tokenizer.json`)).length,
      files[1]!.bytes,
    );
  });
});

Deno.test("a download that is cut off goes on where it was", async () => {
  await withHub(async ({ hub, model, get }) => {
    hub.faults.cut = { after: 1000, times: 3 };
    await get({ files: await pinned(model) });
    const ranges = hub.asked.filter((line) => line.startsWith("store") && line.includes(WEIGHTS))
      .map((line) => line.split(" ")[2]);
    assert.deepEqual(ranges, [undefined, "bytes=1000-", "bytes=2000-", "bytes=3000-"]);
  });
});

Deno.test("so it does when another process begins, and when the size is not known before", async () => {
  await withHub(async ({ hub, modelDir, get }) => {
    hub.faults.cut = { after: 1000, times: 1 };
    const aborted = new AbortController();
    const onProgress = () => aborted.abort();
    await assert.rejects(get({}, { onProgress, signal: aborted.signal }));
    assert.equal(await partSize(modelDir), 1000);
    await get();
    assert.ok(hub.asked.some((line) => line.endsWith("bytes=1000-")));
  });
});

Deno.test("a hub that sends every file from its start is followed", async () => {
  await withHub(async ({ hub, get }) => {
    hub.faults.cut = { after: 1000, times: 2 };
    hub.faults.whole = true;
    await get();
  });
});

Deno.test("a hub that falls silent is left, and asked again", async () => {
  await withHub(async ({ hub, modelDir, get }) => {
    hub.faults.stall = { after: 1000, times: 1 };
    await get();
    await Deno.remove(`${modelDir}/${SMALL}`, { recursive: true });
    hub.faults.stall = { after: 0, times: Infinity };
    const silent = { code: "embedding_unavailable", message: /sent nothing for 0\.3 s/ };
    await assert.rejects(get(), silent);
  });
});

Deno.test("a hub that is overloaded is asked again, and one that says no is not", async () => {
  await withHub(async ({ hub, get }) => {
    hub.faults.status = { code: 503, times: 3 };
    await get();
    hub.faults.status = { code: 503, times: Infinity };
    await assert.rejects(get(), { code: "embedding_unavailable", message: /status 503/ });
    const asked = hub.asked.length;
    for (
      const [code, says] of [[404, /has no onnx/], [403, /sign-in/], [400, /status 400/]] as const
    ) {
      hub.faults.status = { code, times: 1 };
      await assert.rejects(get(), { code: "invalid_parameter", message: says });
    }
    assert.equal(hub.asked.length, asked + 3);
  });
});

Deno.test("a file that is not the one of the table is refused before and after it came", async () => {
  verifies("15-46");
  await withHub(async ({ hub, modelDir, model, get }) => {
    const [weights, tokenizer] = await pinned(model);
    const broken = { code: "storage_unavailable", retryable: false };
    // The hub itself says that it has another one: no byte is taken.
    const other = [{ ...weights!, sha256: "00".repeat(32) }, tokenizer!];
    await assert.rejects(get({ files: other }), { ...broken, message: /another file on the hub/ });
    await assert.rejects(get({ files: [{ ...weights!, bytes: 7 }, tokenizer!] }), broken);
    assert.ok(hub.asked.every((line) => line.startsWith("hub")));
    // The hub says nothing, or what is expected, and the store sends something else.
    hub.faults.alter = true;
    for (const headers of [{}, { "x-linked-etag": null, etag: null }]) {
      hub.faults.headers = headers;
      const files = [weights!, tokenizer!];
      await assert.rejects(get({ files }), { ...broken, message: /checksum differs/ });
      await assert.rejects(partSize(modelDir), Deno.errors.NotFound);
    }
    hub.faults.alter = false;
    hub.faults.longer = true;
    await assert.rejects(get({ files: [weights!, tokenizer!] }), {
      ...broken,
      message: /longer than it should be/,
    });
    assert.equal(await readManifest(modelDir, SMALL), undefined);
  });
});

Deno.test("another revision than the one that was asked for is refused", async () => {
  await withHub(async ({ hub, get }) => {
    hub.faults.headers = { "x-repo-commit": "cd".repeat(20) };
    await assert.rejects(get(), { code: "storage_unavailable", message: /another revision/ });
  });
});

Deno.test("a file in the repository itself is compared with its name in git", async () => {
  await withHub(async ({ hub, model, get }) => {
    const only = (path: string) => {
      const bytes = model.files.get(path)!;
      const sha1 = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
      return { "x-linked-etag": null, "x-linked-size": null, etag: `W/"${sha1}"` };
    };
    hub.faults.headers = only(WEIGHTS);
    // The second file has another name.
    await assert.rejects(get(), { message: /tokenizer\.json came broken/ });
    hub.faults.headers = { "x-linked-etag": null, etag: null };
    await assert.rejects(get(), { message: /does not say the checksum of/ });
  });
});

Deno.test("a download goes to the hosts of the hub only", async () => {
  verifies("15-46");
  await withHub(async ({ hub, get }) => {
    const { url, store } = hub;
    const at = (hosts: readonly string[]) => get({}, { hub: { url, hosts } });
    const refused = {
      code: "invalid_parameter",
      message: `${new URL(url).host} sends ${WEIGHTS} to ${store}, which is not among its hosts: ` +
        "SVC_MODEL_HUB_HOSTS names them",
    };
    await assert.rejects(at([]), refused);
    await assert.rejects(at(["127.0.0.1.example", "*.0.0.1.example"]), refused);
    assert.ok(hub.asked.every((line) => line.startsWith("hub")), "the store was not asked");
    await at(["127.0.0.1"]);
    hub.faults.location = "ftp://127.0.0.1/x";
    await assert.rejects(at(["127.0.0.1"]), { message: /not among its hosts/ });
    hub.faults.location = "/circle/resolve/x/y";
    await assert.rejects(at(["127.0.0.1"]), { message: /has no onnx/ });
  });
});

Deno.test("two processes do not fetch one model", async () => {
  await withHub(async ({ modelDir, get }) => {
    await Deno.mkdir(`${modelDir}/${SMALL}`);
    using file = await Deno.open(`${modelDir}/${SMALL}/.lock`, { create: true, write: true });
    await file.lock(true);
    await assert.rejects(get(), { code: "invalid_parameter", message: /by another process/ });
  });
});

Deno.test("a model that is there stays as it is until another one is whole", async () => {
  await withHub(async ({ hub, modelDir, get }) => {
    const before = await get();
    hub.faults.alter = true;
    await assert.rejects(get({ query: "other " }), { message: /checksum differs/ });
    assert.deepEqual(await readManifest(modelDir, SMALL), before);
    const text = await Deno.readTextFile(`${modelDir}/${SMALL}/${MANIFEST_FILE}`);
    assert.ok(text.endsWith("}\n"));
  });
});
