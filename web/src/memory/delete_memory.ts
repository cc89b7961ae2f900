import { SvcError } from "../../../src/errors.ts";
import type { Session } from "../session.ts";

/** Deletes a memory; one that was deleted elsewhere is gone as well. */
export async function deleteMemory(session: Session, memoryId: string): Promise<void> {
  try {
    await session.ask((client) => client.deleteMemory(memoryId));
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "memory_not_found") throw error;
  }
}
