import "../checked_relayers.ts";
import assert from "node:assert/strict";
import { memoryBackends } from "../../plugins/memory/mod.ts";
import { chooseAddresses } from "../../src/program/launcher/addresses.ts";
import { createLogger } from "../../src/log.ts";
import { createRelayer } from "../../src/relayer.ts";
import { spawnSidecar } from "../../src/program/spawn_sidecar.ts";
import { GENEROUS, signature } from "../sponsor/sponsoring.ts";
import { kind, PACKAGE, SENDER } from "../sponsor/kinds.ts";
import { poll } from "../within.ts";

Deno.test("an embedded relayer gets a sidecar of its own, which is kept running", async () => {
  const { sidecarUrl: url } = chooseAddresses({
    sidecarUrl: "http://127.0.0.1:0",
    port: 0,
    webPort: 0,
  });
  const sidecar = { url, token: crypto.randomUUID() };
  await using relayer = await createRelayer({ backends: memoryBackends(), sidecar });
  const lines: string[] = [];
  const logger = createLogger({
    level: "debug",
    format: "json",
    write: (line) => lines.push(line),
  });
  const env = Deno.env.toObject();
  await using _child = spawnSidecar({ ...sidecar, relayer, env, logger });

  /** Status of an MCP request without credentials, once a sidecar answers. */
  const answered = async () => {
    return await poll(async () => {
      const request = new Request("http://localhost/api/mcp", { method: "POST", body: "{}" });
      const response = await relayer.fetch(request);
      await response.body?.cancel();
      return response.status;
    }, (status) => status !== 502);
  };
  assert.ok(await answered() >= 400);
  Deno.kill(JSON.parse(lines[0]!).pid, "SIGKILL");
  assert.ok(await answered() >= 400);
});

Deno.test("a sidecar may pay for an embedded relayer's transactions", async () => {
  const { sidecarUrl: url } = chooseAddresses({
    sidecarUrl: "http://127.0.0.1:0",
    port: 0,
    webPort: 0,
  });
  const sidecar = { url, token: crypto.randomUUID() };
  await using relayer = await createRelayer({
    backends: memoryBackends(),
    sidecar,
    sidecarSponsors: true,
    config: { packageId: PACKAGE, sponsor: GENEROUS },
  });
  await using _child = spawnSidecar({
    ...sidecar,
    relayer,
    env: Deno.env.toObject(),
    sponsor: {
      plugin: new URL("../sponsor/fake_plugin.ts", import.meta.url).href,
      env: { FAKE_SPONSOR_KEY: "open sesame" },
      net: [],
    },
  });
  const post = async (path: string, body: unknown) => {
    return await poll(async () => {
      const response = await relayer.fetch(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        }),
      );
      return await response.json();
    }, (answer) => answer.code !== "sidecar_unavailable"); // Nobody listens yet.
  };
  const transactionBlockKindBytes = kind().toBase64();
  const { digest } = await post("/sponsor", { sender: SENDER, transactionBlockKindBytes });
  assert.deepEqual(await post("/sponsor/execute", { digest, signature: signature() }), { digest });
});

Deno.test({
  name: "who may not run Deno is told so by spawnSidecar itself",
  permissions: { run: false, read: true, net: true },
  fn() {
    const relayer = { fetchInternal: () => Promise.reject(new Error("not called")) };
    const options = { url: "http://127.0.0.1:1", relayer, token: crypto.randomUUID(), env: {} };
    assert.throws(() => spawnSidecar(options), Deno.errors.NotCapable);
  },
});
