import assert from "node:assert/strict";
import type { RelayerConfig } from "../../src/interfaces/config.ts";
import { startRelayer, type TestRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";
import { ownerPost } from "./owner.ts";

interface Asker {
  readonly peer?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whether a request counts as this machine's, by what it may read and whether it may register. */
async function isLocal(svc: TestRelayer, asker: Asker): Promise<boolean> {
  const { peer = "127.0.0.1", host = "127.0.0.1:8000" } = asker;
  const headers = { host, ...asker.headers };
  const metrics = await svc.plain("GET", "/metrics", undefined, { peer, headers });
  svc.clock.advance(60_000);
  const body = { challenge: "x", signature: "x", params: {} };
  const account = await ownerPost(svc, "/accounts", body, { peer, host, ...asker });
  const local = metrics.status === 200;
  if (!local) assertError(metrics, [403, "metrics_forbidden"]);
  assertError(account, local ? [401, "owner_proof_invalid"] : [403, "registration_closed"]);
  return local;
}

async function start(listener: string, config: Partial<RelayerConfig>): Promise<TestRelayer> {
  const svc = await startRelayer({ config });
  svc.relayer.listensAt(listener);
  return svc;
}

const LOOPBACK = "http://127.0.0.1:8000";
const publicUrl = "https://memory.example.com";

Deno.test("a program of this machine is local, and a peer elsewhere never", async () => {
  verifies("3-42", "9-14", "9.2-15");
  for (const listener of [LOOPBACK, "http://localhost:8000", "http://[::1]:8000"]) {
    await using svc = await start(listener, {});
    assert.ok(await isLocal(svc, {}));
    assert.ok(await isLocal(svc, { peer: "::1", host: "[::1]:8000" }));
    assert.ok(await isLocal(svc, { host: "LocalHost:8000" }));
    assert.ok(!await isLocal(svc, { peer: "192.0.2.1" }));
    assert.ok(!await isLocal(svc, { headers: { "x-forwarded-for": "127.0.0.1" } }));
  }
});

Deno.test("a proxy of this machine that adds no header makes nobody local", async () => {
  verifies("3-42", "9-14", "9.2-15");
  // It says nothing, and so do the settings, but the public address is not this machine's.
  await using silent = await start(LOOPBACK, { publicUrl });
  for (const host of ["memory.example.com", "127.0.0.1:8000", "localhost:8000"]) {
    assert.ok(!await isLocal(silent, { host }), host);
  }
  // The settings name it.
  await using named = await start(LOOPBACK, { trustedProxies: ["127.0.0.1", "::1"] });
  for (const peer of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
    assert.ok(!await isLocal(named, { peer }), peer);
  }
  for (const client of ["127.0.0.1", "192.0.2.1", "127.0.0.1, unknown", ""]) {
    assert.ok(!await isLocal(named, { headers: { "x-forwarded-for": client } }), client);
  }
  assert.ok(await isLocal(named, { peer: "127.0.0.2" }), "no proxy");
});

Deno.test("under the listener's own address its programs are local, under another nobody", async () => {
  verifies("3-41", "3-42");
  for (const own of ["http://localhost:8000", "http://127.0.0.1:8000", "https://[::1]:8000"]) {
    await using svc = await start(LOOPBACK, { publicUrl: own });
    for (const host of ["127.0.0.1:8000", "localhost:8000"]) {
      assert.ok(await isLocal(svc, { host }));
    }
  }
  // Something has that port, and passes on what reaches it from wherever.
  for (const other of ["http://localhost:9000", "https://127.0.0.1", "http://127.1.2.3:9000"]) {
    await using svc = await start(LOOPBACK, { publicUrl: other });
    const { host } = new URL(other);
    for (const name of ["127.0.0.1:8000", host]) {
      assert.ok(!await isLocal(svc, { host: name }), name);
    }
    const headers = { host: "localhost:1" };
    const foreign = await svc.plain("GET", "/metrics", undefined, { headers });
    assertError(foreign, [403, "host_not_allowed"], {}, other);
  }
});

Deno.test("where everybody reaches the listener itself, this machine is still local", async () => {
  verifies("3-41", "3-42");
  for (const listener of ["https://0.0.0.0:443", "https://[::]:443", "https://192.0.2.7:443"]) {
    await using svc = await start(listener, { publicUrl });
    for (const host of ["localhost", "127.0.0.1", "127.0.0.1:443"]) {
      assert.ok(await isLocal(svc, { host }), host);
    }
    assert.ok(!await isLocal(svc, { host: "memory.example.com" }));
    assert.ok(!await isLocal(svc, { peer: "192.0.2.7", host: "127.0.0.1" }));
    const other = await svc.plain("GET", "/metrics", undefined, {
      headers: { host: "localhost:80" },
    });
    assertError(other, [403, "host_not_allowed"]);
  }
});
