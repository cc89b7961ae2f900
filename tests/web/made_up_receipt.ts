import { generateKeyPairSync, sign } from "node:crypto";
import { type Receipt, receiptMessage, type Survivor } from "../../src/wire/signing/receipts.ts";

/** A receipt by a key of its own, as a relayer makes it. */
export function madeUpReceipt(
  memoryIds: readonly string[],
  survives: readonly Survivor[],
): Receipt {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const at = new Date().toISOString();
  const statement = JSON.stringify({
    v: 1,
    type: "svc-deletion",
    owner: `0x${"5f".repeat(32)}`,
    namespace: "default",
    memory_ids: memoryIds,
    deleted_at: at,
    issued_at: at,
    erased: survives.length === 0,
    survives,
  });
  const der = publicKey.export({ type: "spki", format: "der" });
  return {
    statement,
    signature: sign(null, receiptMessage(statement), privateKey).toString("hex"),
    public_key: der.subarray(-32).toString("hex"),
  };
}
