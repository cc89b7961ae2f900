import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { SealClient, SessionKey } from "@mysten/seal";
import { installSeal } from "../../devnet/seal/install.ts";
import { startParts } from "./parts_fixture.ts";

const PACKAGE = `0x${"11".repeat(32)}`;

interface Certificate {
  readonly user: string;
  readonly creation_time: number;
  readonly ttl_min: number;
  readonly signature: string;
  readonly mvr_name?: string;
}

/** A request for keys as the SDK sends it. */
interface KeyRequestBody {
  readonly ptb: string;
  readonly enc_key: string;
  readonly request_signature: string;
  readonly certificate: Certificate;
}

interface Fixture extends AsyncDisposable {
  readonly url: string;
  readonly objectId: string;
  /** What the SDK sent to the server. */
  readonly sent: KeyRequestBody;
  /** Status and error code of the answer to a request. */
  ask(body: unknown): Promise<readonly [status: number, error: string | undefined]>;
}

async function start(): Promise<Fixture> {
  const parts = startParts();
  const seal = await installSeal(parts, { servers: 1 });
  const [server] = seal.keyServers;
  ok(server !== undefined);
  parts.chain.publish(PACKAGE);
  parts.chain.fn(`${PACKAGE}::policy::seal_approve`, () => {});
  const suiClient = parts.client();
  const bodies: string[] = [];
  const client = new SealClient({
    suiClient,
    serverConfigs: [{ objectId: server.objectId, weight: 1 }],
    fetch: (input, init) => {
      bodies.push(String(init?.body));
      return fetch(input, init);
    },
  });
  const signer = Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(3));
  const sessionKey = await SessionKey.create({
    address: signer.toSuiAddress(),
    packageId: PACKAGE,
    ttlMin: 5,
    signer,
    suiClient,
  });
  const tx = new Transaction();
  const target = `${PACKAGE}::policy::seal_approve`;
  tx.moveCall({ target, arguments: [tx.pure.vector("u8", [1])] });
  const txBytes = await tx.build({ client: suiClient, onlyTransactionKind: true });
  await client.fetchKeys({ ids: ["01"], txBytes, sessionKey, threshold: 1 });
  const sent: KeyRequestBody = JSON.parse(bodies[0] ?? "");
  return {
    url: server.url,
    objectId: server.objectId,
    sent,
    async ask(body) {
      const response = await fetch(`${server.url}/v1/fetch_key`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      const answer: { readonly error?: string } = await response.json();
      return [response.status, answer.error];
    },
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

/** Base64 of the same length that is not the same. */
const alter = (text: string) => {
  const bytes = Uint8Array.fromBase64(text);
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
  return bytes.toBase64();
};

Deno.test("a key server takes the SDK's request, and none that was altered", async () => {
  await using fixture = await start();
  const { sent, ask } = fixture;
  deepStrictEqual(await ask(sent), [200, undefined]);
  const certified = (change: Partial<Certificate>) =>
    ask({ ...sent, certificate: { ...sent.certificate, ...change } });
  const { signature, creation_time: created } = sent.certificate;
  deepStrictEqual(await certified({ signature: alter(signature) }), [403, "InvalidSignature"]);
  deepStrictEqual(await certified({ user: `0x${"22".repeat(32)}` }), [403, "InvalidSignature"]);
  deepStrictEqual(await certified({ ttl_min: 6 }), [403, "InvalidSignature"]);
  deepStrictEqual(await certified({ ttl_min: 31 }), [403, "InvalidCertificate"]);
  deepStrictEqual(await certified({ ttl_min: 0 }), [403, "InvalidCertificate"]);
  const hour = 3_600_000;
  deepStrictEqual(await certified({ creation_time: created - hour }), [403, "InvalidCertificate"]);
  deepStrictEqual(await certified({ creation_time: created + hour }), [403, "InvalidCertificate"]);
  deepStrictEqual(await certified({ mvr_name: "@a/b" }), [403, "InvalidMVRName"]);
  deepStrictEqual(
    await ask({ ...sent, request_signature: alter(sent.request_signature) }),
    [403, "InvalidSessionSignature"],
  );
  const otherKey = { ...sent, enc_key: alter(sent.enc_key) };
  deepStrictEqual(await ask(otherKey), [403, "InvalidSessionSignature"]);
  deepStrictEqual(await ask({ ...sent, ptb: "AAA=" }), [403, "InvalidPTB"]);
  deepStrictEqual(await ask({ ...sent, ptb: "%" }), [403, "InvalidParameter"]);
  deepStrictEqual(await ask("{"), [403, "InvalidParameter"]);
  deepStrictEqual(await ask({ ...sent, x: "y".repeat(180 * 1024) }), [403, "InvalidParameter"]);
});

Deno.test("a key server proves its key for its own object only", async () => {
  await using fixture = await start();
  const service = (id: string) => fetch(`${fixture.url}/v1/service?service_id=${id}`);
  const own = await service(fixture.objectId);
  strictEqual(own.headers.get("x-keyserver-version"), "0.6.0");
  const { service_id: served }: { readonly service_id: string } = await own.json();
  strictEqual(served, fixture.objectId);
  const other = await service(PACKAGE);
  strictEqual(other.status, 400);
  await other.body?.cancel();
  const unknown = await fetch(`${fixture.url}/v1/other`);
  strictEqual(unknown.status, 404);
  await unknown.body?.cancel();
});
