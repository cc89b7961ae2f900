import { TransactionError } from "@mysten/sui/client";
import { openSui, type SuiOptions } from "../../chain/sui_client.ts";

/** Whether the chain has executed a transaction; throws when the node does not answer. */
export async function wasExecuted(node: SuiOptions, digest: string): Promise<boolean> {
  try {
    await openSui(node).core.getTransaction({ digest });
    return true;
  } catch (error) {
    if (error instanceof TransactionError) return false;
    throw error;
  }
}
