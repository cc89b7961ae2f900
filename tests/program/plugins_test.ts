import assert from "node:assert/strict";
import { SvcError } from "../../src/errors.ts";
import type { Backends, Role } from "../../src/interfaces/mod.ts";
import { definePlugin, integer, type Plugin } from "../../src/interfaces/plugin.ts";
import {
  type Casting,
  configuredSources,
  loadPlugin,
  pluginPermissions,
  pluginVariables,
} from "../../src/program/plugins.ts";
import { readSettings } from "../../src/program/settings/mod.ts";
import memory from "../../plugins/memory/mod.ts";
import { openBackends } from "../../src/embed/open_backends.ts";
import { SURROUNDINGS } from "../embed/surroundings.ts";

const { settings } = readSettings({ HOME: "/home/ada" });

/** Opens what is configured as a relayer does. */
async function open(castings: Casting[], from = settings): Promise<AsyncDisposableStack> {
  await using stack = new AsyncDisposableStack();
  const sources = await configuredSources(from, {}, castings);
  await openBackends(sources, SURROUNDINGS, stack);
  return stack.move();
}

const REQUIRED: readonly Role[] = ["accounts", "blobStore", "cipher", "embedder", "vectorStore"];

/** The memory plugin with roles replaced; `log` notes what is opened and disposed of. */
function cast(log: string[], change: Partial<Plugin["roles"]> = {}): Casting[] {
  const plugin: Plugin = { ...memory, roles: { ...memory.roles, ...change } };
  return REQUIRED.map((role) => ({ role, name: "memory", plugin: watched(plugin, role, log) }));
}

function watched(plugin: Plugin, role: Role, log: string[]): Plugin {
  const factory = plugin.roles[role];
  return definePlugin({
    ...plugin,
    roles: {
      [role]: async (values: never, given: never) => {
        const backend: Backends[Role] = await factory?.(values, given);
        assert.ok(backend !== undefined);
        log.push(`open ${role} ${Object.keys(given)}`);
        const dispose = backend[Symbol.asyncDispose].bind(backend);
        backend[Symbol.asyncDispose] = () => {
          log.push(`close ${role}`);
          return dispose();
        };
        return backend;
      },
    },
  });
}

Deno.test("a plugin is chosen by its name for the roles it plays", async () => {
  assert.equal(await loadPlugin("cipher", "memory"), memory);
  await assert.rejects(loadPlugin("sponsor", "memory"), /SVC_SPONSOR=memory does not play sponsor/);
});

Deno.test("the embedder is opened first, and each role is told what exists for it", async () => {
  const log: string[] = [];
  await using _opened = await open(cast(log));
  assert.deepEqual(log, [
    "open embedder dataDir,log",
    "open accounts dataDir,log",
    "open cipher sealer,keys,log",
    "open blobStore dataDir,log",
    "open vectorStore dataDir,log,dimensions,model,sealer",
  ]);
});

Deno.test("when one fails, those before it are disposed of in reverse", async () => {
  const log: string[] = [];
  const failing = cast(log, { vectorStore: () => Promise.reject(new Error("disk")) });
  await assert.rejects(open(failing), (error) => {
    assert.ok(error instanceof SvcError);
    assert.equal(error.message, "SVC_VECTOR_STORE=memory failed to open");
    return true;
  });
  assert.deepEqual(log.filter((line) => line.startsWith("close")), [
    "close blobStore",
    "close cipher",
    "close accounts",
    "close embedder",
  ]);
});

Deno.test("a denied permission is reported as the setting that needs it", async () => {
  const denied = () => {
    throw new Deno.errors.NotCapable(
      'Requires net access to "db.example:443", run again with the --allow-net flag',
    );
  };
  await assert.rejects(open(cast([], { cipher: denied })), {
    code: "invalid_parameter",
    message: 'SVC_CIPHER=memory lacks a permission. Requires net access to "db.example:443"',
  });
});

Deno.test("vectors of another length than configured are refused", async () => {
  const { settings } = readSettings({ HOME: "/h", SVC_EMBEDDING_DIMENSIONS: "7" });
  await assert.rejects(
    open(cast([]), settings),
    /SVC_EMBEDDING_DIMENSIONS is 7, but/,
  );
});

Deno.test("what a plugin lacks to open or to name its permissions is reported with its setting", async () => {
  const missing = () => import(new URL("./nowhere.ts", import.meta.url).href);
  const plugin = definePlugin({ ...memory, permissions: missing });
  const castings: Casting[] = [{ role: "cipher", name: "mine", plugin }];
  const message = /^SVC_CIPHER=mine cannot be loaded: Module not found "[^"]+nowhere.ts"\.$/;
  await assert.rejects(pluginPermissions(castings, {}, ""), { code: "invalid_parameter", message });
  await assert.rejects(open(cast([], { cipher: missing })), /SVC_CIPHER=memory cannot be loaded: /);
});

Deno.test("why the package of a plugin was not fetched is said", async () => {
  const text = "Failed caching npm package 'pg@8.0.0'\\n" +
    "    0: error sending request for url (https://key@npm.example/pg.tgz): client error (Connect)\\n" +
    "    1: client error (Connect)\\n    2: invalid peer certificate: UnknownIssuer\\n" +
    "    at file:///plugins/postgres/database.ts:5:29";
  const module = `data:text/javascript,throw new TypeError(${encodeURIComponent(`"${text}"`)})`;
  await assert.rejects(loadPlugin("cipher", module), {
    code: "invalid_parameter",
    message: `SVC_CIPHER=${module} cannot be loaded: Failed caching npm package 'pg@8.0.0': ` +
      "invalid peer certificate: UnknownIssuer",
  });
});

Deno.test("a variable that plugins share is named once", () => {
  const plugin: Plugin = definePlugin({
    name: "mine",
    fields: { size: integer("MY_SIZE", 1, 1, 9, "Size") },
    roles: {},
  });
  const castings: Casting[] = [
    { role: "cipher", name: "mine", plugin },
    { role: "blobStore", name: "mine", plugin },
  ];
  assert.deepEqual(pluginVariables(castings), ["MY_SIZE"]);
});
