import assert from "node:assert/strict";
import { verifies } from "../requirements.ts";
import { pkce, startOAuth } from "./fixture.ts";

Deno.test("an app goes from the bare address to a session", async () => {
  verifies("11.1-1", "11.1-2", "11.1-4");
  await using test = await startOAuth();
  const refused = await test.message(undefined);
  assert.equal(refused.status, 401);
  const challenge = refused.headers.get("www-authenticate") ?? "";
  const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  assert.equal(metadata, `${test.base}/.well-known/oauth-protected-resource/api/mcp/connect`);
  const resource = await (await fetch(metadata)).json();
  assert.equal(resource.resource, test.resource);
  const [issuer] = resource.authorization_servers;
  assert.equal(issuer, `${test.base}/oauth`);
  const server = await test.get("/.well-known/oauth-authorization-server/oauth");
  assert.equal(server.body.issuer, issuer);
  assert.deepEqual(server.body.code_challenge_methods_supported, ["S256"]);

  const tokens = await test.connect();
  assert.equal(tokens.scope, "read write");
  assert.equal(tokens.expires_in, 3600);
  assert.match(tokens.access_token, /^svct1\./);
  const answer = await test.message(tokens.access_token);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
});

Deno.test("a code is good once", async () => {
  verifies("11.1-19", "11.1-21");
  await using test = await startOAuth();
  const client_id = await test.register();
  const { verifier, challenge } = await pkce();
  const request = await test.question({ client_id, code_challenge: challenge });
  const to = await test.approve(request);
  assert.equal(to.searchParams.get("state"), "s t&a=te");
  assert.equal(to.searchParams.get("iss"), `${test.base}/oauth`);
  const code = to.searchParams.get("code")!;
  const { status, body } = await test.redeem(code, verifier, client_id);
  assert.equal(status, 200);
  assert.equal((await test.message(body.access_token)).status, 200);
  const again = await test.redeem(code, verifier, client_id);
  assert.equal(`${again.status} ${again.body.error}`, "400 invalid_grant");
  // Two have it: nobody is let in any more.
  assert.equal((await test.message(body.access_token)).status, 401);
  const refreshed = await test.refresh(body.refresh_token, client_id);
  assert.equal(`${refreshed.status} ${refreshed.body.error}`, "400 invalid_grant");
});
