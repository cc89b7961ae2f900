import { deepStrictEqual, rejects, strictEqual, throws } from "node:assert/strict";
import sui from "../../../../plugins/sui/accounts/mod.ts";
import { CONTRACT, FakeNode, id } from "./fake_node.ts";

const CONTEXT = { log: () => {} };
const settings = (rpcUrl: string) => ({ network: "testnet" as const, rpcUrl, ...CONTRACT });
const net = (rpcUrl: string) => sui.permissions?.("accounts", settings(rpcUrl), "/data");

Deno.test("the plugin asks for its node and nothing else", () => {
  deepStrictEqual(net("http://127.0.0.1:9100"), { net: ["127.0.0.1:9100"] });
  deepStrictEqual(net("https://node.example"), { net: ["node.example:443"] });
  deepStrictEqual(net(""), { net: ["fullnode.testnet.sui.io:443"] });
});

Deno.test("it needs a package and a registry", () => {
  for (const missing of ["packageId", "registryId"]) {
    const values = { ...settings(""), [missing]: undefined };
    throws(() => sui.roles.accounts?.(values, CONTEXT), { code: "invalid_parameter" });
  }
});

Deno.test("a node that is down is no reason not to start", async () => {
  const node = new FakeNode();
  const { url } = node;
  await node[Symbol.asyncDispose]();
  await using accounts = await sui.roles.accounts!(settings(url), CONTEXT);
  await rejects(accounts.get(id("5")), { code: "chain_unavailable" });
});

Deno.test({
  name: "without the permission to reach its node the reason is known",
  permissions: { net: false },
  async fn() {
    await using accounts = await sui.roles.accounts!(settings("http://127.0.0.1:9100"), CONTEXT);
    await rejects(accounts.get(id("5")), { code: "chain_unavailable" });
    strictEqual(
      accounts.health?.().reason,
      "The relayer lacks the permission to reach the chain's node",
    );
  },
});
