import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import {
  parseSidecarBoot,
  relayerEnvironment,
  sidecarBoot,
} from "../../src/program/launcher/boot.ts";
import { sidecarPermissions } from "../../src/program/launcher/permissions.ts";
import { partPlugins } from "../../src/program/launcher/prepare.ts";
import {
  definePlugin,
  type Fields,
  integer,
  type Plugin,
  secret,
  text,
} from "../../src/interfaces/plugin.ts";
import { type Casting, pluginPermissions, pluginVariables } from "../../src/program/plugins.ts";
import { readSettings } from "../../src/program/settings/mod.ts";

const payer: Plugin = definePlugin<Fields>({
  name: "payer",
  fields: {
    key: secret("MY_SPONSOR_KEY", "Key"),
    node: text("MY_NODE", "", "Node"),
    cap: integer("SVC_SPONSOR_MAX_GAS_MIST", 1, 1, 1e9, "Cap"),
  },
  permissions: (_role, { node }) => ({
    net: [String(node)],
    read: ["/opt/payer"],
    write: ["/opt/payer"],
  }),
  roles: {},
});
const other: Plugin = definePlugin<Fields>({
  name: "other",
  fields: { node: text("MY_NODE", "", "Node") },
  permissions: () => ({ net: ["other.example:443"] }),
  roles: {},
});
const CASTINGS: Casting[] = [
  { role: "sponsor", name: "file:///opt/payer/mod.ts", plugin: payer },
  { role: "accounts", name: "file:///opt/other/mod.ts", plugin: other },
];
const ENV = {
  HOME: "/home/ada",
  SVC_SPONSOR: "file:///opt/payer/mod.ts",
  SVC_SPONSOR_MAX_GAS_MIST: "5",
  MY_SPONSOR_KEY: "s3cret",
  MY_NODE: "node.example:443",
  SVC_SPONSOR_PRIVATE_KEY: "s3cret too",
  SVC_ENOKI_API_KEY: "s3cret as well",
};

Deno.test("the sponsor's key goes to the sidecar and nowhere else", () => {
  const { settings } = readSettings(ENV);
  const parted = partPlugins(CASTINGS, ENV);
  assert.deepEqual(parted.relayer.map(({ role }) => role), ["accounts"]);
  const relayer = relayerEnvironment(ENV, settings, pluginVariables(parted.relayer));
  assert.ok(!JSON.stringify(relayer).includes("s3cret"));
  // What others read as well they have.
  assert.equal(relayer["MY_NODE"], "node.example:443");
  assert.equal(relayer["SVC_SPONSOR_MAX_GAS_MIST"], "5");
  assert.equal(relayer["SVC_SPONSOR"], ENV.SVC_SPONSOR);

  const boot = sidecarBoot(settings, "t".repeat(16), "http://127.0.0.1:81", parted.sponsor);
  assert.deepEqual(parseSidecarBoot(JSON.stringify(boot)), boot);
  assert.deepEqual(boot.sponsor, {
    name: ENV.SVC_SPONSOR,
    env: { MY_SPONSOR_KEY: "s3cret", MY_NODE: "node.example:443", SVC_SPONSOR_MAX_GAS_MIST: "5" },
  });
});

Deno.test("without a sponsor nobody gets a sponsor's key", () => {
  const env = { ...ENV, SVC_SPONSOR: "off" };
  const parted = partPlugins(CASTINGS.slice(1), env);
  assert.equal(parted.sponsor, undefined);
  const kept = relayerEnvironment(env, readSettings(env).settings, []);
  assert.ok(!JSON.stringify(kept).includes("s3cret"));
});

Deno.test("a sidecar with a sponsor may reach its hosts and read its modules, never write", async () => {
  const { settings } = readSettings(ENV);
  const { sidecar } = partPlugins(CASTINGS, ENV);
  const asked = await pluginPermissions(sidecar, ENV, "");
  const list = sidecarPermissions(settings, sidecar, asked);
  assert.deepEqual(list.net, ["127.0.0.1", "node.example:443"]);
  const own = ["plugins", "src", "mod.ts", "deno.json"].map((path) =>
    fileURLToPath(new URL(`../../${path}`, import.meta.url))
  );
  assert.deepEqual(list.read, ["/opt/payer", ...own].sort());
  assert.deepEqual([list.write, list.run], [[], false]);
});

Deno.test("start lines with another shape of sponsor are refused", () => {
  const least = {
    url: "http://127.0.0.1:1",
    token: "t".repeat(16),
    relayerUrl: "http://127.0.0.1:2",
  };
  for (
    const sponsor of [null, 1, {}, { name: "x" }, { name: 1, env: {} }, {
      name: "x",
      env: { A: 1 },
    }]
  ) {
    assert.throws(() => parseSidecarBoot(JSON.stringify({ ...least, sponsor })), {
      code: "invalid_parameter",
    });
  }
});
