import assert from "node:assert/strict";
import local from "../../../plugins/local/mod.ts";
import { KeysForTests, sealerForTests } from "../sealer_for_tests.ts";

const dataDir = Deno.makeTempDirSync();

function context() {
  return {
    dataDir,
    dimensions: 2,
    model: "m",
    sealer: sealerForTests(),
    keys: new KeysForTests(),
    log: () => {},
  };
}

Deno.test({
  name: "every role opens with the permissions the plugin asks for",
  permissions: local.permissions!("vectorStore", {}, dataDir) as Deno.PermissionOptionsObject,
  async fn() {
    assert.equal(local.name, "local");
    const { accounts, blobStore, cipher, vectorStore } = local.roles;
    for (const factory of [accounts!, blobStore!, cipher!, vectorStore!]) {
      await using _backend = await factory({}, context());
    }
    const files = (await Array.fromAsync(Deno.readDir(dataDir))).map(({ name }) => name);
    assert.deepEqual(files.sort(), ["blobs.db", "core.db", "index.db"]);
    await Deno.remove(dataDir, { recursive: true });
  },
});

Deno.test("the cipher opens no file and needs no permission", () => {
  assert.deepEqual(local.permissions!("cipher", {}, dataDir), {});
  assert.deepEqual(local.permissions!("accounts", {}, "/data"), {
    read: ["/data"],
    write: ["/data"],
  });
});
