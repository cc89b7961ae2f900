import assert from "node:assert/strict";
import { loopbackFetch } from "../../src/http1/loopback_fetch.ts";
import { connectProven } from "../../src/http1/sidecar_connections.ts";
import { startSidecar } from "../../src/mcp/process.ts";
import { verifies } from "../requirements.ts";
import { FakeSidecar, serve, type Served, TOKEN } from "./fake_sidecar.ts";

async function gauge({ url }: Served): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text.split("\n").filter((line) => /svc_mcp_sessions/.test(line) && !line.startsWith("#"));
}

Deno.test("the sidecar's open sessions are a metric by transport", async () => {
  verifies("9-21");
  await using sidecar = new FakeSidecar(() =>
    Response.json({ status: "ok", sessions: { sse: 3, streamable: 5 } })
  );
  await using svc = await serve({ sidecar });
  assert.deepEqual(await gauge(svc), [
    'svc_mcp_sessions{transport="sse"} 3',
    'svc_mcp_sessions{transport="streamable"} 5',
  ]);
  assert.equal(sidecar.requests[0]?.url, `${sidecar.url}/health`);
  assert.equal(sidecar.requests[0]?.headers.get("x-svc-sidecar-token"), null);
  await gauge(svc);
  assert.equal(sidecar.challenges, 1, "the connection is used again");
});

Deno.test("a sidecar that does not tell leaves a gap", async () => {
  await using none = await serve();
  assert.deepEqual(await gauge(none), []);

  await using sidecar = new FakeSidecar();
  await using svc = await serve({ sidecar });
  const answers = [
    () => Response.json({ status: "ok" }),
    () => Response.json({ sessions: { sse: "3", streamable: 5 } }),
    () => new Response("{"),
    () => new Response(null),
    () => new Response(" ".repeat(5000)),
    () => new Response(new ReadableStream()),
  ];
  for (const answer of answers) {
    sidecar.answer = answer;
    assert.deepEqual(await gauge(svc), []);
  }
  await using stranger = new FakeSidecar(undefined, { knows: "guess" });
  await using misled = await serve({ sidecar: { url: stranger.url, token: TOKEN } });
  assert.deepEqual(await gauge(misled), []);
  assert.equal(stranger.requests.length, 0);
});

Deno.test("a sidecar tells whoever proves to know the token", async () => {
  const boot = { url: "http://127.0.0.1:0", token: TOKEN, relayerUrl: "http://127.0.0.1:9" };
  await using sidecar = startSidecar(boot);
  const url = `http://127.0.0.1:${sidecar.port}`;
  using call = loopbackFetch(url, () => connectProven(url, { token: TOKEN, listens: "sidecar" }));
  assert.deepEqual(await (await call(`${url}/health`, {})).json(), {
    status: "ok",
    sessions: { sse: 0, streamable: 0 },
  });
  const stranger = await fetch(`${url}/health`, { headers: { "x-svc-sidecar-token": TOKEN } });
  assert.equal(stranger.status, 404);
  await stranger.body?.cancel();
});
