import assert from "node:assert/strict";
import { ed25519 } from "@noble/curves/ed25519.js";
import { SvcClient } from "../../src/client/client.ts";
import { loopbackFetch } from "../../src/http1/loopback_fetch.ts";
import { connectProven } from "../../src/http1/sidecar_connections.ts";
import { testBackends, TestClock } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { serve, TOKEN } from "./fake_sidecar.ts";

/** Port 9 answers nobody: these tests need no sidecar. */
const sidecar = { url: "http://127.0.0.1:9", token: TOKEN };

/** `fetch` over connections that are proven under a token. */
function proven(url: string, token = TOKEN) {
  return loopbackFetch(url, () => connectProven(url, { token, listens: "relayer" }));
}

Deno.test("the internal listener knows nobody who does not prove to know the token", async () => {
  await using svc = await serve({ sidecar });
  for (const headers of [{}, { "x-svc-sidecar-token": TOKEN }] as Record<string, string>[]) {
    const response = await fetch(`${svc.internalUrl}/health`, { headers });
    assert.equal(`${response.status} ${(await response.json()).code}`, "404 not_found");
    assert.ok(response.headers.get("x-request-id"));
  }
  using known = proven(svc.internalUrl);
  const health = await (await known(`${svc.internalUrl}/health`, {})).json();
  assert.equal(health.dependencies.sidecar.status, "down");
  for (const token of ["wrong token of it", TOKEN + "x", TOKEN.slice(1)]) {
    using call = proven(svc.internalUrl, token);
    await assert.rejects(call(`${svc.internalUrl}/health`, {}), /is not the relayer/);
  }

  await using none = await serve();
  using call = proven(none.internalUrl);
  await assert.rejects(call(`${none.internalUrl}/health`, {}), /is not the relayer/);
});

Deno.test("the client's address is believed there and with a proof, and nowhere else", async () => {
  verifies("15-18");
  const backends = await testBackends(new TestClock());
  const config = { accountLookupsPerMinute: 3 };
  await using svc = await serve({ sidecar, backends, config });
  /** Status of a look-up that no cache answers. */
  using internally = proven(svc.internalUrl);
  const lookUp = async (baseUrl: string, headers: Record<string, string>) => {
    const client = new SvcClient({
      baseUrl,
      ...(baseUrl === svc.internalUrl ? { fetch: internally } : {}),
      privateKey: ed25519.utils.randomSecretKey().toHex(),
      headers,
      retry: { attempts: 1 },
    });
    const error = await client.account().then(() => undefined, (thrown) => thrown);
    return error.status;
  };
  const statuses = async (
    count: number,
    url: string,
    headers: (i: number) => Record<string, string>,
  ) => {
    const all: number[] = [];
    for (let i = 0; i < count; i++) all.push(await lookUp(url, headers(i)));
    return all;
  };
  const named = (ip: string) => ({ "x-svc-sidecar-token": TOKEN, "x-svc-client-ip": ip });

  // Outside, the header changes nothing: all of these are one client.
  const outside = await statuses(4, svc.url, (i) => named(`198.51.100.${i}`));
  assert.deepEqual(outside, [401, 401, 401, 429]);
  // The internal listener counts by the named client.
  assert.deepEqual(await statuses(4, svc.internalUrl, () => named("203.0.113.1")), [
    401,
    401,
    401,
    429,
  ]);
  assert.deepEqual(await statuses(1, svc.internalUrl, () => named("203.0.113.2")), [401]);
  // What is no address counts as this machine, whose look-ups are used up.
  assert.deepEqual(await statuses(1, svc.internalUrl, () => named("somewhere")), [429]);
});
