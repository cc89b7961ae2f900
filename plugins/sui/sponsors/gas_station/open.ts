import { decodeSuiPrivateKey, type Keypair } from "@mysten/sui/cryptography";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { SvcError } from "../../../../src/errors.ts";
import type { Sponsor } from "../../../../src/interfaces/mod.ts";
import type { Secret } from "../../../../src/interfaces/plugin.ts";
import { openSui, type SuiOptions } from "../../chain/sui_client.ts";
import { GasStation, type GasStationOptions } from "./station.ts";

/** Opens a gas station that pays with the wallet of a private key. */
export function openGasStation(
  node: SuiOptions,
  key: Secret,
  options: Pick<GasStationOptions, "maxGasMist" | "log">,
): Sponsor {
  return new GasStation({ client: openSui(node), wallet: openWallet(key), ...options });
}

/**
 * The wallet of a private key: `suiprivkey…`, or 64 hex characters of an Ed25519 seed.
 *
 * @throws {SvcError} `invalid_parameter`, which does not quote the key.
 */
function openWallet(key: Secret): Keypair {
  const text = key.reveal().trim();
  try {
    const hex = text.replace(/^0x/, "");
    if (/^[0-9a-fA-F]{64}$/.test(hex)) return Ed25519Keypair.fromSecretKey(Uint8Array.fromHex(hex));
    const { scheme, secretKey } = decodeSuiPrivateKey(text);
    if (scheme === "ED25519") return Ed25519Keypair.fromSecretKey(secretKey);
    if (scheme === "Secp256k1") return Secp256k1Keypair.fromSecretKey(secretKey);
    if (scheme === "Secp256r1") return Secp256r1Keypair.fromSecretKey(secretKey);
  } catch {
    // The library's message may quote the key.
  }
  throw new SvcError("invalid_parameter", "SVC_SPONSOR_PRIVATE_KEY is no private key of Sui");
}
