import assert from "node:assert/strict";
import { Installation } from "../crash/installation.ts";
import { health } from "../crash/wire.ts";
import { within } from "../within.ts";

Deno.test("a data directory has one relayer at a time, and one relayer key", async () => {
  await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
  {
    await using relayer = await installation.start();
    for (const command of ["serve", "start"]) {
      const { code, errors } = await installation.run([command], { SIDECAR_AUTOSTART: "false" });
      assert.equal(code, 78);
      assert.match(errors, /Another relayer uses .*\/relayer/);
    }
    assert.equal((await health(relayer.url)).status, "ok");
    assert.equal(await relayer.stop(), 0);
  }
  const other = `${installation.home}/other.key`;
  await Deno.writeTextFile(other, "5a".repeat(32), { mode: 0o600 });
  for (const command of ["serve", "start"]) {
    const { code, errors } = await installation.run([command], {
      SIDECAR_AUTOSTART: "false",
      SVC_RELAYER_KEY_FILE: other,
    });
    assert.equal(code, 78);
    assert.match(errors, /belongs to another relayer key/);
    assert.ok(!errors.includes("5a5a"));
  }
  await using again = await installation.start();
  assert.equal((await health(again.url)).status, "ok");
});

Deno.test("a damaged file is named with a way out, and the start is not tried again", async () => {
  for (
    const [file, message] of [
      ["core.db", /core\.db is damaged: put back a copy of core\.db/],
      ["jobs.kv", /jobs\.kv is damaged: put back a copy, or move jobs\.kv\* away/],
    ] as const
  ) {
    await using installation = await Installation.create({ SVC_EMBEDDER: "memory" });
    {
      await using relayer = await installation.start();
      assert.equal(await relayer.stop(), 0);
    }
    await Deno.writeFile(`${installation.dataDir}/${file}`, new Uint8Array(70_000).fill(77));
    const start = installation.run(["start"]);
    const { code, errors } = await within(start, () => `it is started again and again: ${file}`);
    assert.match(errors, message);
    assert.equal(code, 78);
  }
});
