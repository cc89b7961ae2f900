import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { encodeQuilt } from "@mysten/walrus";
import { blobIdNumber, blobIdText } from "../../devnet/walrus/blob_id.ts";
import { Encoder } from "../../devnet/walrus/encoder.ts";
import { parsePatchId, patchIdText, readIndex, readPatch } from "../../devnet/walrus/quilt.ts";
import { encodedLength } from "../../devnet/walrus/sizes.ts";
import vectors from "../testdata/walrus_vectors.json" with { type: "json" };

interface Recipe {
  readonly text?: string;
  readonly size?: number;
  readonly seed?: number;
  readonly fill?: number;
}

interface QuiltVector {
  readonly source: string;
  readonly shards: number;
  readonly blobs: readonly (Recipe & {
    readonly identifier: string;
    readonly tags?: Readonly<Record<string, string>>;
  })[];
  readonly hash: string;
  readonly length?: number;
  readonly columns?: readonly (readonly number[])[];
}

const QUILTS = vectors.quilts as readonly QuiltVector[];

function blobOf({ text, size = 0, seed = 0, fill }: Recipe): Uint8Array {
  if (text !== undefined) return new TextEncoder().encode(text);
  return new Uint8Array(size).map((_, index) => fill ?? index + seed);
}

function djb2(bytes: Uint8Array): string {
  const hash = bytes.reduce((sum, byte) => (Math.imul(sum, 33) + byte) | 0, 5381);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

Deno.test("published blob ids, encoded in a worker while the main thread goes on", async () => {
  const encoders = new Map([10, 1000].map((shards) => [shards, new Encoder(shards)]));
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  try {
    // Each id of 1,000 shards takes seconds of CPU: the others are there to be run by hand.
    for (const vector of vectors.blobIds.filter(({ run }) => run)) {
      const bytes = blobOf(vector);
      const identity = await encoders.get(vector.shards)?.identify(bytes);
      strictEqual(identity?.blobId, vector.blobId, vector.source);
      if (vector.encodedLength !== undefined) {
        strictEqual(encodedLength(bytes.length, vector.shards), vector.encodedLength);
      }
    }
    ok(ticks > 0);
  } finally {
    clearInterval(timer);
    for (const encoder of encoders.values()) encoder[Symbol.dispose]();
  }
});

Deno.test("published texts of blob ids and quilt patch ids", () => {
  for (const { number, blobId } of vectors.numbers) {
    strictEqual(blobIdText(number), blobId);
    strictEqual(blobIdNumber(blobId), BigInt(number));
  }
  for (const { quilt, start, end, patchId } of vectors.patchIds) {
    const place = { quiltId: blobIdText(quilt), start, end };
    strictEqual(patchIdText(place), patchId);
    deepStrictEqual(parsePatchId(patchId), place);
  }
});

Deno.test("published quilts: the SDK makes them, the aggregator's reader reads them", () => {
  for (const { shards, blobs: recipes, hash, length, columns } of QUILTS) {
    const blobs = recipes.map(({ identifier, tags, ...recipe }) => ({
      identifier,
      contents: blobOf(recipe),
      ...(tags === undefined ? {} : { tags: { ...tags } }),
    }));
    const { quilt } = encodeQuilt({ blobs, numShards: shards });
    strictEqual(djb2(quilt), hash);
    if (length !== undefined) strictEqual(quilt.length, length);
    const index = readIndex(quilt, shards);
    ok(index !== undefined);
    if (columns !== undefined) {
      deepStrictEqual(index.map(({ start, end }) => [start, end]), columns);
    }
    const sorted = blobs.toSorted((a, b) => a.identifier < b.identifier ? -1 : 1);
    deepStrictEqual(index.map(({ identifier }) => identifier), sorted.map((b) => b.identifier));
    for (const [at, entry] of index.entries()) {
      deepStrictEqual(Object.fromEntries(entry.tags), sorted[at]?.tags ?? {});
      deepStrictEqual(readPatch(quilt, shards, entry), sorted[at]?.contents);
    }
  }
});
