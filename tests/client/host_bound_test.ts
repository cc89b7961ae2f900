import assert from "node:assert/strict";
import { SvcClient, type SvcClientOptions } from "../../src/client/mod.ts";
import { SvcError } from "../../src/errors.ts";
import { verifies } from "../requirements.ts";
import { type Answer, type FakeRelayer, fakeRelayer, refusal } from "./fake_relayer.ts";

const privateKey = "07".repeat(32);
const account: Answer = () => Response.json({ owner: "0x1" });
const offering = (isOffered: boolean): Answer => () =>
  Response.json({ featureFlags: { "auth.hostBound": isOffered } });

function clientOf({ url }: FakeRelayer, options: Partial<SvcClientOptions> = {}): SvcClient {
  return new SvcClient({ baseUrl: url, privateKey, retry: { attempts: 1 }, ...options });
}

/** Audiences of the signed requests, and how often the relayer was asked what it offers. */
function seen({ received }: FakeRelayer) {
  const signed = received.filter(({ target }) => target.startsWith("/api/"));
  assert.ok(signed.every((request) => request.signed));
  return {
    audiences: signed.map(({ headers }) => headers.get("x-audience")),
    asked: received.length - signed.length,
  };
}

Deno.test("the client asks once, and signs for the relayer's address where that is offered", async () => {
  verifies("4.2-13");
  await using relayer = fakeRelayer({
    "GET /version": offering(true),
    "GET /api/account": account,
    "GET /api/memories": account,
  });
  const client = clientOf(relayer);
  await Promise.all([client.account(), client.account()]);
  await client.memories({ limit: 1 });
  const { url } = relayer;
  assert.deepEqual(seen(relayer), { audiences: [url, url, url], asked: 1 });
});

Deno.test("a relayer that does not offer it gets the published form", async () => {
  const older: Answer[] = [offering(false), () => new Response("none", { status: 404 })];
  for (const version of older) {
    await using relayer = fakeRelayer({ "GET /version": version, "GET /api/account": account });
    const client = clientOf(relayer);
    await client.account();
    await client.account();
    assert.deepEqual(seen(relayer), { audiences: [null, null], asked: 1 });
  }
});

Deno.test("a relayer that did not say is asked again", async () => {
  await using relayer = fakeRelayer({
    "GET /version": (request, n) =>
      n === 0 ? new Response(null, { status: 503 }) : offering(true)(request, n),
    "GET /api/account": account,
  });
  const client = clientOf(relayer);
  await client.account();
  await client.account();
  assert.deepEqual(seen(relayer), { audiences: [null, relayer.url], asked: 2 });
});

Deno.test("a relayer that wants the form gets it, also when it did not offer it", async () => {
  await using relayer = fakeRelayer({
    "GET /version": offering(false),
    "GET /api/account": (request, n) =>
      request.headers.has("x-audience")
        ? account(request, n)
        : refusal(new SvcError("upgrade_required")),
  });
  const client = clientOf(relayer);
  await client.account();
  await client.account();
  assert.deepEqual(seen(relayer).audiences, [null, relayer.url, relayer.url]);
  // A form that was asked for is kept.
  const fixed = clientOf(relayer, { form: "nonce" });
  await assert.rejects(fixed.account(), { code: "upgrade_required" });
});

Deno.test("a relayer that does not know its own address gets the published form", async () => {
  verifies("4.2-13");
  await using relayer = fakeRelayer({
    "GET /version": offering(true),
    "GET /api/account": (request, n) =>
      request.headers.has("x-audience")
        ? refusal(new SvcError("audience_mismatch"))
        : account(request, n),
    "GET /api/memories": () => refusal(new SvcError("upgrade_required")),
  });
  const client = clientOf(relayer);
  await client.account();
  await client.account();
  assert.deepEqual(seen(relayer), { audiences: [relayer.url, null, null], asked: 1 });
  // Nothing goes round and round, and nothing is changed for a relayer that is another one.
  await assert.rejects(client.memories(), { code: "upgrade_required" });
  assert.equal(seen(relayer).audiences.length, 5);
  const foreign = clientOf(relayer, { isForeign: true });
  await assert.rejects(foreign.account(), { code: "audience_mismatch" });
});

Deno.test("a form that was chosen asks nobody", async () => {
  for (const form of ["host-bound", "nonce", "legacy"] as const) {
    await using relayer = fakeRelayer({ "GET /api/account": account });
    await clientOf(relayer, { form }).account();
    const audiences = [form === "host-bound" ? relayer.url : null];
    assert.deepEqual(seen(relayer), { audiences, asked: 0 });
  }
});
