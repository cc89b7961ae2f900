import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Catalogue } from "../../../../plugins/sui/walrus/catalogue.ts";
import { tombstonesOf } from "./walrus_for_tests.ts";
import type { StoredBlob } from "../../../../plugins/sui/walrus/stored_blob.ts";

const SCOPE = { owner: `0x${"1".repeat(64)}`, namespace: "work\0\u{1F600}" };
const OTHER = { owner: SCOPE.owner, namespace: "play" };

const blob = (objectId: string, endEpoch: number): StoredBlob => ({
  ...SCOPE,
  objectId,
  blobId: "b",
  holder: SCOPE.owner,
  quilt: true,
  size: 9,
  endEpoch,
  createdAt: 5,
});

async function withCatalogue(work: (catalogue: Catalogue, dataDir: string) => Promise<void>) {
  const dataDir = await Deno.makeTempDir();
  const catalogue = new Catalogue({ dataDir, schema: ["create table if not exists x(a)"] });
  try {
    await work(catalogue, dataDir);
  } finally {
    await catalogue.database.close();
    await Deno.remove(dataDir, { recursive: true });
  }
}

Deno.test("blobs and patches are those of their scope, and live until they are not", async () => {
  await withCatalogue(async (catalogue, dataDir) => {
    await catalogue.database.write(() => {
      catalogue.addStored(blob("0x2", 9));
      catalogue.addStored(blob("0x1", 7));
      catalogue.addStored({ ...blob("0x1", 8), holder: "0xa" });
      catalogue.addPatch(SCOPE, "b", { id: "p1", identifier: "0", size: 3 }, 5);
      catalogue.addPatch(SCOPE, "b", { id: "p1", identifier: "0", size: 3 }, 6);
      catalogue.addPatch(OTHER, "b", { id: "p1", identifier: "0", size: 3 }, 5);
    });
    deepStrictEqual(catalogue.liveIn(SCOPE), [
      { ...blob("0x1", 8), holder: "0xa" },
      blob("0x2", 9),
    ]);
    deepStrictEqual(catalogue.scopes(undefined, 9), [SCOPE]);
    deepStrictEqual(catalogue.scopes(SCOPE, 9), []);
    const patch = { ...catalogue.patchesIn(SCOPE, "b")[0] };
    deepStrictEqual(patch, {
      seq: 1,
      id: "p1",
      blobId: "b",
      identifier: "0",
      size: 3,
      createdAt: 5,
    });
    deepStrictEqual(catalogue.patchesIn(OTHER, "b").length, 1);
    await catalogue.database.write(() => {
      catalogue.setState("0x1", "gone");
      catalogue.removePatch(SCOPE, "p1");
    });
    deepStrictEqual(catalogue.liveIn(SCOPE), [blob("0x2", 9)]);
    strictEqual(catalogue.stored("0x1")?.state, "gone");
    strictEqual(catalogue.patch(SCOPE, "p1"), undefined);
    strictEqual(catalogue.patch(OTHER, "p1")?.blobId, "b");
    if (Deno.build.os !== "windows") {
      strictEqual((await Deno.stat(`${dataDir}/walrus.db`)).mode! & 0o777, 0o600);
    }
  });
});

Deno.test("a deletion waits for a quilt that tells it", async () => {
  await withCatalogue(async (catalogue) => {
    await catalogue.database.write(() => {
      catalogue.addTombstone(SCOPE, "p1", 5);
      catalogue.addTombstone(SCOPE, "p2", 6, "q0");
    });
    strictEqual(catalogue.isDeleted(SCOPE, "p1"), true);
    strictEqual(catalogue.isDeleted(OTHER, "p1"), false);
    deepStrictEqual(catalogue.untoldTombstones(SCOPE, 9), ["p1"]);
    await catalogue.database.write(() => {
      catalogue.setTombstoneQuilt(SCOPE, "p1", "q1");
      catalogue.addTombstone(SCOPE, "p1", 8);
    });
    deepStrictEqual(catalogue.untoldTombstones(SCOPE, 9), []);
    deepStrictEqual(tombstonesOf(catalogue, SCOPE), [
      { ...SCOPE, id: "p1", at: 5, quilt: "q1" },
      { ...SCOPE, id: "p2", at: 6, quilt: "q0" },
    ]);
    await catalogue.database.write(() => {
      catalogue.setTombstoneQuilt(SCOPE, "p1", undefined);
      catalogue.removeTombstone(SCOPE, "p2");
    });
    deepStrictEqual(tombstonesOf(catalogue, SCOPE), [{ ...SCOPE, id: "p1", at: 5 }]);
  });
});

Deno.test("moves are told until noted, and bytes are kept until their time", async () => {
  await withCatalogue(async (catalogue) => {
    const bytes = new Uint8Array([1, 2]);
    await catalogue.database.write(() => {
      catalogue.addMove({ ...SCOPE, from: "a", to: "b" }, 5);
      catalogue.addMove({ ...SCOPE, from: "a", to: "c" }, 6);
      catalogue.keep(SCOPE, "b", bytes, 10);
      catalogue.keep(SCOPE, "b", bytes, 9);
    });
    strictEqual(catalogue.movedTo(SCOPE, "a"), "c");
    const [first, second] = catalogue.untoldMoves(9);
    deepStrictEqual(first, { ...SCOPE, seq: 1, from: "a", to: "b" });
    await catalogue.database.write(() => catalogue.markTold(first!.seq));
    deepStrictEqual(catalogue.untoldMoves(9), [second]);
    deepStrictEqual(catalogue.kept(SCOPE, "b", 9), bytes);
    strictEqual(catalogue.kept(SCOPE, "b", 10), undefined);
    strictEqual(catalogue.kept(OTHER, "b", 9), undefined);
    await catalogue.database.write(() => catalogue.dropExpired(10));
    strictEqual(catalogue.kept(SCOPE, "b", 0), undefined);
  });
});
