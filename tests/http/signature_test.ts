import assert from "node:assert/strict";
import { ed25519 } from "@noble/curves/ed25519.js";
import { type SendOptions, startRelayer, TestKey } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { assertError } from "./case.ts";

const INVALID = [401, "signature_invalid"] as const;

function key(seed: Uint8Array, publicKey: string): TestKey {
  return Object.assign(new TestKey(seed), { publicKey });
}

Deno.test("the published test vector is accepted at its time", async () => {
  verifies("4.2-1", "4.2-2", "4.2-3", "4.2-9");
  await using svc = await startRelayer();
  const vector = new TestKey(Uint8Array.from({ length: 32 }, (_, index) => index));
  const body = '{"text":"I like tea","namespace":"default"}';
  await svc.backends.accounts.admin!.addKey(svc.account.accountId, {
    publicKey: vector.publicKey,
    label: "vector",
    permissions: ["write"],
  });
  svc.clock.freeze(1_767_225_600_000);
  const request = (headers: Record<string, string>) =>
    svc.fetch(
      new Request("http://localhost:8000/api/remember", {
        method: "POST",
        body,
        headers: {
          "content-type": "application/json",
          "x-public-key": "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
          "x-timestamp": "1767225600",
          ...headers,
        },
      }),
    );
  const four = "8cbf5d8fc163262b871b70c6bc1eb581c72ef6ad0c0a7acffca1e92815078cf9" +
    "225dd25e0daa4d8d36e4f8240b69e4b3b376eae654dbc7554517c2eb356a9b01";
  const six = "f2808ccbcf1cea4bb2cccd9410c5bdc51846b6f12adf1bd04be7c79fca169c5b" +
    "4b427d37db1300255a5c4ce3a2d4792006f5ba71d4163d17e489682395a12109";
  assert.equal((await request({ "x-signature": four })).status, 202);
  const answer = await request({
    "x-signature": six,
    "x-nonce": "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11",
    "x-account-id": `0x${"11".repeat(32)}`,
  });
  // Its signature verifies; its account is nobody's here.
  assertError(answer, [401, "account_not_authorized"]);
});

Deno.test("hex is accepted in either case, and signed as sent", async () => {
  verifies("4.1-8", "4.2-3");
  await using svc = await startRelayer();
  const headers = {
    "x-public-key": svc.key.publicKey.toUpperCase(),
    "x-delegate-key": "AB".repeat(32),
  };
  for (const form of [4, 6] as const) {
    assert.equal((await svc.post("/api/stats", {}, { form, headers })).status, 200);
    const request = svc.request("POST", "/api/stats", {}, { form });
    const signature = request.headers.get("x-signature")!.toUpperCase();
    request.headers.set("x-signature", signature);
    assert.equal((await svc.fetch(request)).status, 200);
  }
  const nonce = crypto.randomUUID().toUpperCase();
  assert.equal((await svc.post("/api/stats", {}, { nonce })).status, 200);
  const reused = await svc.post("/api/stats", {}, { nonce: nonce.toLowerCase() });
  assertError(reused, [401, "nonce_reused"]);
});

Deno.test("an empty optional header counts as absent", async () => {
  verifies("4.1-9", "4.2-1", "4.2-7");
  await using svc = await startRelayer();
  const empty = { "x-account-id": "", "x-delegate-key": "", "x-seal-session": "" };
  const cases: readonly SendOptions[] = [
    { form: 6, headers: empty },
    { form: 4, headers: { ...empty, "x-nonce": "", "idempotency-key": "" } },
  ];
  for (const options of cases) {
    assert.equal((await svc.post("/api/stats", {}, options)).status, 200);
  }
  const both = { accountId: svc.account.accountId };
  assert.equal((await svc.post("/api/stats", {}, both)).status, 200);
});

Deno.test("a signature covers every field, and fits no other request", async () => {
  verifies("4.2-8", "4.3-13");
  await using svc = await startRelayer();
  const changes: readonly ((request: Request) => Request)[] = [
    (request) => new Request(request, { body: '{"namespace":"b"}' }),
    (request) => new Request(request, { body: ' {"namespace":"a"}' }),
    (request) => new Request("http://localhost:8000/api/recall", request),
    (request) => new Request("http://localhost:8000/api/stats?a", request),
    ...["x-timestamp", "x-nonce", "x-account-id"].map((name) => (request: Request) => {
      const other: Record<string, string> = {
        "x-timestamp": String(Number(svc.clock.seconds) - 1),
        "x-nonce": crypto.randomUUID(),
        "x-account-id": `0x${"1".repeat(64)}`,
      };
      request.headers.set(name, other[name] ?? "");
      return request;
    }),
    (request) => {
      request.headers.delete("x-account-id");
      return request;
    },
    (request) => {
      request.headers.set("x-public-key", new TestKey().publicKey);
      return request;
    },
  ];
  const make = () =>
    svc.request("POST", "/api/stats", { namespace: "a" }, { accountId: svc.account.accountId });
  assert.equal((await svc.fetch(make())).status, 200);
  for (const [index, change] of changes.entries()) {
    assertError(await svc.fetch(change(make())), INVALID, {}, String(index));
  }
  const get = svc.request("GET", "/api/account");
  assert.equal((await svc.fetch(get)).status, 200);
  const memory = `/api/memories/${crypto.randomUUID()}`;
  const other = new Request(svc.request("GET", memory), { method: "DELETE" });
  assertError(await svc.fetch(other), INVALID);
});

Deno.test("weak keys and malleable signatures are refused at the door", async () => {
  verifies("4.3-14", "4.3-15", "4.3-16");
  await using svc = await startRelayer();
  const L = ed25519.Point.Fn.ORDER;
  const request = svc.request("POST", "/api/stats", {});
  const signature = Uint8Array.fromHex(request.headers.get("x-signature") ?? "");
  let s = 0n;
  for (const byte of signature.slice(32).toReversed()) s = s << 8n | BigInt(byte);
  let larger = s + L;
  for (let i = 32; i < 64; i++, larger >>= 8n) signature[i] = Number(larger & 255n);
  request.headers.set("x-signature", signature.toHex());
  assertError(await svc.fetch(request), INVALID);
  const weak = [
    "01" + "00".repeat(31),
    "00".repeat(32),
    "ec" + "ff".repeat(30) + "7f",
    "ee" + "ff".repeat(30) + "7f",
    "01" + "00".repeat(30) + "80",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  ];
  for (const publicKey of weak) {
    const options = { key: key(new Uint8Array(32), publicKey) };
    // R = identity and S = 0 fit every message under such a key.
    const headers = { "x-signature": "01" + "00".repeat(63) };
    assertError(await svc.post("/api/stats", {}, { ...options, headers }), INVALID, {}, publicKey);
  }
});
