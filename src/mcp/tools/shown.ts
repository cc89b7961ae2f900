import type { Hit, Memory } from "../../client/results.ts";
import { writerWords } from "../../client/text/writer_words.ts";
import { oneLine } from "./results.ts";

/** The end of an id, which people and models can copy; `svc_update` and `svc_forget` take it, too. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** When a memory was said, as a day. */
export function dayOf(
  { occurred_at, created_at }: Pick<Memory, "occurred_at" | "created_at">,
): string {
  return (occurred_at ?? created_at).slice(0, 10);
}

/**
 * Lines for hosts that show models the text alone: day, id, and what was said; who wrote it, where
 * that was not the key that asks.
 */
export function memoryLines(own: string | undefined) {
  return (memory: Hit | Memory, index: number): string => {
    const text = memory.text ?? "(encrypted by the app that saved it)";
    const writer = memory.written_by === own ? undefined : writerWords(memory);
    const about = [
      dayOf(memory),
      shortId(memory.memory_id),
      ...(writer === undefined ? [] : [`by ${oneLine(writer)}`]),
    ];
    return `${index + 1}. [${about.join(" · ")}] ${oneLine(text)}`;
  };
}

/** The same for hosts that show models the data alone. */
export function memoryData(memory: Hit | Memory, namespace: string | undefined) {
  const { memory_id, text = "", metadata } = memory;
  const writer = writerWords(memory);
  return {
    memory_id,
    text,
    date: dayOf(memory),
    ...(writer === undefined ? {} : { written_by: writer }),
    ...(memory.namespace === namespace ? {} : { namespace: memory.namespace }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
