import type { Reviewed } from "../../src/client/mod.ts";

/** How a memory stands to another one, in words that begin a line about the other one. */
export const LINK_WORDS: Readonly<Record<Reviewed["links"][number]["kind"], string>> = {
  conflicts: "says something else than",
  supersedes: "took the place of",
  restates: "says the same as",
  distinct: "has nothing to do with",
};
