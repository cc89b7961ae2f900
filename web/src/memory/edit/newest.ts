import type { SvcClient } from "../../../../src/client/client.ts";
import type { AnswerOf } from "../../../../src/wire/route_types.ts";

/** How often and how often in all a change of somebody else is looked for, in milliseconds. */
const POLL_MS = 400;
const POLLS = 15;

/** A memory with its versions. */
export type MemoryNow = AnswerOf<"GET /api/memories/:id">;

/**
 * A memory, once it has another version than this one: a change that was accepted counts before it
 * can be read. After a while it is answered as it is.
 */
export async function newerThan(
  client: SvcClient,
  memoryId: string,
  version: number,
): Promise<MemoryNow> {
  for (let poll = 1;; poll++) {
    const memory = await client.memory(memoryId);
    if (memory.version !== version || poll === POLLS) return memory;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
