import { protocolRules, type Rule } from "../docs/generate/protocol.ts";

/** Every rule of docs/protocol.md. */
export const RULES: readonly Rule[] = await protocolRules();

const IDS: ReadonlySet<string> = new Set(RULES.map(({ id }) => id));

/**
 * Says which rules of docs/protocol.md the test around it shows; `requirements_test.ts` collects
 * these calls, so ids are written as plain strings.
 *
 * @example
 * ```ts
 * Deno.test("a nonce is used once", async () => {
 *   verifies("4.4-1", "4.3-18");
 * });
 * ```
 */
export function verifies(...ids: readonly string[]): void {
  for (const id of ids) {
    if (!IDS.has(id)) throw new Error(`There is no rule ${id}`);
  }
}
