import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import {
  isWithoutRemoteModules,
  permissionFlags,
  relayerPermissions,
  sidecarPermissions,
} from "../../src/program/launcher/permissions.ts";
import { definePlugin, type Plugin } from "../../src/interfaces/plugin.ts";
import { type Casting, loadPlugins, pluginPermissions } from "../../src/program/plugins.ts";
import { readSettings } from "../../src/program/settings/mod.ts";
import { SvcError } from "../../src/errors.ts";
import { verifies } from "../requirements.ts";

const folder = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const settingsOf = (env: Record<string, string>) =>
  readSettings({ HOME: "/home/ada", ...env }).settings;

Deno.test("the default relayer listens, reaches the sidecar, and keeps to its folder", async () => {
  verifies("1-4");
  const settings = settingsOf({});
  const { castings, problems } = await loadPlugins(settings);
  assert.deepEqual(problems, []);
  const asked = await pluginPermissions(castings, {}, settings.dataDir);
  const list = relayerPermissions(settings, castings, asked);
  assert.deepEqual(list.net, ["127.0.0.1:5173", "127.0.0.1:8000", "127.0.0.1:9000", "[::1]:5173"]);
  assert.deepEqual(list.write, ["/home/ada/.svc/relayer"]);
  // Of the system: that the embedder's thread lets others go first, where threads can.
  const sys = Deno.build.os === "linux" ? ["getPriority", "setPriority"] : [];
  assert.deepEqual([list.env, list.ffi, list.sys, list.run], [[], [], sys, false]);
  const weights = list.read.filter((path) => path.includes("model-embeddings-en"));
  assert.equal(weights.length, 1);
  const others = list.read.filter((path) => !weights.includes(path)).sort();
  assert.deepEqual(
    others,
    [
      ...Deno.build.os === "windows" ? [] : ["/dev/zero"],
      "/home/ada/.svc/relayer",
      folder("plugins"),
      folder("src"),
      folder("web/dist"),
    ].sort(),
  );
  const flags = permissionFlags(list);
  assert.deepEqual(flags.map((flag) => flag.split("=")[0]), [
    "--allow-net",
    "--allow-read",
    "--allow-write",
    ...(sys.length > 0 ? ["--allow-sys"] : []),
  ]);
});

Deno.test("the relayer listens internally too where the sidecar calls it", () => {
  const settings = settingsOf({ SVC_WEB_PORT: "0" });
  const list = relayerPermissions(settings, [], [], "http://127.0.0.1:40001");
  assert.deepEqual(list.net, ["127.0.0.1:40001", "127.0.0.1:8000", "127.0.0.1:9000"]);
  assert.ok(!list.read.includes(folder("web/dist")), "without a dashboard its files are not read");
});

Deno.test("the sidecar may talk to this machine only", () => {
  assert.deepEqual(permissionFlags(sidecarPermissions(settingsOf({}))), ["--allow-net=127.0.0.1"]);
  // The internal listener is an IPv4 one, wherever the sidecar listens.
  const v6 = sidecarPermissions(settingsOf({ SIDECAR_URL: "http://[::1]:9000" }));
  assert.deepEqual(v6.net, ["127.0.0.1", "[::1]"]);
});

Deno.test("a failpoint needs the permission to signal, in tests only", () => {
  const env = { SVC_TEST: "1", SVC_FAILPOINT: "after.upsert" };
  assert.equal(relayerPermissions(settingsOf(env), [], []).run, true);
  assert.equal(relayerPermissions(settingsOf({ SVC_TEST: "1" }), [], []).run, false);
});

Deno.test("an IPv6 address is written as Deno reads it", () => {
  const list = relayerPermissions(settingsOf({ SVC_HOST: "::1" }), [], []);
  assert.ok(list.net.includes("[::1]:8000"));
});

Deno.test("a path with a comma is refused: Deno would read it as two", () => {
  const list = relayerPermissions(settingsOf({ SVC_DATA_DIR: "/a,b" }), [], []);
  const text = '"/a,b" has a comma: no permission can be given for such a path';
  assert.throws(() => permissionFlags(list), { code: "invalid_parameter", message: text });
});

Deno.test("what a plugin asks for is added; its folder is readable", async () => {
  const plugin: Plugin = definePlugin({
    name: "mine",
    fields: {},
    permissions: () => ({ net: ["db.example:443"], ffi: ["/lib/db.node"], env: ["DB"] }),
    roles: {},
  });
  const castings: Casting[] = [{ role: "vectorStore", name: "file:///opt/mine/mod.ts", plugin }];
  const asked = await pluginPermissions(castings, {}, "");
  const list = relayerPermissions(settingsOf({}), castings, asked);
  assert.ok(list.net.includes("db.example:443"));
  assert.ok(list.read.includes("/opt/mine"));
  assert.deepEqual([list.ffi, list.env], [["/lib/db.node"], ["DB"]]);
});

Deno.test("remote modules are refused unless a plugin is one", () => {
  const plugin = definePlugin({ name: "x", fields: {}, roles: {} });
  const of = (name: string): Casting[] => [{ role: "cipher", name, plugin }];
  assert.ok(isWithoutRemoteModules([...of("local"), ...of("npm:x@1"), ...of("file:///x.ts")]));
  assert.ok(!isWithoutRemoteModules(of("https://x.example/mod.ts")));
  assert.ok(!isWithoutRemoteModules(of("jsr:@x/y@1")));
});

Deno.test("a plugin that cannot be had is reported with its setting", async () => {
  const settings = settingsOf({
    SVC_CIPHER: "file:///nowhere/cipher.ts",
    SVC_BLOB_STORE: new URL("../log_test.ts", import.meta.url).href.replace(
      "log_test",
      "testdata/x",
    ),
  });
  const { problems } = await loadPlugins(settings);
  assert.equal(problems.length, 2);
  assert.ok(
    problems.some((line) =>
      /^SVC_CIPHER=file:.* cannot be loaded: Module not found "[^"]+"\.$/.test(line)
    ),
  );
  assert.ok(!problems.some((line) => line.includes(SvcError.name)));
});
