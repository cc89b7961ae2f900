import type { Hit, Memory } from "../../client/results.ts";
import { oneLine } from "./results.ts";

/** The end of an id, which people and models can copy; `svc_update` and `svc_forget` take it, too. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** When a memory was said, as a day. */
function dayOf({ occurred_at, created_at }: Pick<Memory, "occurred_at" | "created_at">): string {
  return (occurred_at ?? created_at).slice(0, 10);
}

/** A line for hosts that show models the text alone: day, id, and what was said. */
export function memoryLine(memory: Hit | Memory, index: number): string {
  const text = memory.text ?? "(encrypted by the app that saved it)";
  return `${index + 1}. [${dayOf(memory)} · ${shortId(memory.memory_id)}] ${oneLine(text)}`;
}

/** The same for hosts that show models the data alone. */
export function memoryData(memory: Hit | Memory, namespace: string | undefined) {
  const { memory_id, text = "", metadata } = memory;
  return {
    memory_id,
    text,
    date: dayOf(memory),
    ...(memory.namespace === namespace ? {} : { namespace: memory.namespace }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}
