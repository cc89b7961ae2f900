import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import {
  type KeptBlob,
  MAX_MERGED_BYTES,
  type PlanOptions,
  planScope,
  renewalCost,
  type Step,
  storeCost,
} from "../../../../plugins/sui/walrus/upkeep/plan.ts";

const OPTIONS: PlanOptions = {
  epoch: 10,
  epochs: 5,
  renewBefore: 1,
  shards: 1000,
  prices: { storage: 11_000, write: 20_000 },
};

let made = 0;
function blob(changes: Partial<KeptBlob> = {}): KeptBlob {
  const objectId = `o${made++}`;
  const blobId = `b-${objectId}`;
  const live = Array.from({ length: 10 }, () => 800);
  return { objectId, blobId, quilt: true, size: 445_556, endEpoch: 14, live, dead: 0, ...changes };
}

function kinds(steps: readonly Step[]): string[] {
  return steps.map((step) => step.kind === "merge" ? `merge ${step.blobs.length}` : step.kind)
    .sort();
}

const plan = (blobs: readonly KeptBlob[], changes: Partial<PlanOptions> = {}) =>
  kinds(planScope(blobs, { ...OPTIONS, ...changes }));

Deno.test("a blob costs what the SDK says", () => {
  // 63 MiB begun, 5 epochs at 11,000 and 20,000 once.
  strictEqual(storeCost(100, OPTIONS), 63 * (5 * 11_000 + 20_000));
  strictEqual(renewalCost(100, 5, OPTIONS), 0);
  strictEqual(renewalCost(100, 0, OPTIONS), storeCost(100, OPTIONS));
  strictEqual(renewalCost(100, 9, OPTIONS), 0);
});

Deno.test("nothing is done while nothing ends and nothing is saved", () => {
  deepStrictEqual(plan([]), []);
  deepStrictEqual(plan([blob(), blob({ quilt: false, live: [100] })]), []);
  // Paid a moment ago: merging 20 quilts at once would pay for all of them twice.
  deepStrictEqual(plan(Array.from({ length: 20 }, () => blob({ endEpoch: 15 }))), []);
});

Deno.test("what ends is stored again as it is when it stands alone", () => {
  deepStrictEqual(plan([blob({ endEpoch: 11 })]), ["again"]);
  deepStrictEqual(plan([blob({ endEpoch: 11, quilt: false, live: [100] })]), ["again"]);
  deepStrictEqual(plan([blob({ endEpoch: 12 })]), []);
  deepStrictEqual(plan([blob({ endEpoch: 12 })], { renewBefore: 2 }), ["again"]);
  deepStrictEqual(plan([blob({ endEpoch: 11 })], { renewBefore: 0 }), []);
});

Deno.test("small quilts that end become one", () => {
  const ending = Array.from({ length: 30 }, () => blob({ endEpoch: 11 }));
  deepStrictEqual(plan(ending), ["merge 30"]);
  // 70 of 10 are more than the 665 of one quilt.
  deepStrictEqual(
    plan(Array.from({ length: 70 }, () => blob({ endEpoch: 11 }))),
    ["merge 4", "merge 66"],
  );
});

Deno.test("quilts that are full keep their ids", () => {
  const full = () =>
    blob({ endEpoch: 11, size: 668_000, live: Array.from({ length: 600 }, () => 800) });
  deepStrictEqual(plan([full(), full()]), ["again", "again"]);
});

Deno.test("deleted patches are left behind when their quilt ends, not before", () => {
  deepStrictEqual(plan([blob({ dead: 9, live: [5] })]), []);
  deepStrictEqual(plan([blob({ dead: 1, endEpoch: 11 })]), ["merge 1"]);
  deepStrictEqual(plan([blob({ dead: 1, live: [] })]), ["leave"]);
});

Deno.test("small quilts are merged before their end when that costs less", () => {
  // Two of five epochs left: each saves three fifths of its price.
  const half = Array.from({ length: 8 }, () => blob({ endEpoch: 12 }));
  deepStrictEqual(plan(half), ["merge 8"]);
  deepStrictEqual(plan(half.slice(0, 2)), []);
  // They join one that ends for nothing: its quilt has room.
  deepStrictEqual(plan([...half.slice(0, 2), blob({ endEpoch: 11 })]), ["merge 3"]);
});

Deno.test("an ended blob, and one that lasts elsewhere, are left", () => {
  deepStrictEqual(plan([blob({ endEpoch: 10 })]), ["expired"]);
  const first = blob({ endEpoch: 11 });
  deepStrictEqual(plan([first, { ...first, objectId: "later", endEpoch: 16 }]), ["leave"]);
  deepStrictEqual(plan([first, { ...first, objectId: "twin" }]), ["again", "leave"]);
});

Deno.test("what others stored is theirs to renew first", () => {
  deepStrictEqual(plan([blob({ endEpoch: 11, foreign: true })]), []);
  deepStrictEqual(plan([blob({ endEpoch: 10, foreign: true })]), ["expired"]);
});

const kept: fc.Arbitrary<KeptBlob> = fc.record({
  quilt: fc.constant(true),
  size: fc.constant(445_556),
  endEpoch: fc.integer({ min: 8, max: 16 }),
  live: fc.array(fc.integer({ min: 1, max: 60_000 }), { maxLength: 40 }),
  dead: fc.nat(3),
  foreign: fc.boolean(),
}).map((some) => ({ ...blob(), ...some }));

Deno.test("every plan takes each blob once, and leaves nothing that ends", () => {
  fc.assert(
    fc.property(fc.array(kept, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), (
      blobs,
      renewBefore,
    ) => {
      const options = { ...OPTIONS, renewBefore };
      const steps = planScope(blobs, options);
      const taken = steps.flatMap((step) => step.kind === "merge" ? step.blobs : [step.blob]);
      strictEqual(new Set(taken).size, taken.length);
      for (const item of blobs) {
        const ends = item.endEpoch - OPTIONS.epoch <= renewBefore;
        if (ends && !(item.foreign && item.live.length > 0 && item.endEpoch > 10)) {
          ok(taken.includes(item), JSON.stringify(item));
        }
        const step = steps.find((some) =>
          some.kind === "merge" ? some.blobs.includes(item) : some.blob === item
        );
        if (step?.kind === "leave") strictEqual(item.live.length, 0);
        if (step?.kind === "expired") ok(item.endEpoch <= OPTIONS.epoch);
      }
      // Never dearer than storing each again.
      const cost = (step: Step) =>
        step.kind === "merge"
          ? storeCost(Math.max(1, step.blobs.flatMap(({ live }) => live).length) * 700, options)
          : 0;
      for (const step of steps) {
        if (step.kind !== "merge") continue;
        const sizes = step.blobs.flatMap(({ live }) => live);
        ok(sizes.length <= 665 && sizes.length > 0);
        ok(sizes.length === 1 || sizes.reduce((a, b) => a + b, 0) <= MAX_MERGED_BYTES);
        ok(cost(step) > 0);
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("of very many quilts those that end first, and the smallest, are planned", () => {
  const many = Array.from(
    { length: 20_000 },
    (_, n) => blob({ endEpoch: n < 10_000 ? 11 : 14, live: [800 + n % 7] }),
  );
  const steps = planScope(many, OPTIONS);
  const planned = steps.flatMap((step) => step.kind === "merge" ? step.blobs : []);
  strictEqual(planned.length, 256);
  strictEqual(new Set(planned).size, 256);
  strictEqual(planned.filter(({ endEpoch }) => endEpoch === 11).length, 128);
});
