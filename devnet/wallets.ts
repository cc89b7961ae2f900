import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { hash } from "./sui/ids.ts";

/** A wallet whose key follows from the devnet's seed. Anybody who knows the seed has it. */
export function walletOf(seed: number, name: string): Ed25519Keypair {
  const secret = hash(new TextEncoder().encode(`devnet:${seed}:wallet:${name}`));
  return Ed25519Keypair.fromSecretKey(secret);
}
