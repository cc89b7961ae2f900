import type { NamespaceInfo, SvcClient } from "../../src/client/mod.ts";
import { onOneLine } from "../../src/printable.ts";
import { suggest } from "../../src/suggestion.ts";
import { DEFAULT_NAMESPACE } from "../../src/wire/limits.ts";
import { programOf } from "../io.ts";
import { clientOf, type Session } from "../session.ts";

/** Longest name for which a closest one is looked for: the work grows with its square. */
const SUGGESTED_CHARACTERS = 64;

/** A namespace on one line; in quotes where its blanks, or the lack of anything, would be missed. */
export function shownNamespace(name: string): string {
  return /^\s|\s$|^$|^"/.test(name) ? `"${onOneLine(name)}"` : onOneLine(name);
}

/** Namespace that a command without its flag means. */
export function namespaceOf({ settings }: Pick<Session, "settings">): string {
  return settings.namespace ?? DEFAULT_NAMESPACE;
}

/** Every namespace of the caller, page by page. */
export async function* allNamespaces(
  client: SvcClient,
): AsyncGenerator<NamespaceInfo, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await client.namespaces({ cursor });
    yield* page.namespaces;
    cursor = page.next_cursor;
  } while (cursor !== undefined);
}

/** The name that was probably meant: the same but for case and blanks, else the closest one. */
function closest(name: string, known: readonly string[]): string | undefined {
  const bare = (text: string) => text.trim().toLowerCase();
  const same = known.find((other) => bare(other) === bare(name));
  if (same !== undefined || name.length > SUGGESTED_CHARACTERS) return same;
  return suggest(name, known.filter((other) => other.length <= 2 * SUGGESTED_CHARACTERS));
}

/**
 * That a namespace has no memories, and which one may have been meant.
 *
 * @returns `undefined` where it has some, or nobody may know.
 */
export async function emptinessOf(session: Session, name: string): Promise<string | undefined> {
  const others: string[] = [];
  try {
    for await (const { namespace, memory_count } of allNamespaces(clientOf(session))) {
      if (namespace === name && memory_count > 0) return undefined;
      if (namespace !== name) others.push(namespace);
    }
  } catch {
    // A key that may not read, or a relayer that went away: what was asked for was answered.
    return undefined;
  }
  const meant = closest(name, others);
  const hint = meant !== undefined
    ? ` Did you mean "${onOneLine(meant)}"?`
    : others.length > 0
    ? ` Those you have: ${programOf(session.io)} namespaces`
    : "";
  return `There are no memories in "${onOneLine(name)}".${hint}`;
}
