import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { encodeQuilt } from "@mysten/walrus";
import fc from "fast-check";
import { parsePatchId, patchIdText, readIndex, readPatch } from "../../devnet/walrus/quilt.ts";
import { maxBlobSize, sourceSymbols, symbolSize } from "../../devnet/walrus/sizes.ts";

const PATCH = fc.record({
  identifier: fc.string({ minLength: 1, maxLength: 40 }),
  contents: fc.uint8Array({ maxLength: 3_000 }),
  tags: fc.dictionary(fc.string({ maxLength: 8 }), fc.string({ maxLength: 30 }), { maxKeys: 3 }),
});

const PATCHES = fc.uniqueArray(PATCH, {
  minLength: 1,
  maxLength: 40,
  selector: ({ identifier }) => identifier,
});

Deno.test("whatever the SDK packs into a quilt is read out of it", () => {
  fc.assert(
    fc.property(fc.constantFrom(10, 13, 100, 334), PATCHES, (shards, all) => {
      // One column each at least, and some for the index.
      const blobs = all.slice(0, Math.max(1, sourceSymbols(shards).secondary - 4));
      const { quilt, index } = encodeQuilt({ blobs, numShards: shards });
      const entries = readIndex(quilt, shards);
      ok(entries !== undefined);
      deepStrictEqual(
        entries.map(({ identifier, start, end }) => ({ identifier, start, end })),
        index.patches.map(({ identifier, startIndex, endIndex }) => ({
          identifier,
          start: startIndex,
          end: endIndex,
        })),
      );
      for (const entry of entries) {
        const blob = blobs.find(({ identifier }) => identifier === entry.identifier);
        deepStrictEqual(readPatch(quilt, shards, entry), blob?.contents);
        deepStrictEqual(Object.fromEntries(entry.tags), { ...blob?.tags });
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("bytes that are no quilt are none", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
    // Version 1 in front makes the reader go on.
    const quilt = Uint8Array.of(1, ...bytes);
    const entries = readIndex(quilt, 10);
    for (const entry of entries ?? []) readPatch(quilt, 10, entry);
  }));
  strictEqual(readIndex(new Uint8Array(), 10), undefined);
});

Deno.test("patch ids are told from other texts", () => {
  const place = { quiltId: "A".repeat(43), start: 3, end: 7 };
  deepStrictEqual(parsePatchId(patchIdText(place)), place);
  for (const text of ["", "A".repeat(43), "!", `${patchIdText(place)}AA`]) {
    strictEqual(parsePatchId(text), undefined);
  }
});

Deno.test("symbols are even, and the largest blob fits their size", () => {
  for (const shards of [10, 1000]) {
    strictEqual(symbolSize(0, shards), 2);
    strictEqual(symbolSize(maxBlobSize(shards), shards), 65_534);
    strictEqual(symbolSize(maxBlobSize(shards) + 1, shards), 65_536);
  }
});
