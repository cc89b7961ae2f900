import assert from "node:assert/strict";
import { Installation } from "../crash/installation.ts";
import { health } from "../crash/wire.ts";
import { verifies } from "../requirements.ts";

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
    const { code, errors } = await installation.run(["start"], {
      SVC_VECTOR_STORE: `${folder}/broken.ts`,
    });
    assert.equal(code, 78);
    assert.match(errors, /^SVC_VECTOR_STORE=.* cannot be loaded: SyntaxError: .+$/m);
    assert.doesNotMatch(errors, /secret of mine/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** A plugin with settings of its own, in a module that loads the one that does the work. */
const DECLARATION = `
import { definePlugin, integer, secret } from "@svc/relayer";

export default definePlugin({
  name: "mine",
  docs: "https://mine.example/docs",
  fields: {
    rows: integer("SVC_MINE_ROWS", 100, 1, 1000, "Rows that are kept"),
    token: secret("MINE_TOKEN", "Token of the store"),
  },
  permissions: (_role, { rows }) => ({ net: [\`mine.example:\${rows}\`] }),
  roles: {
    vectorStore: async ({ rows, token }) => (await import("./store.ts")).open(rows, token),
  },
});
`;
const STORE = `
import { memoryVectorStore } from "@svc/relayer/plugins/memory";

export function open(rows, token) {
  if (rows !== 7 || token.reveal() !== "open sesame") throw new Error("Not as configured");
  return memoryVectorStore();
}
`;

Deno.test("a plugin in a folder of its own owns its settings", async () => {
  verifies("15-1", "15-3", "15-15", "15-30");
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/mod.ts`, DECLARATION);
    await Deno.writeTextFile(`${folder}/store.ts`, STORE);
    await using installation = await Installation.create({
      SVC_EMBEDDER: "memory",
      SVC_VECTOR_STORE: `${folder}/mod.ts`,
      SVC_MINE_ROWS: "7",
      MINE_TOKEN: "open sesame",
    });
    const config = await installation.run(["--print-config"]);
    assert.deepEqual([config.code, config.errors], [0, ""]);
    assert.match(config.output, /^SVC_MINE_ROWS=7\nMINE_TOKEN=\[secret\]$/m);
    const reference = await installation.run(["--print-settings"]);
    assert.match(reference.output, /^## Plugin mine\n\n.+https:\/\/mine\.example\/docs/m);
    assert.match(reference.output, /^\| `SVC_MINE_ROWS` \| 100 +\| Rows that are kept +\|$/m);
    const permissions = await installation.run(["--print-permissions"]);
    assert.match(permissions.output, /--allow-net=\S*\bmine\.example:7\b/);

    const wrong = { SVC_MINE_ROWS: "0", SVC_MINE_RWOS: "1", SVC_JOB_CONCURRENCY: "0" };
    const refused = await installation.run(["start"], wrong);
    assert.equal(refused.code, 78);
    assert.match(refused.errors, /^SVC_JOB_CONCURRENCY must .+\nSVC_MINE_ROWS must .+, got "0"$/m);
    const { errors } = await installation.run(["--print-config"], wrong);
    assert.match(errors, /^SVC_MINE_RWOS is unknown; did you mean SVC_MINE_ROWS\?$/m);

    await using program = await installation.launch();
    assert.equal((await health(program.url)).status, "ok");
    assert.equal(await program.stop(), 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
