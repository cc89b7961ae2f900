import type { Findings } from "./findings.ts";
import { isObject, type JsonObject, listOf, memberOf, textOf } from "./json_members.ts";

/** Where a list of memories may stand in an export, a page of results or a backup. */
const LISTS = ["memories", "results"] as const;

/** Of whom or what a memory is, and how it was sorted. */
const SCOPES = ["user_id", "agent_id", "app_id", "run_id", "actor_id", "role", "state"] as const;

/** The list of memories in a file of mem0, and its name; `undefined` when there is none. */
export function mem0List(
  root: unknown,
): { readonly list: readonly unknown[]; readonly name: string } | undefined {
  if (Array.isArray(root)) return { list: root, name: "" };
  for (const name of LISTS) {
    const list = listOf(root, name);
    if (list !== undefined) return { list, name };
  }
  return undefined;
}

/** A member by its name, or by the name that the library for JavaScript gives it. */
function eitherOf(item: JsonObject, name: string): unknown {
  const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return memberOf(item, name) ?? memberOf(item, camel);
}

/** A list of words as one text; anything else as it is. */
function joined(value: unknown): unknown {
  const isWords = Array.isArray(value) && value.every((word) => typeof word === "string");
  return isWords ? value.join(", ") : value;
}

function* metadataOf(item: JsonObject): Generator<readonly [string, unknown]> {
  const metadata = memberOf(item, "metadata");
  if (isObject(metadata)) yield* Object.entries(metadata);
  else if (metadata !== undefined && metadata !== null) yield ["metadata", metadata];
  const categories = memberOf(item, "categories");
  if (Array.isArray(categories) && categories.length > 0) yield ["categories", joined(categories)];
  for (const name of SCOPES) {
    const value = eitherOf(item, name);
    if (value !== undefined && value !== null) yield [name, value];
  }
}

function readMemory(found: Findings, item: unknown, where: string): void {
  if (!isObject(item)) return found.skip(where, "unknown_shape");
  if (memberOf(item, "state") === "deleted") return found.skip(where, "deleted");
  const text = memberOf(item, "memory") ?? memberOf(item, "content") ?? memberOf(item, "text");
  const said = typeof text === "string" ? text : "";
  found.memory(where, {
    text,
    metadata: metadataOf(item),
    occurred: eitherOf(item, "created_at") ?? eitherOf(item, "updated_at"),
    expires: eitherOf(item, "expiration_date"),
    // What one user said is not what another said.
    identity: JSON.stringify([
      said,
      ...SCOPES.map((name) => {
        const value = eitherOf(item, name);
        return typeof value === "string" ? value : null;
      }),
    ]),
  });
}

function readRelation(found: Findings, item: unknown, where: string): void {
  const parts = [
    textOf(item, "source"),
    textOf(item, "relationship") ?? textOf(item, "relation"),
    textOf(item, "target") ?? textOf(item, "destination"),
  ];
  if (parts.some((part) => part === undefined)) return found.skip(where, "unknown_shape");
  const [source, relation, target] = parts;
  found.memory(where, {
    text: `${source} ${relation?.replaceAll("_", " ")} ${target}`,
    metadata: [["from", source], ["relation", relation], ["to", target]],
  });
}

/**
 * Reads memories of mem0: an entry is an item of `memories`, `results` or the bare list, or of
 * `relations` beside it.
 *
 * @returns Whether the file has such a list.
 */
export function readMem0(found: Findings, root: unknown): boolean {
  const memories = mem0List(root);
  if (memories === undefined) return false;
  const { list, name } = memories;
  const relations = listOf(root, "relations") ?? [];
  found.expect(list.length + relations.length);
  list.forEach((item, at) => readMemory(found, item, `${name}[${at}]`));
  relations.forEach((item, at) => readRelation(found, item, `relations[${at}]`));
  return true;
}
