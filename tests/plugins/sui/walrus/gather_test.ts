import { deepStrictEqual, strictEqual } from "node:assert/strict";
import {
  gatherFinish,
  gatherRegister,
  type Track,
} from "../../../../plugins/sui/walrus/upload/tracks.ts";
import type { Upload } from "../../../../plugins/sui/walrus/upload/upload.ts";

function track(seq: number, changes: Partial<Upload>, more: Partial<Track> = {}): Track {
  const encoded = { blobId: `b${seq}`, rootHash: new Uint8Array(32), size: 1, patches: [] };
  const upload: Upload = {
    seq,
    owner: "0x1",
    namespace: "a",
    quilt: true,
    state: "encoded",
    createdAt: 0,
    tombstones: [],
    encoded,
    ...changes,
  };
  return { upload, since: 0, busy: false, failures: 0, restUntil: 0, ...more };
}

const seqs = (gathered: ReturnType<typeof gatherRegister>): number[] | number =>
  "group" in gathered ? gathered.group.map(({ upload }) => upload.seq) : gathered.at;

Deno.test("blobs are registered together, twenty at most", () => {
  const all = Array.from({ length: 23 }, (_, n) => track(n, {}));
  deepStrictEqual(seqs(gatherRegister(all, 0)), Array.from({ length: 20 }, (_, n) => n));
  strictEqual(seqs(gatherRegister([], 0)), Infinity);
});

Deno.test("registering waits for blobs that are being encoded, within bounds", () => {
  const all = [track(1, {}), track(2, { state: "cut" }), track(3, {}, { busy: true })];
  strictEqual(seqs(gatherRegister(all, 1000)), 90_000);
  deepStrictEqual(seqs(gatherRegister(all, 90_000)), [1]);
  all[1]!.restUntil = 5000;
  deepStrictEqual(seqs(gatherRegister(all, 1000)), [1]);
});

Deno.test("equal blobs do not share a transaction", () => {
  const encoded = track(1, {}).upload.encoded!;
  const all = [track(1, {}), track(2, { encoded, owner: "0x2" }), track(3, {})];
  deepStrictEqual(seqs(gatherRegister(all, 0)), [1, 3]);
});

Deno.test("blobs are certified together by the wallet that registered them", () => {
  const a = { wallet: "0xa", register: 1 };
  const all = [
    track(1, { ...a, state: "uploaded" }),
    track(2, { ...a, state: "registered" }),
    track(3, { wallet: "0xb", register: 2, state: "uploaded" }),
  ];
  deepStrictEqual(seqs(gatherFinish(all, 0, () => true)), [3]);
  deepStrictEqual(seqs(gatherFinish(all, 0, (wallet) => wallet === "0xa")), 30_000);
  all[1] = track(2, { ...a, state: "uploaded" });
  deepStrictEqual(seqs(gatherFinish(all, 0, () => true)), [1, 2]);
  deepStrictEqual(seqs(gatherFinish(all, 0, () => false)), Infinity);
});
