import assert from "node:assert/strict";
import { loopbackFetch } from "../../src/http1/loopback_fetch.ts";
import { isSameSecret } from "../../src/http1/mutual_proof.ts";
import { connectProven, isSidecar } from "../../src/http1/sidecar_connections.ts";
import { startSidecar } from "../../src/mcp/process.ts";
import { inHome, Program } from "../program.ts";
import { verifies } from "../requirements.ts";

const TOKEN = "token-of-the-test";
/** Asks over a connection that is proven under a token, or not at all. */
async function ask(port: number, path: string, token?: string, method = "GET") {
  const url = `http://127.0.0.1:${port}`;
  const connect = () => connectProven(url, { token: token!, listens: "sidecar" });
  using call = loopbackFetch(url, token === undefined ? undefined : connect);
  const response = await call(`${url}${path}`, { method });
  return { status: response.status, text: await response.text() };
}

Deno.test("health and everything else are for whoever proves to know the token", async () => {
  await using sidecar = startSidecar({ url: "http://127.0.0.1:0", token: TOKEN });
  const { port } = sidecar;
  const { text } = await ask(port, "/health", TOKEN);
  assert.deepEqual(JSON.parse(text), { status: "ok" });
  for (const given of ["wrong token of it", TOKEN + "x", TOKEN.slice(1)]) {
    await assert.rejects(ask(port, "/health", given), /is not the sidecar/);
  }
  assert.equal((await ask(port, "/health")).status, 404);
  assert.equal((await ask(port, "/health", TOKEN, "POST")).status, 404);
  assert.equal((await ask(port, "/other", TOKEN)).status, 404);
});

Deno.test("secrets are compared whole", () => {
  assert.ok(isSameSecret("a", "a"));
  assert.ok(!isSameSecret("a", "b") && !isSameSecret("", "a") && !isSameSecret("aa", "a"));
});

Deno.test("a sidecar is told from a stranger", async () => {
  verifies("15-17");
  await using sidecar = startSidecar({ url: "http://127.0.0.1:0", token: TOKEN });
  const url = `http://127.0.0.1:${sidecar.port}`;
  assert.equal(await isSidecar(url, TOKEN), true);
  assert.equal(await isSidecar(url, "another token here"), false);

  const answers = [
    () => new Response("ok"),
    () => new Response("", { status: 500 }),
    () => Response.redirect(url),
    () => new Response("0".repeat(100_000)),
  ];
  for (const answer of answers) {
    const stranger = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
    assert.equal(await isSidecar(`http://127.0.0.1:${stranger.addr.port}`, TOKEN), false);
    await stranger.shutdown();
  }
  const gone = startSidecar({ url: "http://127.0.0.1:0", token: TOKEN });
  await gone[Symbol.asyncDispose]();
  assert.equal(await isSidecar(`http://127.0.0.1:${gone.port}`, TOKEN), false);
});

Deno.test("the process takes its token from the leash and ends with it", async () => {
  await inHome(async (home) => {
    await using program = new Program(["sidecar", "--boot-stdin"], { HOME: home });
    const relayerUrl = "http://127.0.0.1:9";
    const boot = { url: "http://127.0.0.1:0", token: TOKEN, relayerUrl, logFormat: "json" };
    await program.write(JSON.stringify(boot) + "\n");
    const { port } = await program.event("sidecar listening");
    assert.equal(await isSidecar(`http://127.0.0.1:${port}`, TOKEN), true);
    await program.closeInput();
    assert.equal(await program.end(), 1);
  });
});

Deno.test("by hand the process takes its token from the environment", async () => {
  await inHome(async (home) => {
    const env = { HOME: home, SIDECAR_URL: "http://localhost:0" };
    await using program = new Program(["sidecar"], { ...env, SIDECAR_AUTH_TOKEN: TOKEN });
    await program.closeInput();
    const { port } = await program.event("sidecar listening");
    assert.equal(await isSidecar(`http://127.0.0.1:${port}`, TOKEN), true);
    const { level, reason } = await program.event("started by hand");
    assert.equal(level, "warn");
    assert.match(String(reason), /all MCP clients share one limit of account look-ups/);
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);

    await using without = new Program(["sidecar"], env);
    assert.equal(await without.end(), 78);
    assert.match(without.errors.join("\n"), /SIDECAR_AUTH_TOKEN is needed/);
  });
});
