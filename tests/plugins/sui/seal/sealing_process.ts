/** Seals and opens with the plugin; the first argument is its environment as JSON. */
import plugin from "../../../../plugins/sui/seal/mod.ts";
import { readFields } from "../../../../src/interfaces/plugin.ts";
import { KeysForTests, sealerForTests } from "../../sealer_for_tests.ts";

const { env, accountId, delegateKey } = JSON.parse(Deno.args[0]!);
const context = { sealer: sealerForTests(), keys: new KeysForTests(), log() {} };
const scope = { accountId, owner: accountId, namespace: "notes" };
await using cipher = await plugin.roles.cipher!(readFields(plugin.fields, env), context);
const sealed = await cipher.seal(new TextEncoder().encode("kept"), { ...scope, memoryId: "m" });
cipher.accountChanged?.();
const [result] = await cipher.open([{ memoryId: "m", ...sealed }], {
  ...scope,
  credential: { delegateKey },
});
if (result?.status !== "fulfilled") throw result?.reason;
Deno.stdout.writeSync(result.value);
