import assert from "node:assert/strict";
import { makeDelegateKey } from "../../src/client/mod.ts";
import { Program } from "../program.ts";
import { verifies } from "../requirements.ts";
import { McpPeer, type PeerAnswer } from "./mcp_peer.ts";
import { started } from "./mcp_program.ts";

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

async function assertUnauthorized(answer: PeerAnswer): Promise<void> {
  const { error, id } = JSON.parse(await answer.text());
  assert.deepEqual([answer.status, error.code, id], [401, -32001, null]);
  assert.equal(error.data.code, "account_not_authorized");
  const challenge = answer.headers["www-authenticate"];
  assert.equal(challenge, 'Bearer realm="svc", error="invalid_token"');
}

Deno.test("a key that another process removed has no session two seconds later", async () => {
  verifies("11-2", "11-3", "11-6");
  await started(async ({ base, env, headers }) => {
    const accountId = headers["x-svc-account-id"]!;
    const command = async (...args: string[]) => {
      await using program = new Program(["account", ...args], env);
      assert.equal(await program.end(), 0, program.errors.join("\n"));
    };
    const pair = await makeDelegateKey();
    await command("add-key", "--public-key", pair.publicKey);
    const key = { privateKey: pair.privateKey, accountId };
    const [streamable, listening, sse] = [1, 2, 3].map((n) =>
      new McpPeer(base, `127.0.5.${n}`, key)
    ) as [McpPeer, McpPeer, McpPeer];
    assert.equal((await streamable.open()).status, 200);
    assert.equal((await listening.open()).status, 200);
    const stream = await listening.send({ method: "GET" });
    assert.equal((await sse.openSse()).status, 200);
    const [, path = ""] = /data: (\S+)/.exec(await sse.stream!.until("endpoint")) ?? [];
    const ask = (peer: McpPeer) => peer.send({ method: "POST", body: LIST });
    assert.match(await (await ask(streamable)).text(), /svc_recall/);

    await command("remove-key", "--public-key", pair.publicKey);
    // What is promised of a removed key is a time.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    await assertUnauthorized(await ask(streamable));
    assert.equal((await ask(streamable)).status, 404);
    await assertUnauthorized(await ask(listening));
    await stream.closed;
    assert.equal((await ask(listening)).status, 404);
    const message = { method: "POST", path, body: LIST };
    await assertUnauthorized(await sse.send(message));
    await sse.stream!.closed;
    assert.equal((await sse.send(message)).status, 404);
    await assertUnauthorized(await new McpPeer(base, "127.0.5.4", key).open());
  });
});

Deno.test("sixty-four random hex characters open nothing", async () => {
  verifies("11-3");
  await started(async ({ base, headers }) => {
    const accountId = headers["x-svc-account-id"]!;
    const random = () => crypto.getRandomValues(new Uint8Array(32)).toHex();
    for (const account of [accountId, `0x${random()}`]) {
      const peer = new McpPeer(base, "127.0.6.1", { privateKey: random(), accountId: account });
      await assertUnauthorized(await peer.open());
      await assertUnauthorized(await peer.openSse());
      const sessionless = await peer.send({
        method: "POST",
        headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
        body: {
          ...LIST,
          params: {
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": {},
            },
          },
        },
      });
      await assertUnauthorized(sessionless);
    }
    const metrics = await (await fetch(`${base}/metrics`)).text();
    assert.match(metrics, /svc_mcp_sessions{transport="sse"} 0\n/);
    assert.match(metrics, /svc_mcp_sessions{transport="streamable"} 0\n/);
  });
});
