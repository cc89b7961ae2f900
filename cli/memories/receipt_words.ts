import type { ReceiptStatement, Survivor } from "../../src/client/mod.ts";
import { onOneLine } from "../../src/printable.ts";
import { counted, when } from "../output.ts";

const PLACES: Readonly<Record<string, string>> = {
  files: "traces in files of the relayer",
  blob: "encrypted in the blob store",
};

/** The items of a list that a relayer made, which may be none at all. */
function items<T>(list: readonly T[]): readonly T[] {
  return Array.isArray(list) ? list : [];
}

function survivorWords({ what, memory_ids, until }: Survivor, total: number): string {
  const place = onOneLine(Object.hasOwn(PLACES, what) ? PLACES[what]! : String(what));
  const some = items(memory_ids ?? []).length;
  const of = some > 0 && some < total ? ` of ${counted(some, "memory", "memories")}` : "";
  const end = typeof until !== "string"
    ? "for how long is not known"
    : Date.parse(until) <= Date.now()
    ? `due to be gone ${when(until)}`
    : `gone ${when(until)}`;
  return `${place}${of}, ${end}`;
}

/** Whether everything is erased, or what is left and until when; a sentence. */
export function erasureWords(statement: ReceiptStatement): string {
  if (statement.erased === true) return "Nothing of it is left anywhere.";
  const total = items(statement.memory_ids).length;
  const left = items(statement.survives).map((one) => survivorWords(one, total));
  if (left.length === 0) return "Something of it is left; the relayer does not say what.";
  return `What is left: ${left.join("; ")}.`;
}

/** What a receipt says, in sentences, one a line. */
export function receiptWords(statement: ReceiptStatement): string {
  const ids = items(statement.memory_ids);
  const { namespace, deleted_at, issued_at } = statement;
  const verb = ids.length === 1 ? "was" : "were";
  return `${counted(ids.length, "memory", "memories")} of "${onOneLine(String(namespace))}" ` +
    `${verb} deleted ${when(String(deleted_at))}; said ${when(String(issued_at))}.\n` +
    `${erasureWords(statement)}\n`;
}
