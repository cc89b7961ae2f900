import type { SvcClient } from "../../../../src/client/client.ts";
import type { MemoryUpdate } from "../../../../src/client/requests.ts";
import type { MemoryNow } from "../edit/newest.ts";

/** Most memories that are followed from one that took another's place to the next. */
const MOST_STEPS = 50;

/** Memories whose place a memory took by a link of its own. */
function linked({ links = [] }: MemoryNow): readonly string[] {
  return links.filter(({ kind }) => kind === "supersedes").map(({ memory_id: id }) => id);
}

const without = (ids: readonly string[], id: string) => {
  const left = ids.filter((one) => one !== id);
  return left.length === 0 ? null : left;
};

/** Writes a version with the same text, and waits until it counts. */
async function change(client: SvcClient, now: MemoryNow, update: MemoryUpdate): Promise<void> {
  const { memory_id: id, version } = now;
  const copy = { from_version: version, expected_version: version, ...update };
  const { job_id } = await client.updateMemory(id, copy);
  const job = await client.waitFor(job_id);
  if (job.status === "failed") throw new Error(job.error ?? "The change was not saved");
  if (!job.recallable && job.status !== "done") {
    throw new Error("The change is saved, but takes longer than usual to count. Look again later.");
  }
}

/** The memory that took a memory's place, if one did. */
async function successorOf(client: SvcClient, now: MemoryNow): Promise<MemoryNow | undefined> {
  return now.superseded_by === undefined ? undefined : await client.memory(now.superseded_by);
}

/** Has a memory count again, beside those that took its place. */
async function giveBack(client: SvcClient, id: string): Promise<void> {
  for (let step = 0; step < MOST_STEPS; step++) {
    const now = await client.memory(id);
    const successor = await successorOf(client, now);
    if (successor === undefined) return;
    const links = linked(successor);
    if (links.includes(id)) await change(client, successor, { supersedes: without(links, id) });
    // The other one keeps the key, so that the next one with it takes the place of that.
    else await change(client, now, { key: null });
  }
}

/**
 * Has memories count beside each other, and drops the links by which some of them were found to
 * disagree.
 *
 * @throws {SvcError} `memory_not_found`; `version_conflict` where somebody changed one meanwhile.
 */
export async function letAllCount(client: SvcClient, ids: readonly string[]): Promise<void> {
  for (const id of ids) await giveBack(client, id);
  for (const id of ids) {
    const now = await client.memory(id);
    const disagrees = now.links?.some(({ kind, memory_id }) =>
      kind === "conflicts" && ids.includes(memory_id)
    );
    if (!disagrees) continue;
    const links = linked(now);
    await change(client, now, { supersedes: links.length === 0 ? null : links });
  }
}

/**
 * Has a memory take the place of others, also of those that took its own. What they took the place of
 * stays over, and nothing is deleted.
 *
 * @throws {SvcError} `memory_not_found`; `version_conflict` where somebody changed one meanwhile.
 */
export async function takePlace(
  client: SvcClient,
  id: string,
  others: readonly string[],
): Promise<void> {
  const over = new Set(others);
  for (let step = 0; step < MOST_STEPS; step++) {
    const now = await client.memory(id);
    const successor = await successorOf(client, now);
    if (successor === undefined) {
      for (const one of linked(now)) over.add(one);
      return await change(client, now, { supersedes: [...over] });
    }
    over.add(successor.memory_id);
    const links = linked(successor);
    const isLinked = links.includes(id);
    // Who is right keeps the key that both have.
    await change(
      client,
      successor,
      isLinked ? { supersedes: without(links, id) } : { key: null },
    );
  }
}
