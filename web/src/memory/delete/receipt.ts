import type { AnswerOf } from "../../../../src/wire/route_types.ts";
import {
  type Receipt,
  type Survivor,
  verifyReceipt,
} from "../../../../src/wire/signing/receipts.ts";
import { saveFile } from "../../parts/save_file.ts";
import { inFull } from "../../text/format.ts";

/** What a relayer answers to a deletion. */
type Deleted = Pick<AnswerOf<"DELETE /api/memories/:id">, "erased" | "receipt">;

/** What became of what was deleted. */
export interface Outcome {
  /** Whether everything is erased, or what is left; empty where the relayer does not say. */
  readonly words: string;
  /** The relayer's signed statement. */
  readonly receipt?: Receipt | undefined;
}

/** What is left, and until when. */
function survivorWords({ what, memory_ids: ids, until }: Survivor): string {
  const whose = ids === undefined ? "" : ` (${ids.length})`;
  const where = what === "blob"
    ? `An encrypted copy${whose} is still in the blob store`
    : `Traces${whose} are still in the relayer's files`;
  if (until !== undefined) return `${where} until ${inFull(until)}.`;
  return what === "blob"
    ? `${where}; when it goes is not known.`
    : `${where}, and are overwritten soon.`;
}

/** What an answer says of a deletion. */
export function outcomeOf({ erased, receipt }: Deleted): Outcome {
  if (receipt === undefined) {
    if (erased === undefined) return { words: "" };
    return { words: erased ? "Nothing of it is left." : "Not all of it is erased yet." };
  }
  try {
    const { erased: isErased, survives } = verifyReceipt(receipt);
    const words = isErased ? "Nothing of it is left." : survives.map(survivorWords).join(" ");
    return { words, receipt };
  } catch {
    return { words: "The relayer's receipt is damaged: its signature does not fit.", receipt };
  }
}

/** Saves a receipt as a file of JSON. */
export function saveReceipt(receipt: Receipt): void {
  const text = `${JSON.stringify(receipt, undefined, 2)}\n`;
  const name = `svc-receipt-${receipt.signature.slice(0, 8)}.json`;
  saveFile(new Blob([text], { type: "application/json" }), name);
}
