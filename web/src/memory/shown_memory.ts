import type { Hit, Memory } from "../../../src/client/results.ts";
import type { Dated } from "./standing/groups.ts";

/** What a card shows of a memory. */
export type ShownMemory =
  & Dated
  & Pick<Memory | Hit, "namespace" | "text">
  & Partial<
    Pick<
      Memory,
      | "text_error"
      | "expires_at"
      | "source"
      | "version"
      | "updated_at"
      | "trust"
      | "restated"
      | "written_by"
      | "written_by_label"
    >
  >;

/** The text of a memory, or why there is none. */
export function textOrReason({ text, source, text_error: code }: ShownMemory): string {
  if (text !== undefined) return text;
  if (source === "manual") return "Encrypted by the app that saved it.";
  return `This memory cannot be opened right now${code === undefined ? "" : ` (${code})`}.`;
}

/** Characters of a text that stand for it. */
const BEGINNING = 60;

/** The beginning of a memory's text. */
export function beginningOf(memory: ShownMemory): string {
  return textOrReason(memory).slice(0, BEGINNING);
}
