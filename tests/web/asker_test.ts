import assert from "node:assert/strict";
import type { Permission } from "../../src/interfaces/mod.ts";
import { askerOf, labelOf } from "../../web/src/connect/asker.ts";

const label = (redirect_uri: string, client_name?: string) =>
  labelOf({
    redirect_uri,
    scope: ["read"] as Permission[],
    ...(client_name === undefined ? {} : { client_name }),
  });

Deno.test("the label of an app begins with who gets its answers", () => {
  assert.equal(label("https://claude.ai/cb", "Claude"), "claude.ai · Claude");
  assert.equal(label("https://claude.ai:8443/cb", "Claude"), "claude.ai:8443 · Claude");
  assert.equal(label("http://127.0.0.1:1/cb", "Claude"), "this computer · Claude");
  assert.equal(label("http://[::1]/cb", "Claude"), "this computer · Claude");
  assert.equal(label("cursor://a/cb", "Claude"), "cursor · Claude");
  assert.equal(label("com.example.app:/cb"), "com.example.app");
});

Deno.test("an app cannot make its label look like another's", () => {
  const evil = "https://evil.example/cb";
  assert.equal(label(evil, "claude.ai · Claude"), "evil.example · claude.ai Claude");
  assert.equal(label(evil, "token: x"), "evil.example · x");
  assert.equal(label(evil, "token: Token:token: x"), "evil.example · x");
  assert.equal(label(evil, "· token: ·"), "evil.example");
  const long = label(evil, "ü".repeat(64));
  assert.equal(long, `evil.example · ${"ü".repeat(24)}`);
  assert.equal(new TextEncoder().encode(long).length, 64);
  const host = `${"a".repeat(60)}.${"b".repeat(30)}.evil.example`;
  const cut = label(`https://${host}:8443/cb`, "Claude");
  assert.ok(cut.startsWith("…") && cut.endsWith(".evil.example:8443"), cut);
  assert.equal(new TextEncoder().encode(cut).length, 64);
  const full = `${"c".repeat(51)}.evil.example`;
  assert.equal(label(`https://${full}/cb`, "Claude"), full);
});

Deno.test("the page names a host with its port", () => {
  assert.equal(askerOf("https://claude.ai:8443/cb").place, "claude.ai:8443");
  assert.equal(askerOf("https://claude.ai:443/cb").place, "claude.ai");
});
