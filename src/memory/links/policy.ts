import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { ConflictPolicy } from "../../interfaces/config.ts";
import type { Scope } from "../../interfaces/mod.ts";
import { type Caller, checkOpenTo, scopeOf } from "../caller.ts";

/** Namespaces for which an owner may choose. */
const MOST_NAMESPACES = 1000;

/** Where it stands what becomes of contradictions. */
export type ChoosingConflicts = Uses<{ policies: "conflictsIn"; config: "conflicts" }>;

/** Where it stands whether what says the same is looked for. */
export type ChoosingRepetitions = Uses<{ policies: "deduplicatesIn"; config: "deduplicate" }>;

/** Whether what says the same is looked for in a namespace: what its owner chose, else what the settings say. */
export function deduplicates(
  { policies, config }: ChoosingRepetitions,
  { owner, namespace }: Scope,
): boolean {
  return policies.deduplicatesIn({ owner, namespace }) ?? config.deduplicate;
}

/** What an owner chooses for a namespace: `null` is what the settings say, absent what it was. */
export interface Chosen {
  readonly conflicts?: ConflictPolicy | null | undefined;
  readonly deduplicate?: boolean | null | undefined;
}

/** What becomes of contradictions in a namespace: what its owner chose, else what the settings say. */
export function conflictPolicy(
  { policies, config }: ChoosingConflicts,
  { owner, namespace }: Scope,
): ConflictPolicy {
  return policies.conflictsIn({ owner, namespace }) ?? config.conflicts;
}

/**
 * Chooses for one namespace, until it is forgotten; what is written already stays as it is.
 *
 * @returns what holds now.
 * @throws {SvcError} `permission_denied` for a key of other namespaces; `invalid_parameter` where the owner chose for too many namespaces.
 */
export function choosePolicies(
  domain:
    & ChoosingConflicts
    & ChoosingRepetitions
    & Uses<{
      policies: "setConflicts" | "setDeduplicates" | "countOf";
    }>,
  caller: Caller,
  namespace: string,
  { conflicts, deduplicate }: Chosen,
): { readonly conflicts: ConflictPolicy; readonly deduplicate: boolean } {
  checkOpenTo(caller, namespace);
  const scope = scopeOf(caller, namespace);
  const { policies } = domain;
  const isChosen = (conflicts ?? deduplicate ?? undefined) !== undefined;
  const isNew = isChosen && policies.conflictsIn(scope) === undefined &&
    policies.deduplicatesIn(scope) === undefined;
  if (isNew && policies.countOf(scope.owner) >= MOST_NAMESPACES) {
    const message = `A policy was chosen for ${MOST_NAMESPACES} namespaces already`;
    throw new SvcError("invalid_parameter", message, { field: "namespace" });
  }
  if (conflicts !== undefined) policies.setConflicts(scope, conflicts ?? undefined);
  if (deduplicate !== undefined) policies.setDeduplicates(scope, deduplicate ?? undefined);
  return { conflicts: conflictPolicy(domain, scope), deduplicate: deduplicates(domain, scope) };
}
