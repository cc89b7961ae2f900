import assert from "node:assert/strict";
import { Installation } from "../crash/installation.ts";
import { health } from "../crash/wire.ts";

/** A plugin as docs/plugins.md shows it. */
const MODULE = `
import { definePlugin, SvcError } from "@svc/relayer";
import { memoryVectorStore } from "@svc/relayer/plugins/memory";

export default definePlugin({
  name: "mine",
  fields: {},
  roles: {
    vectorStore(_settings, { dimensions }) {
      if (dimensions === 0) throw new SvcError("invalid_parameter");
      return memoryVectorStore();
    },
  },
});
`;

Deno.test("a plugin in a folder of its own runs inside the relayer's permissions", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/mod.ts`, MODULE);
    await Deno.writeTextFile(`${folder}/broken.ts`, "export default secret of mine;\n");
    await using installation = await Installation.create({
      SVC_EMBEDDER: "memory",
      SVC_VECTOR_STORE: `${folder}/mod.ts`,
    });
    await using relayer = await installation.start();
    assert.equal((await health(relayer.url)).status, "ok");
    assert.equal(await relayer.stop(), 0);
    const { code, errors } = await installation.run([], {
      SVC_VECTOR_STORE: `${folder}/broken.ts`,
    });
    assert.equal(code, 78);
    assert.match(errors, /^SVC_VECTOR_STORE=.* cannot be loaded: SyntaxError: .+$/m);
    assert.doesNotMatch(errors, /secret of mine/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
