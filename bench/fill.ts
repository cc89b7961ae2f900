import type { Backends } from "../src/interfaces/mod.ts";
import { encodeRecord } from "../src/memory/record.ts";
import { TimeOrderedIds } from "../src/jobs/job_ids.ts";
import { configuredSources } from "../src/program/plugins.ts";
import { createRelayer } from "../src/relayer.ts";
import { readSettings } from "../src/program/settings/mod.ts";
import type { DataFolder } from "./data_folder.ts";
import { uniform, unitVector } from "./statistics.ts";

const BATCH = 256;
const WORDS = "tea coffee Lisbon train piano garden winter notes doctor bicycle window letter lake"
  .split(" ");

/** A sentence of about 60 characters, another one for every number. */
export function sentence(i: number): string {
  const random = uniform(i + 1);
  const words = Array.from({ length: 8 }, () => WORDS[Math.floor(random() * WORDS.length)]!);
  return `Note ${i}: ${words.join(" ")}`;
}

/**
 * Fills namespaces of the folder's first account without embedding: real records, sealed and
 * indexed by the real backends, under random vectors of length 1. Exact search costs the same
 * whatever the vectors are. `more` chooses other backends than the embedded ones.
 */
export async function fill(
  folder: DataFolder,
  counts: Readonly<Record<string, number>>,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const env = { ...folder.env(0), ...more };
  const { settings } = readSettings(env);
  await using relayer = await createRelayer({
    dataDir: folder.dataDir,
    relayerKey: folder.relayerKey,
    backends: await configuredSources(settings, env),
  });
  for (const [namespace, count] of Object.entries(counts)) {
    await fillOne(relayer.backends, folder, namespace, count);
  }
}

async function fillOne(
  { cipher, vectorStore, embedder }: Backends,
  { account }: DataFolder,
  namespace: string,
  count: number,
): Promise<void> {
  const random = uniform(count);
  const ids = new TimeOrderedIds();
  const now = Date.now();
  const scope = { owner: account.owner, namespace };
  for (let start = 0; start < count; start += BATCH) {
    const length = Math.min(BATCH, count - start);
    const entries = await Promise.all(Array.from({ length }, async (_, i) => {
      const id = ids.next(now);
      const time = new Date(now).toISOString();
      const plain = encodeRecord({
        v: 1,
        id,
        version: 1,
        text: sentence(start + i),
        created_at: time,
        updated_at: time,
        importance: 0.5,
        source: "remember",
      });
      const context = { ...scope, accountId: account.accountId, memoryId: id };
      const { record, keyId } = await cipher.seal(plain, context);
      return {
        ...scope,
        id,
        version: 1,
        vectors: [unitVector(embedder.dimensions, random)],
        payload: record,
        keyId,
        // As after a while: a memory whose blob is not stored yet is not packed either.
        blobId: crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url" }),
        createdAt: now,
        updatedAt: now,
        importance: 0.5,
        source: "remember" as const,
        bytes: record.length,
      };
    }));
    await vectorStore.upsert(entries);
  }
}
