import assert from "node:assert/strict";
import type { SvcClient } from "../../../src/client/client.ts";
import { DEFAULT_CONFIG, type RelayerConfig } from "../../../src/interfaces/config.ts";
import type { BackendSource } from "../../../src/interfaces/plugin.ts";
import { createRelayer, type Relayer } from "../../../src/relayer.ts";

/** The relayer key of every test of moves. */
export const KEY = new Uint8Array(32).fill(7);

/** A relayer in a folder of its own. */
export function relayerIn(
  dataDir: string,
  backends: readonly BackendSource[],
  config: Partial<RelayerConfig> = {},
  relayerKey = KEY,
): Promise<Relayer> {
  return createRelayer({
    dataDir,
    relayerKey,
    backends,
    config: { rateLimit: { ...DEFAULT_CONFIG.rateLimit, disabled: true }, ...config },
  });
}

/** What was written, to be looked for afterwards. */
export interface Written {
  readonly deleted: string;
  readonly answered: { readonly key: string; readonly id: string };
}

/** Writes memories with versions, links, namespaces, expiries and deletions. */
export async function write(client: SvcClient, count: number): Promise<Written> {
  const items = Array.from({ length: count }, (_, i) => ({
    text: `Note ${i} of ${i % 7} about peanuts and Zlin`,
    namespace: i % 3 === 0 ? "work" : "default",
  }));
  const chunks = Array.from({ length: Math.ceil(count / 20) }, (_, i) => i * 20);
  const written = await Promise.all(chunks.map(async (at) => {
    const { job_ids } = await client.rememberBulk(items.slice(at, at + 20));
    const { results } = await client.waitForAll(job_ids);
    return results.map((job) => "memory_id" in job ? String(job.memory_id) : "");
  }));
  const ids = written.flat();
  await client.updateMemory(ids[1]!, { text: "Note 1, corrected" });
  await client.updateMemory(ids[1]!, { text: "Note 1, corrected again" });
  await client.deleteMemory(ids[2]!);
  await client.remember("What is gone as a whole", { namespace: "gone" });
  await client.forget("gone");
  await client.remember("This ends", { expires_at: "2100-01-01T00:00:00Z" });
  await client.remember(`Long: ${"word ".repeat(8000)}`);
  const key = crypto.randomUUID();
  const { memory_id: id } = await client.remember("Answered once", {}, { idempotencyKey: key });
  await client.recall("peanuts");
  return { deleted: ids[2]!, answered: { key, id } };
}

/** Everything that an account can see, in a form that can be compared. */
export async function everything(client: SvcClient, { deleted }: Written): Promise<string[]> {
  const lines = [];
  for await (const line of client.exportMemories(undefined, { history: true })) {
    const { exported_at: _, ...rest } = line;
    lines.push(JSON.stringify(rest));
  }
  const recalled = await client.recall("what about Zlin", { limit: 20 });
  const receipt = await client.receipt([deleted]);
  const { keys, ...account } = await client.accountKeys();
  return [
    ...lines.sort(),
    JSON.stringify(recalled.results.map(({ memory_id, text, score }) => [memory_id, text, score])),
    JSON.stringify((await client.namespaces()).namespaces),
    JSON.stringify((await client.receiptKey()).public_key),
    JSON.stringify(Object.keys(receipt)),
    JSON.stringify(keys.map(({ last_used_at: _, ...key }) => key)),
    JSON.stringify(account),
  ];
}

/** A request that was answered before is answered the same, and nothing is done. */
export async function answersAgain(client: SvcClient, { answered }: Written): Promise<void> {
  const control = { idempotencyKey: answered.key };
  const { memory_id } = await client.remember("Answered once", {}, control);
  assert.equal(memory_id, answered.id);
}
