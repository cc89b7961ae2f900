import assert from "node:assert/strict";
import plugin from "../../../../plugins/sui/seal/mod.ts";
import { readFields } from "../../../../src/interfaces/plugin.ts";
import { REGISTRY_ENV } from "../../../registry.ts";
import { LOCKED } from "../../../locked.ts";
import { delegateKeyOf, keypair, startNetwork } from "./network.ts";

const ROOT = new URL("../../../../", import.meta.url);
const ACCOUNT = "0x" + "1".repeat(64);

Deno.test("the plugin's own permission list is enough, and unlisted servers are named", async () => {
  await using network = await startNetwork();
  network.setAccount(ACCOUNT, { owner: keypair(7) });
  const { rpcUrl, packageId, servers } = network.options;
  const run = async (configs: readonly unknown[]) => {
    const env = {
      SVC_SUI_NETWORK: "localnet",
      SVC_SUI_RPC_URL: rpcUrl,
      SVC_PACKAGE_ID: packageId,
      SVC_SEAL_SERVER_CONFIGS: JSON.stringify(configs),
    };
    const { net = [], read = [] } = await plugin.permissions!(
      "cipher",
      readFields(plugin.fields, env),
      "/data",
    );
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      cwd: ROOT,
      clearEnv: true,
      env: {
        ...REGISTRY_ENV,
        DENO_DIR: Deno.env.get("DENO_DIR") ?? "",
        HOME: Deno.env.get("HOME") ?? "",
      },
      args: [
        "run",
        "--no-prompt",
        ...LOCKED,
        `--allow-net=${net.join()}`,
        `--allow-read=${read.join()}`,
        new URL("tests/plugins/sui/seal/sealing_process.ts", ROOT).href,
        JSON.stringify({ env, accountId: ACCOUNT, ...delegateKeyOf(7) }),
      ],
    }).output();
    return [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  };
  const [text, errors] = await run(servers);
  assert.equal(text, "kept", errors);
  const [none, reason] = await run(servers.map(({ objectId }) => ({ objectId })));
  assert.equal(none, "");
  assert.match(reason!, /SVC_SEAL_SERVER_CONFIGS needs its url/);
});
