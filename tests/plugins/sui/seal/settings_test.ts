import assert from "node:assert/strict";
import plugin from "../../../../plugins/sui/seal/mod.ts";
import {
  keyWorkOptions,
  netPermissions,
  parseServers,
  SEAL_FIELDS,
  serverWarnings,
} from "../../../../plugins/sui/seal/settings.ts";
import { readFields } from "../../../../src/interfaces/plugin.ts";
import { readSettings } from "../../../../src/program/settings/mod.ts";
import { KeysForTests, sealerForTests } from "../../sealer_for_tests.ts";

const ID = (digit: string) => "0x" + digit.repeat(64);
const SERVERS = [
  { objectId: ID("a"), url: "https://one.example/" },
  { objectId: ID("B"), weight: 2, aggregatorUrl: "https://two.example:8443/agg" },
  { objectId: ID("c"), weight: 0, url: "http://three.example" },
];
const ENV = {
  SVC_SUI_NETWORK: "testnet",
  SVC_PACKAGE_ID: ID("d"),
  SVC_SEAL_SERVER_CONFIGS: JSON.stringify(SERVERS),
};
const read = (env: Record<string, string>) => readFields(SEAL_FIELDS, { ...ENV, ...env });

Deno.test("servers are read with their defaults", () => {
  assert.deepEqual(parseServers(JSON.stringify(SERVERS)), [
    { objectId: ID("a"), weight: 1, url: "https://one.example" },
    { objectId: ID("b"), weight: 2, aggregatorUrl: "https://two.example:8443/agg" },
    { objectId: ID("c"), weight: 0, url: "http://three.example" },
  ]);
});

Deno.test("wrong servers are refused, and no value is repeated", () => {
  const objectId = ID("a");
  const wrong: unknown[] = [
    {},
    [],
    [1],
    [{}],
    [{ objectId: "0x1" }],
    [{ objectId, weight: -1 }],
    [{ objectId, weight: 1.5 }],
    [{ objectId, weight: 0 }],
    [{ objectId, weight: 255 }],
    [{ objectId }, { objectId: objectId.toUpperCase().replace("X", "x") }],
    [{ objectId, url: "ftp://secret" }],
    [{ objectId, url: "https://user:secret@x" }],
    [{ objectId, url: "https://x", aggregatorUrl: "https://x" }],
    [{ objectId, apiKey: "secret" }],
    [{ objectId, apiKeyName: "x y", apiKey: "secret" }],
    [{ objectId, apiKeyName: "x", apiKey: "secret\n" }],
    [{ objectId, secret: 1 }],
    Array.from({ length: 33 }, (_, i) => ({ objectId: "0x" + `${i + 10}`.repeat(32) })),
  ];
  for (const value of wrong) {
    assert.throws(
      () => parseServers(JSON.stringify(value)),
      (error) => error instanceof TypeError && !error.message.includes("secret"),
      JSON.stringify(value),
    );
  }
  assert.throws(() => parseServers("{secret"), { message: "must be JSON" });
});

Deno.test("the program's own check takes what the plugin takes", () => {
  assert.deepEqual(
    readSettings({ ...ENV, SVC_ACCOUNTS: "local" }).problems
      .filter((line) => line.includes("SVC_SEAL")),
    [],
  );
});

Deno.test("the threshold is two or the total weight, and at most that", () => {
  assert.equal(keyWorkOptions(read({})).threshold, 2);
  assert.equal(keyWorkOptions(read({ SVC_SEAL_THRESHOLD: "3" })).threshold, 3);
  const one = JSON.stringify([{ objectId: ID("a") }]);
  assert.equal(keyWorkOptions(read({ SVC_SEAL_SERVER_CONFIGS: one })).threshold, 1);
  assert.throws(() => keyWorkOptions(read({ SVC_SEAL_THRESHOLD: "4" })), {
    code: "invalid_parameter",
    message: "SVC_SEAL_THRESHOLD is 4, but the weights of SVC_SEAL_SERVER_CONFIGS sum up to 3",
  });
});

Deno.test("what is missing is named", () => {
  const settings = readFields(SEAL_FIELDS, {});
  assert.throws(() => keyWorkOptions(settings), {
    message: "SVC_CIPHER=seal needs SVC_PACKAGE_ID and SVC_SEAL_SERVER_CONFIGS",
  });
});

Deno.test("the relayer may reach the node and the configured key servers", () => {
  assert.deepEqual(netPermissions(read({})), [
    "fullnode.testnet.sui.io:443",
    "one.example:443",
    "two.example:8443",
    "three.example:80",
  ]);
  assert.deepEqual(netPermissions(readFields(SEAL_FIELDS, {})), ["127.0.0.1:9100"]);
  assert.deepEqual(plugin.permissions?.("blobStore", read({}), "/data"), {});
});

Deno.test("servers without an address and plain http are noted", () => {
  const servers = JSON.stringify([...SERVERS, { objectId: ID("e") }]);
  const warnings = serverWarnings(keyWorkOptions(read({ SVC_SEAL_SERVER_CONFIGS: servers })));
  assert.deepEqual(warnings, [
    "seal: key server 3 of SVC_SEAL_SERVER_CONFIGS is reached over plain http",
    "seal: key server 4 of SVC_SEAL_SERVER_CONFIGS has no url: " +
    "it is reached only where every host is allowed",
  ]);
});

Deno.test("the plugin opens without contacting anybody", async () => {
  const context = { sealer: sealerForTests(), keys: new KeysForTests(), log() {} };
  await using cipher = await plugin.roles.cipher!(read({}), context);
  assert.equal(cipher.needsCredential, true);
  assert.deepEqual(cipher.health?.(), { status: "ok" });
});
