import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { bcs } from "@mysten/sui/bcs";
import { blobIdToInt, encodeQuilt } from "@mysten/walrus";
import fc from "fast-check";
import {
  encodedBytes,
  quiltBytes,
  sourceSymbols,
} from "../../../../plugins/sui/walrus/quilt/geometry.ts";
import { isBlobId, patchId, patchPlace } from "../../../../plugins/sui/walrus/quilt/patch_id.ts";
import { MalformedBytes, Quilt } from "../../../../plugins/sui/walrus/quilt/quilt.ts";

const QUILT_ID = "M4hsZGQ1oCktdzegB6HnI6Mi28S2nqOPHxK-W7_4BUk";

/** As the SDK writes the ids of patches of `QUILT_ID`. */
function sdkPatchId(startIndex: number, endIndex: number): string {
  const id = bcs.struct("QuiltPatchId", {
    quiltId: bcs.u256(),
    version: bcs.u8(),
    startIndex: bcs.u16(),
    endIndex: bcs.u16(),
  }).serialize({ quiltId: blobIdToInt(QUILT_ID), version: 1, startIndex, endIndex });
  return id.toBytes().toBase64({ alphabet: "base64url", omitPadding: true });
}

interface Case {
  readonly shards: number;
  readonly blobs: { identifier: string; contents: Uint8Array; tags?: Record<string, string> }[];
}

const tags = fc.dictionary(fc.string({ minLength: 1, maxLength: 6 }), fc.string({ maxLength: 9 }), {
  maxKeys: 3,
  noNullPrototype: true,
});

function cases(withTags: boolean): fc.Arbitrary<Case> {
  return fc.constantFrom(4, 7, 10, 13, 100).chain((shards) => {
    const most = Math.min(sourceSymbols(shards).columns - 1, 40);
    const blob = fc.record({
      identifier: withTags
        ? fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" })
        : fc.string({ minLength: 8, maxLength: 8, unit: fc.constantFrom(..."0123456789abcxyz") }),
      contents: fc.uint8Array({ maxLength: 700 }),
      ...(withTags ? { tags: fc.option(tags, { nil: undefined }) } : {}),
    });
    const blobs = fc.uniqueArray(blob, {
      selector: ({ identifier }) => identifier,
      minLength: 1,
      maxLength: most,
    });
    return fc.record({ shards: fc.constant(shards), blobs });
  }) as fc.Arbitrary<Case>;
}

function encode({ shards, blobs }: Case) {
  try {
    return encodeQuilt({ blobs, numShards: shards });
  } catch {
    // The index of long names and tags may not fit.
    return undefined;
  }
}

Deno.test("every quilt the SDK makes is read as it was meant", () => {
  let read = 0;
  fc.assert(
    fc.property(cases(true), (made) => {
      const encoded = encode(made);
      if (encoded === undefined) return;
      read++;
      const quilt = new Quilt(encoded.quilt, made.shards);
      const wanted = encoded.index.patches;
      deepStrictEqual(
        quilt.patches.map((patch) => patch.identifier),
        wanted.map((patch) => patch.identifier),
      );
      for (const [n, patch] of quilt.patches.entries()) {
        const { startIndex, endIndex } = wanted[n]!;
        deepStrictEqual([patch.start, patch.end], [startIndex, endIndex]);
        const { contents } = made.blobs.find((blob) => blob.identifier === patch.identifier)!;
        deepStrictEqual(quilt.content(patch), new Uint8Array(contents));
        strictEqual(Quilt.idOf(QUILT_ID, patch), sdkPatchId(startIndex, endIndex));
      }
    }),
    { numRuns: 300 },
  );
  ok(read > 200, `only ${read} quilts were made`);
});

Deno.test("a quilt's size is known before it is made", () => {
  fc.assert(
    fc.property(cases(false), (made) => {
      const expected = quiltBytes(
        made.blobs.map(({ contents }) => contents.length),
        made.shards,
      );
      const encoded = encode(made);
      if (encoded === undefined) return;
      ok(expected !== undefined);
      // The SDK's search may end one step above the least.
      ok(
        expected <= encoded.quilt.length && expected >= encoded.quilt.length * 0.6,
        String(expected),
      );
    }),
    { numRuns: 300 },
  );
});

Deno.test("600 short memories make one quilt at 1000 shards", () => {
  const blobs = Array.from({ length: 600 }, (_, n) => ({
    identifier: n.toString(36).padStart(8, "-"),
    contents: new Uint8Array(800).fill(n & 255),
  }));
  const { quilt } = encodeQuilt({ blobs, numShards: 1000 });
  const read = new Quilt(quilt, 1000);
  strictEqual(read.patches.length, 600);
  deepStrictEqual(read.content(read.patches[599]!), new Uint8Array(800).fill(599 & 255));
  strictEqual(quiltBytes(blobs.map(() => 800), 1000), quilt.length);
});

Deno.test("more patches than columns, or too many bytes, are no quilt", () => {
  strictEqual(quiltBytes(Array.from({ length: 667 }, () => 1), 1000), undefined);
  ok(quiltBytes(Array.from({ length: 666 }, () => 1), 1000) !== undefined);
  strictEqual(quiltBytes([4 * 7 * 65_536], 10), undefined);
});

Deno.test("what a blob takes on Walrus is what is paid for", () => {
  // 66,034,000 for the shortest blobs at 1000 shards: Walrus' documentation. The others: the SDK's
  // `encodedBlobLength` for the same arguments.
  const known: Record<number, readonly (readonly [bytes: number, encoded: number])[]> = {
    4: [[1, 1192], [28, 1272], [56, 1352], [12_345, 42_312]],
    10: [[0, 6940], [56, 6940], [57, 7160], [12_345, 55_340], [9_999_999, 39_292_560]],
    100: [[12_345, 703_800], [445_557, 2_622_800]],
    1000: [[17, 66_034_000], [445_556, 66_034_000], [445_557, 68_036_000], [
      9_999_999,
      110_078_000,
    ]],
  };
  for (const [shards, pairs] of Object.entries(known)) {
    for (const [bytes, encoded] of pairs) strictEqual(encodedBytes(bytes, Number(shards)), encoded);
  }
});

Deno.test("patch ids are taken apart and put together", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(665), (bytes, start) => {
      const quiltId = bytes.toBase64({ alphabet: "base64url", omitPadding: true });
      const id = patchId({ quiltId, start, end: start + 1 });
      deepStrictEqual(patchPlace(id), { quiltId, start, end: start + 1 });
      ok(isBlobId(quiltId) && !isBlobId(id));
      strictEqual(patchPlace(quiltId), undefined);
    }),
  );
  for (const id of ["", "unknown-blob", QUILT_ID, `${QUILT_ID}AAAAAAA`, "é".repeat(50)]) {
    strictEqual(patchPlace(id), undefined);
  }
});

Deno.test("damaged quilts are refused, and nothing is read beyond them", () => {
  const blobs = ["aa", "bb", "cc"].map((identifier) => ({
    identifier,
    contents: new Uint8Array(60).fill(7),
  }));
  const { quilt } = encodeQuilt({ blobs, numShards: 10 });
  for (const bytes of [new Uint8Array(), quilt.subarray(2), new Uint8Array(quilt.length)]) {
    throws(() => new Quilt(bytes, 10), MalformedBytes);
  }
  throws(() => new Quilt(quilt, 1000), MalformedBytes);
  let refused = 0;
  fc.assert(
    fc.property(fc.nat(quilt.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const bytes = quilt.slice();
      bytes[at] = bytes[at]! ^ change;
      try {
        const read = new Quilt(bytes, 10);
        for (const patch of read.patches) read.content(patch);
      } catch (error) {
        ok(error instanceof MalformedBytes, String(error));
        refused++;
      }
    }),
    { numRuns: 500 },
  );
  ok(refused > 20, `only ${refused} were refused`);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 56, maxLength: 56 }), (noise) => {
      try {
        new Quilt(noise, 10);
      } catch (error) {
        ok(error instanceof MalformedBytes, String(error));
      }
    }),
  );
});
