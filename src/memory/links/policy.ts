import type { Uses } from "../parts.ts";
import { SvcError } from "../../errors.ts";
import type { ConflictPolicy } from "../../interfaces/config.ts";
import type { Scope } from "../../interfaces/mod.ts";
import { type Caller, checkOpenTo, scopeOf } from "../caller.ts";

/** Namespaces for which an owner may choose. */
const MOST_NAMESPACES = 1000;

/** Where it stands what becomes of contradictions. */
export type ChoosingConflicts = Uses<{ policies: "conflictsIn"; config: "conflicts" }>;

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
 * @param policy `null`: what the settings say.
 * @returns what holds now.
 * @throws {SvcError} `permission_denied` for a key of other namespaces; `invalid_parameter` where the owner chose for too many namespaces.
 */
export function chooseConflicts(
  domain: ChoosingConflicts & Uses<{ policies: "setConflicts" | "countOf" }>,
  caller: Caller,
  namespace: string,
  policy: ConflictPolicy | null,
): ConflictPolicy {
  checkOpenTo(caller, namespace);
  const scope = scopeOf(caller, namespace);
  const { policies } = domain;
  const isNew = policy !== null && policies.conflictsIn(scope) === undefined;
  if (isNew && policies.countOf(scope.owner) >= MOST_NAMESPACES) {
    const message = `A policy was chosen for ${MOST_NAMESPACES} namespaces already`;
    throw new SvcError("invalid_parameter", message, { field: "namespace" });
  }
  policies.setConflicts(scope, policy ?? undefined);
  return conflictPolicy(domain, scope);
}
