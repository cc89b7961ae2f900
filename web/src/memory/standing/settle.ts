import type { SvcClient } from "../../../../src/client/client.ts";
import type { MemoryUpdate } from "../../../../src/client/requests.ts";
import type { UpdateAccepted } from "../../../../src/client/results.ts";
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

/** Waits until a change counts. */
async function arrived(client: SvcClient, { job_id: id }: UpdateAccepted): Promise<void> {
  const job = await client.waitFor(id);
  if (job.status === "failed") throw new Error(job.error ?? "The change was not saved");
  if (!job.recallable && job.status !== "done") {
    throw new Error("The change is saved, but takes longer than usual to count. Look again later.");
  }
}

/** Writes a version with the same text, and waits until it counts. */
async function change(client: SvcClient, now: MemoryNow, update: MemoryUpdate): Promise<void> {
  const { memory_id: id, version } = now;
  const copy = { from_version: version, expected_version: version, ...update };
  await arrived(client, await client.updateMemory(id, copy));
}

/** Reads memories before any is changed: with one that is gone there is nothing to settle. */
async function allThere(client: SvcClient, ids: readonly string[]): Promise<void> {
  for (const id of ids) await client.memory(id);
}

/** Has a memory say of others that they are about something else, where a link ties it to them. */
async function untie(client: SvcClient, id: string, others: readonly string[]): Promise<void> {
  const { links = [] } = await client.memory(id);
  const tied = links.filter(({ kind, memory_id: other }) =>
    kind !== "distinct" && others.includes(other)
  );
  for (const other of new Set(tied.map(({ memory_id }) => memory_id))) {
    const body = { memory_id: id, decision: "undo", other_id: other } as const;
    await arrived(client, await client.call("POST /api/review", { body, decrypts: true }));
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
 * Has memories count beside each other. Those that a link ties together are said to be about different
 * things, which every app is told; of others nobody knows that they were taken to disagree.
 *
 * @throws {SvcError} `memory_not_found`; `version_conflict` where somebody changed one meanwhile.
 */
export async function letAllCount(client: SvcClient, ids: readonly string[]): Promise<void> {
  await allThere(client, ids);
  for (const id of ids) await untie(client, id, ids);
  for (const id of ids) await giveBack(client, id);
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
  await allThere(client, [id, ...others]);
  // Else what a rule found would still wait for somebody to decide.
  for (const other of others) await untie(client, other, [id]);
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
