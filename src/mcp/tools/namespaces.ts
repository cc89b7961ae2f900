import { suggest } from "../../suggestion.ts";
import { DEFAULT_NAMESPACE } from "../../wire/limits.ts";
import type { ToolCall } from "./call.ts";

/** Most namespaces that are named where the one that was asked for has nothing. */
const NAMED = 5;

/**
 * What to say where nothing was found: that the namespace has no memories and which ones have, or
 * `otherwise` where it has some.
 */
export async function nothingThere(
  { client, signal }: ToolCall,
  namespace: string | undefined,
  otherwise: string,
): Promise<string> {
  // The answer stands without it.
  const page = await client.namespaces({}, { signal }).catch(() => undefined);
  const names = page?.namespaces.map((one) => one.namespace) ?? [];
  const asked = namespace ?? DEFAULT_NAMESPACE;
  if (names.includes(asked) || names.length === 0) return otherwise;
  const quoted = (name: string) => JSON.stringify(name);
  const close = suggest(asked, names);
  if (close !== undefined) {
    return `There are no memories in ${quoted(asked)}. Did you mean ${quoted(close)}?`;
  }
  const some = names.slice(0, NAMED).map(quoted).join(", ");
  const rest = names.length > NAMED ? " and others" : "";
  return `There are no memories in ${quoted(asked)}. There are some in ${some}${rest}.`;
}
