import { createHash } from "node:crypto";
import { SvcError } from "../../errors.ts";
import type { Cipher, IndexEntry, Role, Scope } from "../../interfaces/mod.ts";
import type { CoreRow } from "../../storage/core_rows.ts";
import { bytesOf } from "./blobs.ts";
import { pagesOf } from "./index.ts";
import { bytesOfJob, type JobsOfPlace } from "./jobs.ts";
import { forEach } from "./parallel.ts";
import { type OpenPlace, type Place, scopesOf } from "./place.ts";

/** A digest of many things, in whatever order they come. */
export class Digest {
  readonly #sum = new Uint8Array(32);
  /** How many they are. */
  count = 0;

  /** Takes up one of them: text, or bytes. */
  add(...parts: readonly (string | Uint8Array)[]): void {
    const hash = createHash("sha256");
    for (const part of parts) hash.update(`${part.length} `).update(part);
    for (const [i, byte] of hash.digest().entries()) this.#sum[i]! ^= byte;
    this.count++;
  }

  toString(): string {
    return `${this.count} ${this.#sum.toHex()}`;
  }
}

/** JSON whose members are in one order, with bytes in hex. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member) => {
    if (member instanceof Uint8Array) return { hex: member.toHex() };
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => a < b ? -1 : 1));
  });
}

/** What a place holds of an owner. */
export interface Contents {
  readonly memories: Digest;
  readonly blobs: Digest;
  /** Deletions, versions, choices and keys. */
  readonly rows: Digest;
  readonly scopes: Digest;
}

function addEntry(digest: Digest, { vectors, payload, ...entry }: IndexEntry): void {
  const bytes = vectors.map(({ buffer, byteOffset, byteLength }) =>
    new Uint8Array(buffer, byteOffset, byteLength)
  );
  digest.add(canonical(entry), payload, ...bytes);
}

export function addRows(digest: Digest, rows: readonly CoreRow[]): void {
  for (const row of rows) digest.add(canonical(row));
}

/** Opens one record of each data key: a copy that nobody can open is none. */
async function checkKeys(
  cipher: Cipher,
  entries: readonly IndexEntry[],
  context: Scope & { readonly accountId: string },
  seen: Set<string>,
): Promise<void> {
  const probes = entries.filter(({ keyId, payload }) => keyId !== "" && payload.length > 0)
    .filter(({ keyId }) => !seen.has(keyId) && seen.add(keyId));
  if (probes.length === 0 || cipher.needsCredential) return;
  const items = probes.map(({ id, payload }) => ({ memoryId: id, record: payload }));
  for (const result of await cipher.open(items, context)) {
    if (result.status === "rejected") throw SvcError.from(result.reason);
  }
}

/** Reads all that a place holds of an owner; its part of the ledger is loaded. */
export async function contentsOf(
  place: OpenPlace,
  owner: string,
  accountId: string | undefined,
  stays: ReadonlySet<Role>,
): Promise<Contents> {
  const { core, backends: { vectorStore, blobStore, cipher } } = place;
  const contents = {
    memories: new Digest(),
    blobs: new Digest(),
    rows: new Digest(),
    scopes: new Digest(),
  };
  for (const count of await vectorStore.scopes(owner)) contents.scopes.add(canonical(count));
  const seen = new Set<string>();
  for (const scope of await scopesOf(place, owner)) {
    if (!stays.has("vectorStore")) {
      for await (const entries of pagesOf(vectorStore, scope)) {
        for (const entry of entries) addEntry(contents.memories, entry);
        if (accountId !== undefined) {
          await checkKeys(cipher, entries, { ...scope, accountId }, seen);
        }
      }
    }
    if (stays.has("blobStore")) continue;
    await forEach(blobStore.list(scope), async (info) => {
      contents.blobs.add(canonical({ ...scope, ...info }), await bytesOf(blobStore, info, scope));
    });
  }
  addRows(contents.rows, core.rows.of(owner));
  return contents;
}

/** Digest of ended jobs with their bytes. */
export async function digestOfJobs({ jobs }: Place, { ended, held }: JobsOfPlace) {
  const digest = new Digest();
  await forEach(ended.values(), async ({ payload, step, ...record }) => {
    const isHeld = held.has(record.id);
    const bytes = await Promise.all(
      [payload, step].map(async (stored) =>
        stored === undefined ? "" : await bytesOfJob(jobs, stored)
      ),
    );
    digest.add(canonical({ ...record, isHeld }), ...bytes);
  });
  return digest;
}

/** Refuses to go on where a copy differs. */
export function requireSame(what: string, here: Digest, there: Digest): void {
  if (String(here) === String(there)) return;
  throw new SvcError(
    "storage_unavailable",
    `${what}: ${here.count} here, ${there.count} there, and they differ; nothing was changed here`,
    { retryable: false },
  );
}
