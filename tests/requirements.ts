import type { Rule } from "./requirements/rule.ts";
import { SECTION_2 } from "./requirements/section_02.ts";
import { SECTION_3 } from "./requirements/section_03.ts";
import { SECTION_4 } from "./requirements/section_04.ts";
import { SECTION_5 } from "./requirements/section_05.ts";
import { SECTION_6 } from "./requirements/section_06.ts";
import { SECTION_7 } from "./requirements/section_07.ts";
import { SECTION_8 } from "./requirements/section_08.ts";
import { SECTION_9 } from "./requirements/section_09.ts";
import { SECTION_10 } from "./requirements/section_10.ts";
import { SECTION_11 } from "./requirements/section_11.ts";
import { SECTION_12 } from "./requirements/section_12.ts";
import { SECTION_13 } from "./requirements/section_13.ts";
import { SECTION_15 } from "./requirements/section_15.ts";
import { SECTION_17 } from "./requirements/section_17.ts";

export type { Rule } from "./requirements/rule.ts";

/** Every rule of the protocol document. */
export const RULES: readonly Rule[] = [
  ...SECTION_2,
  ...SECTION_3,
  ...SECTION_4,
  ...SECTION_5,
  ...SECTION_6,
  ...SECTION_7,
  ...SECTION_8,
  ...SECTION_9,
  ...SECTION_10,
  ...SECTION_11,
  ...SECTION_12,
  ...SECTION_13,
  ...SECTION_15,
  ...SECTION_17,
];

const IDS: ReadonlySet<string> = new Set(RULES.map(({ id }) => id));

/**
 * Says which rules the test around it shows; `requirements_test.ts` collects these calls, so ids
 * are written as plain strings.
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
