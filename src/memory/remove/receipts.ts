import type { SignedReceipt, Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import { type Caller, scopeOf } from "../caller.ts";
import { timeText } from "../record.ts";

type Issuing = Uses<{ tombstones: "deletions"; receipts: true; now: true }>;

/** A receipt, and whether it says that nothing is left. */
interface Issued {
  readonly erased: boolean;
  readonly receipt: SignedReceipt;
}

/**
 * A receipt for deleted memories of a namespace, as things are now.
 *
 * @throws {SvcError} `memory_not_found` when one of them was not deleted through this relayer.
 */
export function receiptFor(
  { tombstones, receipts, now }: Issuing,
  caller: Caller,
  namespace: string,
  ids: readonly string[],
): Issued {
  const scope = scopeOf(caller, namespace);
  const deletions = tombstones.deletions(scope, [...new Set(ids)]);
  if (deletions.length === 0 || deletions.length < new Set(ids).size) {
    throw new SvcError("memory_not_found");
  }
  const inFiles = deletions.filter(({ erased }) => !erased).map(({ id }) => id);
  // Blobs that end at the same time are named together.
  const kept = Map.groupBy(
    deletions.filter(({ kept, keptUntil = Infinity }) => kept && keptUntil > now()),
    ({ keptUntil }) => keptUntil,
  );
  const survives = [
    ...(inFiles.length === 0 ? [] : [{ what: "files", memory_ids: inFiles }]),
    ...Array.from(kept, ([until, of]) => ({
      what: "blob",
      memory_ids: of.map(({ id }) => id),
      until: timeText(until),
    })),
  ];
  const erased = survives.length === 0;
  const statement = JSON.stringify({
    v: 1,
    type: "svc-deletion",
    owner: scope.owner,
    namespace,
    memory_ids: deletions.map(({ id }) => id),
    deleted_at: timeText(deletions.reduce((first, { at }) => Math.min(first, at), Infinity)),
    issued_at: timeText(now()),
    erased,
    survives,
  });
  return { erased, receipt: receipts.sign(statement) };
}
