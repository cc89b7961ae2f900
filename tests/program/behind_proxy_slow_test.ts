import assert from "node:assert/strict";
import { SvcClient } from "../../src/client/mod.ts";
import { readCredentials } from "../../src/client/credentials_file.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { verifies } from "../requirements.ts";

const PUBLIC = "https://memory.example.org";

/** A proxy that calls the relayer by its own address, and says nothing about who asks. */
function silentProxy(port: unknown): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const headers = new Headers(request.headers);
    headers.delete("host");
    const body = request.body === null ? null : await request.bytes();
    const { pathname, search } = new URL(request.url);
    const to = `http://127.0.0.1:${port}${pathname}${search}`;
    return await fetch(to, { method: request.method, headers, body });
  });
}

for (const settings of [{}, { SVC_BEHIND_PROXY: "127.0.0.1" }]) {
  const name = Object.keys(settings)[0] ?? "no setting";
  Deno.test(`a silent proxy of this machine makes nobody local: ${name} names it`, async () => {
    verifies("3-42", "9-15", "9.2-15");
    await inHome(async (home) => {
      const env = { ...relayerEnv(home), SVC_PUBLIC_URL: PUBLIC, SIDECAR_AUTOSTART: "false" };
      await using program = new Program(["start"], { ...env, ...settings });
      const { port } = await program.event("listening");
      await using proxy = silentProxy(port);
      const url = `http://127.0.0.1:${proxy.addr.port}`;
      const ask = async (path: string, init: RequestInit = {}) => {
        const response = await fetch(url + path, init);
        const text = await response.text();
        return `${response.status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ""}`;
      };
      const headers = { "content-type": "application/json", origin: "http://localhost:5173" };
      const body = JSON.stringify({ challenge: "x", signature: "x", params: {} });
      assert.equal(await ask("/metrics"), "403 metrics_forbidden");
      assert.equal(
        await ask("/accounts", { method: "POST", headers, body }),
        "403 registration_closed",
      );
      assert.equal(await ask("/health"), "200 ");

      // Whoever has the machine's terminal makes the account, and its key works through the proxy.
      await using create = new Program(["account", "create", "--save"], env);
      assert.equal(await create.end(), 0, create.errors.join("\n"));
      const { credentials } = await readCredentials(`${home}/.svc/credentials.json`);
      assert.equal(credentials?.relayerUrl, PUBLIC);
      const { delegatePrivateKey: privateKey, accountId } = credentials;
      const client = new SvcClient({ baseUrl: url, privateKey, accountId });
      assert.equal((await client.account()).account_id, accountId);
    });
  });
}
