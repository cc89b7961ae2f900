import assert from "node:assert/strict";
import { localAccounts } from "../../plugins/local/mod.ts";
import { folderForTests } from "../plugins/sealer_for_tests.ts";
import { startRelayer, TestClock, TestKey } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";
import { notOnPostgres } from "../test_store.ts";
import { assertError } from "./case.ts";
import { keyParams, ownerCall, ownerPost } from "./owner.ts";
import { ed25519Wallet, secp256k1Wallet } from "./wallet.ts";

for (
  const [name, makeWallet] of [["Ed25519", ed25519Wallet], ["secp256k1", secp256k1Wallet]] as const
) {
  Deno.test(`an owner manages an account with a wallet: ${name}`, async () => {
    verifies("9.2-4", "9.2-5", "9.2-6", "9.2-7", "9.2-8", "2-14", "2-15");
    await using svc = await startRelayer();
    const wallet = makeWallet();
    const key = new TestKey();
    const ask = async () => (await svc.post("/api/stats", {}, { key })).status;
    assert.equal(await ask(), 401);

    const created = await ownerCall(svc, wallet, "create", "/accounts");
    assert.equal(created.status, 201);
    const { account_id } = created.body;
    assert.match(account_id, /^0x[0-9a-f]{64}$/);
    const { address: owner } = wallet;
    assert.deepEqual(created.body, { account_id, owner, active: true, keys: [] });

    svc.clock.advance(60_000);
    const params = {
      ...keyParams(account_id, key),
      label: "laptop",
      expires_at: "2999-01-01T00:00:00Z",
    };
    const added = await ownerCall(svc, wallet, "add_key", `/accounts/${account_id}/keys`, params);
    assert.equal(added.status, 200);
    const [listed] = added.body.keys;
    assert.match(listed.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(listed, {
      public_key: key.publicKey,
      address: key.address,
      label: "laptop",
      permissions: ["read"],
      created_at: listed.created_at,
      expires_at: "2999-01-01T00:00:00.000Z",
    });
    assert.equal(await ask(), 200);

    const base = `/accounts/${account_id}`;
    const off = await ownerCall(svc, wallet, "deactivate", `${base}/deactivate`);
    assert.equal(off.body.active, false);
    assert.equal(await ask(), 401);
    const on = await ownerCall(svc, wallet, "reactivate", `${base}/reactivate`);
    assert.equal(on.body.active, true);
    assert.equal(await ask(), 200);
    svc.clock.advance(60_000);
    const removal = { public_key: key.publicKey };
    const removed = await ownerCall(svc, wallet, "remove_key", `${base}/keys/remove`, removal);
    assert.deepEqual(removed.body.keys, []);
    assert.equal(await ask(), 401);
  });
}

Deno.test("accounts and keys exist once", async () => {
  verifies("9.2-17", "9.2-18");
  await using svc = await startRelayer();
  const wallet = ed25519Wallet();
  const { body: { account_id } } = await ownerCall(svc, wallet, "create", "/accounts");
  const again = await ownerCall(svc, wallet, "create", "/accounts");
  assertError(again, [409, "account_exists"]);
  const params = keyParams(account_id, svc.key);
  const taken = await ownerCall(svc, wallet, "add_key", `/accounts/${account_id}/keys`, params);
  assertError(taken, [409, "key_exists"]);
});

for (const registry of ["the fixture's", "local"]) {
  Deno.test(`the parameters of a key are checked: ${registry} accounts`, async () => {
    verifies("16-11", "5-13", "5-14", "9.2-5", "9.2-21", "3-2");
    await using folder = await folderForTests();
    const clock = new TestClock();
    const backends = registry === "local"
      ? { accounts: localAccounts({ dataDir: folder.path, now: clock.now }) }
      : {};
    await using svc = await startRelayer({ clock, backends });
    const wallet = ed25519Wallet();
    const { body: { account_id } } = await ownerCall(svc, wallet, "create", "/accounts");
    const valid = keyParams(account_id);
    const cases: readonly (readonly [change: object, status: number, field?: string])[] = [
      [{ public_key: "ab" }, 400, "params.public_key"],
      [{ public_key: 1 }, 422, "params.public_key"],
      [{ label: "" }, 400, "params.label"],
      [{ label: "é".repeat(32) + "a" }, 400, "params.label"],
      [{ permissions: [] }, 400, "params.permissions"],
      [{ permissions: ["admin"] }, 422, "params.permissions[0]"],
      [{ expires_at: "2020-01-01T00:00:00Z" }, 400, "params.expires_at"],
      [{ expires_at: "tomorrow" }, 422, "params.expires_at"],
      [{ label: null }, 422, "params.label"],
      [{ proof: undefined }, 422, "params.proof"],
      [{ proof: null }, 422, "params.proof"],
      [{ label: "é".repeat(32) }, 200],
      [{ ...keyParams(account_id), expires_at: null }, 200],
    ];
    const path = `/accounts/${account_id}/keys`;
    for (const [change, status, field] of cases) {
      svc.clock.advance(60_000);
      const answer = await ownerCall(svc, wallet, "add_key", path, { ...valid, ...change });
      const code = status === 422 ? "invalid_request" : "invalid_parameter";
      if (field === undefined) assert.equal(answer.status, status, answer.text);
      else assertError(answer, [status, code], { field }, JSON.stringify(change));
    }
  });
}

Deno.test("the parameters of a challenge are checked", async () => {
  verifies("5-13", "5-14");
  await using svc = await startRelayer();
  const wallet = ed25519Wallet();
  const challenge = (body: unknown) => ownerPost(svc, "/accounts/challenge", body);
  const params = {};
  for (
    const [body, status, field] of [
      [{ address: "0x1", action: "create", params }, 400, "address"],
      [{ address: wallet.address, action: "destroy", params }, 422, "action"],
      [{ address: wallet.address, action: "create" }, 422, "params"],
    ] as const
  ) {
    const code = status === 422 ? "invalid_request" : "invalid_parameter";
    assertError(await challenge(body), [status, code], { field });
  }
});

Deno.test("pages of other origins and names of other hosts are refused", async () => {
  verifies("9.2-11", "9.2-12");
  await using svc = await startRelayer({
    config: { publicUrl: "https://memory.example.com", allowedHosts: ["other.example.com"] },
  });
  const body = { address: svc.owner, action: "create", params: {} };
  const ask = (options: Parameters<typeof ownerPost>[3]) => {
    svc.clock.advance(60_000);
    return ownerPost(svc, "/accounts/challenge", body, options);
  };
  for (const origin of ["http://localhost:5174", "https://localhost:5173", "null", null]) {
    assertError(await ask({ origin }), [403, "origin_not_allowed"], {}, String(origin));
  }
  const hosts = [
    "127.0.0.1:8000",
    "[::1]:8000",
    "localhost:8000",
    "LOCALHOST:8000",
    "memory.example.com",
    "memory.example.com:8443",
    "other.example.com:443",
  ];
  svc.relayer.listensAt("http://127.0.0.1:8000");
  for (const host of hosts) assert.equal((await ask({ host })).status, 200, host);
  const refused = [
    "6.6.6.6:8000",
    "192.0.2.1:80",
    "evil.example.com",
    "localhost",
    "localhost:8001",
    "[::1]",
    "127.0.0.2:8000",
    "localhost.example.com:8000",
    "1.2.3",
    "127.0.0.1.nip.io:8000",
  ];
  for (const host of refused) {
    assertError(await ask({ host }), [403, "host_not_allowed"], {}, host);
  }
});

Deno.test("with any host allowed the origin still counts", async () => {
  verifies("9.2-11", "9.2-12");
  await using svc = await startRelayer({ config: { allowedHosts: ["*"] } });
  const body = { address: svc.owner, action: "create", params: {} };
  const host = "any.example.com";
  assert.equal((await ownerPost(svc, "/accounts/challenge", body, { host })).status, 200);
  const answer = await ownerPost(svc, "/accounts/challenge", body, { host, origin: null });
  assertError(answer, [403, "origin_not_allowed"]);
});

const TEN = notOnPostgres(
  "ten calls a minute and address",
  "waits as long as the server's clock says",
);

Deno.test(...TEN, async () => {
  verifies("9.2-14");
  await using svc = await startRelayer();
  svc.clock.freeze();
  const body = { address: svc.owner, action: "create", params: {} };
  const ask = (peer?: string) =>
    ownerPost(svc, "/accounts/challenge", body, peer === undefined ? {} : { peer });
  for (let i = 0; i < 10; i++) assert.equal((await ask()).status, 200);
  const denied = await ask();
  assertError(denied, [429, "rate_limited"], {
    layer: "owner_ip",
    limit: "10 weighted-requests/min",
  });
  assert.equal(denied.headers.get("retry-after"), "60");
  assert.equal((await ask("192.0.2.1")).status, 200);
  svc.clock.advance(60_000);
  assert.equal((await ask()).status, 200);
});

Deno.test("strangers cannot create accounts unless registration is open", async () => {
  verifies("9.2-15", "9.2-16");
  const wallet = ed25519Wallet();
  const body = { challenge: "x", signature: "x", params: {} };
  await using closed = await startRelayer();
  const from = (peer: string, headers = {}) =>
    ownerPost(closed, "/accounts", body, { peer, headers });
  for (const peer of ["192.0.2.1", "2001:db8::1", "10.0.0.1"]) {
    assertError(await from(peer), [403, "registration_closed"], {}, peer);
  }
  for (const peer of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
    assertError(await from(peer), [401, "owner_proof_invalid"], {}, peer);
  }
  // Who names no proxy has one all the same.
  for (const header of ["x-forwarded-for", "x-forwarded-proto", "via"]) {
    const hidden = await from("127.0.0.1", { [header]: "127.0.0.1" });
    assertError(hidden, [403, "registration_closed"], {}, header);
  }

  await using open = await startRelayer({ config: { openRegistration: true } });
  const peer = "192.0.2.1";
  const request = { address: wallet.address, action: "create", params: {} };
  const { body: { challenge } } = await ownerPost(open, "/accounts/challenge", request, { peer });
  const signature = wallet.signPersonalMessage(challenge);
  const proof = { challenge, signature, params: {} };
  assert.equal((await ownerPost(open, "/accounts", proof, { peer })).status, 201);
});

Deno.test("where accounts are managed elsewhere there are no owner routes", async () => {
  verifies("9.2-19");
  await using svc = await startRelayer();
  const { accounts } = svc.backends;
  const { resolve, get } = accounts;
  const foreign = { resolve, get, [Symbol.asyncDispose]: () => Promise.resolve() };
  await using other = await startRelayer({
    backends: { accounts: foreign },
    existing: { key: svc.key, account: svc.account },
  });
  assert.equal((await other.post("/api/stats", {})).status, 200);
  const id = svc.account.accountId;
  for (const path of ["", "/challenge", `/${id}/keys`, `/${id}/keys/remove`, `/${id}/deactivate`]) {
    assertError(await ownerPost(other, `/accounts${path}`, {}), [404, "not_found"], {}, path);
  }
});
