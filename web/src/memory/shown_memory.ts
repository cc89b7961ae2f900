import type { Hit, Memory } from "../../../src/client/results.ts";

/** What a card shows of a memory. */
export type ShownMemory =
  & Pick<Memory | Hit, "memory_id" | "namespace" | "text" | "created_at" | "occurred_at">
  & Partial<Pick<Memory, "text_error" | "expires_at" | "source" | "version" | "updated_at">>;

/** The text of a memory, or why there is none. */
export function textOrReason({ text, source, text_error: code }: ShownMemory): string {
  if (text !== undefined) return text;
  if (source === "manual") return "Encrypted by the app that saved it.";
  return `This memory cannot be opened right now${code === undefined ? "" : ` (${code})`}.`;
}
