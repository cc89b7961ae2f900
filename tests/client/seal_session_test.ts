import assert from "node:assert/strict";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { SessionKey } from "@mysten/seal";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { SvcClient } from "../../src/client/client.ts";
import { makeSealSession } from "../../src/client/seal_session.ts";
import { makeSigner } from "../../src/client/signer.ts";
import { errorResponse, SvcError } from "../../src/errors.ts";
import { fakeRelayer } from "./fake_relayer.ts";

const SEED = new Uint8Array(32).fill(7);
const PACKAGE = `0x${"2a".repeat(32)}`;

/** A client that asks nobody. */
const suiClient = new SuiGrpcClient({ network: "localnet", baseUrl: "http://127.0.0.1:9" });

/** Imports a header with Seal's own code and has it check the signature. */
async function imported(header: string): Promise<SessionKey> {
  const data = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(header)));
  const { personalMessageSignature, ...rest } = data;
  const session = SessionKey.import(rest, suiClient);
  await session.setPersonalMessageSignature(personalMessageSignature);
  return session;
}

Deno.test("Seal's own session key takes a session over, signature and all", async () => {
  const signer = await makeSigner(SEED);
  const { header, renewAt } = await makeSealSession(signer, PACKAGE, Date.now());
  const session = await imported(header);
  assert.equal(session.getAddress(), Ed25519Keypair.fromSecretKey(SEED).toSuiAddress());
  assert.equal(session.getPackageId(), PACKAGE);
  assert.equal(session.isExpired(), false);
  assert.ok(renewAt > Date.now() + 5 * 60_000);
  assert.equal((await session.getCertificate()).ttl_min, 10);
});

Deno.test("a client makes a session for a job that cannot go on without one", async () => {
  const job = { job_id: crypto.randomUUID(), status: "pending", recallable: false };
  await using relayer = fakeRelayer({
    "GET /config": () => Response.json({ packageId: PACKAGE }),
    [`GET /api/remember/${job.job_id}`]: ({ headers }) =>
      Response.json(
        headers.has("x-seal-session")
          ? { ...job, status: "done", recallable: true }
          : { ...job, waits_for: "credential" },
      ),
  });
  const client = new SvcClient({ baseUrl: relayer.url, privateKey: SEED.toHex() });
  assert.equal((await client.waitFor(job.job_id)).status, "done");
  const sent = relayer.received.filter(({ target }) => target.includes("remember"));
  assert.deepEqual(sent.map(({ headers }) => headers.has("x-seal-session")), [false, true]);
});

Deno.test("a client makes a session when the relayer asks for one, and renews it", async () => {
  const needs = errorResponse(new SvcError("decrypt_credential_required"), "r");
  const answers: Response[] = [];
  await using relayer = fakeRelayer({
    "GET /config": () => Response.json({ packageId: PACKAGE }),
    "POST /api/recall": ({ headers }) =>
      headers.has("x-seal-session")
        ? answers.shift() ?? Response.json({ results: [], total: 0 })
        : needs.clone(),
  });
  let now = Date.now();
  const client = new SvcClient({
    baseUrl: relayer.url,
    privateKey: SEED.toHex(),
    now: () => now,
  });
  assert.equal((await client.recall("tea")).total, 0);
  assert.equal((await client.recall("tea")).total, 0);
  const sent = () =>
    relayer.received.filter(({ target }) => target === "/api/recall")
      .map(({ headers }) => headers.get("x-seal-session"));
  const [none, first, second] = sent();
  assert.equal(none, null);
  assert.equal(first, second);
  await imported(first!);
  now += 9 * 60_000 + 1;
  await client.recall("tea");
  assert.notEqual(sent()[3], first);
  // A session that is not taken, any more, is made anew once.
  const refusal = () => errorResponse(new SvcError("decrypt_credential_invalid"), "r");
  answers.push(refusal());
  assert.equal((await client.recall("tea")).total, 0);
  answers.push(refusal(), refusal());
  await assert.rejects(client.recall("tea"), { code: "decrypt_credential_invalid" });
  // What nobody decrypts for carries none.
  await assert.rejects(client.remember("tea"), { code: "not_found" });
  assert.equal(relayer.received.at(-1)!.headers.has("x-seal-session"), false);
});

Deno.test("an export asks for a session as everything else does", async () => {
  const lines = [
    { type: "header", format: "svc-export/1", owner: PACKAGE, exported_at: "2026-01-01T00:00:00Z" },
    { type: "end", memories: 0, errors: 0 },
  ];
  await using relayer = fakeRelayer({
    "GET /config": () => Response.json({ packageId: PACKAGE }),
    "POST /api/export": ({ headers }) =>
      headers.has("x-seal-session")
        ? new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
        : errorResponse(new SvcError("decrypt_credential_required"), "r"),
  });
  const client = new SvcClient({ baseUrl: relayer.url, privateKey: SEED.toHex() });
  const seen = await Array.fromAsync(client.exportMemories());
  assert.deepEqual(seen.map(({ type }) => type), ["header", "end"]);
});

Deno.test("no session is made for what is no package", async () => {
  await using relayer = fakeRelayer({
    "GET /config": () => Response.json({ packageId: `${PACKAGE} for 30 mins` }),
    "POST /api/recall": () => errorResponse(new SvcError("decrypt_credential_required"), "r"),
  });
  const client = new SvcClient({ baseUrl: relayer.url, privateKey: SEED.toHex() });
  await assert.rejects(client.recall("tea"), /package/);
  assert.equal(relayer.received.filter(({ target }) => target === "/api/recall").length, 1);
});

Deno.test("a client that was given a credential makes none", async () => {
  await using relayer = fakeRelayer({
    "POST /api/recall": () => errorResponse(new SvcError("decrypt_credential_required"), "r"),
  });
  const client = new SvcClient({
    baseUrl: relayer.url,
    privateKey: SEED.toHex(),
    sealSession: "e30=",
  });
  await assert.rejects(client.recall("tea"), { code: "decrypt_credential_required" });
  assert.equal(relayer.received.length, 1);
});
