import assert from "node:assert/strict";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { SvcClient } from "../../src/client/mod.ts";
import { FakeSidecar } from "../http/fake_sidecar.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { verifies } from "../requirements.ts";
import { McpPeer } from "./mcp_peer.ts";
import { pingStatus, untilServed } from "../mcp_program.ts";
import { started } from "./mcp_program.ts";
import { isSidecar } from "./mcp_relayer.ts";

const FACT = "I am allergic to peanuts";

Deno.test("without its sidecar the relayer serves on, MCP answers 502, and it comes back", async () => {
  verifies("11-40");
  await started(async ({ program, base, headers, env, sidecar }) => {
    const { credentials } = await readCredentials(`${env["HOME"]}/.svc/credentials.json`);
    const { delegatePrivateKey: privateKey = "", accountId = "" } = credentials ?? {};
    const peer = new McpPeer(base, "127.0.7.1", { privateKey, accountId });
    assert.equal((await peer.open()).status, 200);
    const listening = await peer.send({ method: "GET" });
    await listening.until(":keepalive\n\n");

    // No repetition: each of these requests must be answered as if nothing had happened.
    const client = new SvcClient({ baseUrl: base, privateKey, accountId, retry: { attempts: 1 } });
    let isOver = false;
    let signed = 0;
    const working = (async () => {
      while (!isOver) {
        await client.remember(`${FACT}, ${signed}`);
        await client.recall("peanuts");
        signed++;
      }
    })();
    working.catch(() => {});

    const killed = performance.now();
    Deno.kill(sidecar, "SIGKILL");
    await program.event("child process ended; starting it again", isSidecar);
    const asked = performance.now();
    const down = await pingStatus(base, headers);
    assert.ok(performance.now() - asked < 1000, "the answer took too long");
    assert.equal(down.status, 502);
    const { error, id } = JSON.parse(down.body);
    assert.deepEqual([error.code, error.data.code, id], [-32000, "sidecar_unavailable", null]);
    assert.match(await listening.text(), /:keepalive\n\n$/);
    await untilServed(base, headers);
    assert.ok(performance.now() - killed < 3000, "it took too long to come back");
    isOver = true;
    await working;
    // How many depends on what else the machine does.
    assert.ok(signed > 0);

    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const lost = await peer.send({ method: "POST", body: list });
    assert.equal(lost.status, 404);
    assert.equal(JSON.parse(await lost.text()).error.code, -32000);
    peer.id = "";
    assert.equal((await peer.open()).status, 200);
  }, { secrets: [FACT] });
});

Deno.test("a stranger on the sidecar's port sees no request, and leaves without harm", async () => {
  verifies("15-17");
  await inHome(async (home) => {
    await using stranger = new FakeSidecar(undefined, { knows: "guess" });
    const env = {
      ...relayerEnv(home),
      SIDECAR_URL: stranger.url,
      SIDECAR_AUTH_TOKEN: "x".repeat(20),
    };
    await using program = new Program(["start"], env);
    const { port } = await program.event("listening");
    const base = `http://127.0.0.1:${port}`;
    const headers = {
      authorization: `Bearer ${"ab".repeat(32)}`,
      "x-svc-account-id": `0x${"cd".repeat(32)}`,
    };
    for (let i = 0; i < 5; i++) {
      const { status, body } = await pingStatus(base, headers);
      assert.equal(status, 502);
      assert.equal(JSON.parse(body).error.data.code, "sidecar_unavailable");
    }
    const { dependencies } = await (await fetch(`${base}/health`)).json();
    assert.equal(dependencies.sidecar.status, "down");
    assert.ok(stranger.challenges >= 5);
    assert.deepEqual(stranger.requests, []);
    await program.event("child process ended; starting it again", isSidecar);
    await stranger.kill();
    await untilServed(base, headers);
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);
    assert.match(program.errors.join("\n"), /SIDECAR_URL: \S+ is in use/);
  });
});
