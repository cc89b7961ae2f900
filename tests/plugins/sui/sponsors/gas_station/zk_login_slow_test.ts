import assert from "node:assert/strict";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { computeZkLoginAddressFromSeed, getZkLoginSignature } from "@mysten/sui/zklogin";
import { RpcError } from "@protobuf-ts/runtime-rpc";
import { inProcessTransport } from "../../../../../devnet/sui/rpc/in_process.ts";
import { GasStation } from "../../../../../plugins/sui/sponsors/gas_station/station.ts";
import { MAX_GAS, World } from "./world.ts";

const ISSUER = "https://accounts.google.com";
const SEED = "13322897930163218532266430409510394316985274769125667290600321564259466511711";

/** A signature of the right form; what it proves is the node's to say. */
async function zkSignature(bytes: Uint8Array): Promise<Uint8Array> {
  const { signature: userSignature } = await new Ed25519Keypair().signTransaction(bytes);
  return Uint8Array.fromBase64(getZkLoginSignature({
    inputs: {
      proofPoints: {
        a: ["1", "2", "1"],
        b: [["1", "2"], ["3", "4"], ["1", "0"]],
        c: ["1", "2", "1"],
      },
      issBase64Details: {
        value: "yJpc3MiOiJodHRwczovL2FjY291bnRzLmdvb2dsZS5jb20iLC",
        indexMod4: 1,
      },
      headerBase64: "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEiLCJ0eXAiOiJKV1QifQ",
      addressSeed: SEED,
    },
    maxEpoch: "2",
    userSignature,
  }));
}

Deno.test("the node judges zkLogin signatures; when it is down they are not called wrong", async () => {
  await using world = new World();
  let verdict = (): boolean => false;
  const client = new SuiGrpcClient({
    network: "localnet",
    transport: inProcessTransport(world.node),
  });
  // The devnet has no SignatureVerificationService.
  client.core.verifyZkLoginSignature = async () => {
    await Promise.resolve();
    return { success: verdict(), errors: [] };
  };
  await using sponsor = new GasStation({ client, wallet: world.wallet, maxGasMist: MAX_GAS });
  const sender = computeZkLoginAddressFromSeed(BigInt(SEED), ISSUER, false);
  const { bytes, digest } = await sponsor.sponsor({ sender, kindBytes: await world.kind() });
  const signature = await zkSignature(bytes);
  await assert.rejects(sponsor.execute({ digest, signature }), {
    code: "invalid_sponsor_signature",
  });
  verdict = () => {
    throw new RpcError("down", "UNAVAILABLE");
  };
  await assert.rejects(sponsor.execute({ digest, signature }), { code: "sponsor_upstream_error" });
  assert.equal(world.calls.all.get("chain/ExecuteTransaction"), 1, "the split alone");
  // Another owner's is refused without asking; this one is handed on, to a devnet without zkLogin.
  verdict = () => true;
  await assert.rejects(sponsor.execute({ digest, signature }));
  assert.equal(world.calls.all.get("chain/ExecuteTransaction"), 2);
});
