import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { DatabaseSync } from "node:sqlite";
import { JobsFileScrub, openJobsFile } from "../../src/jobs/jobs_file.ts";

/** How many of the values stand in the files of a folder. */
async function countIn(folder: string, values: readonly Uint8Array[]): Promise<number> {
  const files = await Promise.all(
    (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) =>
      Deno.readFile(`${folder}/${name}`)
    ),
  );
  return values.filter((value) => {
    // Large values lie in several pages.
    const part = Buffer.from(value.subarray(16, 48));
    return files.some((file) => Buffer.from(file).includes(part));
  }).length;
}

function random(size: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(size));
}

Deno.test("what was deleted from jobs.kv is not in the file once it is scrubbed", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const gone = Array.from({ length: 40 }, (_, n) => random(n % 10 === 0 ? 60_000 : 100 + n));
    const kept = Array.from({ length: 40 }, (_, n) => random(n % 10 === 0 ? 60_000 : 100 + n));
    for (let round = 0; round < 2; round++) {
      const kv = await openJobsFile(folder);
      for (const [n, value] of gone.entries()) {
        await kv.set(["job", n, "gone"], value);
        await kv.set(["job", n, "kept"], kept[n]);
      }
      for (const n of gone.keys()) await kv.delete(["job", n, "gone"]);
      await using scrub = new JobsFileScrub(folder);
      // Beside its owner, and once that has closed it.
      if (round === 0) await scrub.run();
      kv.close();
      if (round === 1) {
        assert.ok(await countIn(folder, gone) > 0, "this database overwrites what it deletes");
        scrub.end();
      }
      assert.equal(await countIn(folder, gone), 0);
      assert.equal(await countIn(folder, kept), kept.length);
    }
    using database = new DatabaseSync(`${folder}/jobs.kv`);
    const { integrity_check } = database.prepare("pragma integrity_check").get()!;
    assert.equal(integrity_check, "ok");
    using kv = await openJobsFile(folder);
    const found = await Array.fromAsync(kv.list<Uint8Array>({ prefix: ["job"] }));
    assert.deepEqual(found.map(({ value }) => value), kept);
    assert.deepEqual(found.map(({ key }) => key[1]), [...kept.keys()]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a jobs.kv that is damaged or missing is left as it is", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using scrub = new JobsFileScrub(folder);
    const failed = { code: "storage_unavailable" };
    scrub.end();
    await assert.rejects(() => scrub.run(), failed);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(folder)), []);
    const bytes = random(50_000);
    await Deno.writeFile(`${folder}/jobs.kv`, bytes);
    scrub.end();
    await assert.rejects(() => scrub.run(), failed);
    assert.deepEqual(await Deno.readFile(`${folder}/jobs.kv`), bytes);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
