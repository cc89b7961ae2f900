import assert from "node:assert/strict";
import { stablePath } from "../src/stable_path.ts";

Deno.test("an executable is named by a path that outlives an upgrade", async () => {
  const home = await Deno.makeTempDir();
  try {
    const versioned = `${home}/Cellar/deno/2.9.6/bin`;
    await Deno.mkdir(versioned, { recursive: true });
    await Deno.mkdir(`${home}/bin`);
    await Deno.writeTextFile(`${versioned}/deno`, "#!/bin/sh\n", { mode: 0o755 });
    const path = `${home}/none:${home}/bin`;
    const at = await Deno.realPath(`${versioned}/deno`);
    assert.deepEqual(stablePath(at, path), { path: at, mayVanish: true });
    await Deno.symlink(at, `${home}/bin/deno`);
    assert.deepEqual(stablePath(at, path), { path: `${home}/bin/deno`, mayVanish: false });
    assert.deepEqual(stablePath(at, undefined), { path: at, mayVanish: true });
    await Deno.writeTextFile(`${home}/deno`, "#!/bin/sh\n", { mode: 0o755 });
    const plain = `${home}/deno`;
    assert.deepEqual(stablePath(plain, path), { path: plain, mayVanish: false });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
