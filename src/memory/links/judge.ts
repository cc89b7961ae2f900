import type { MemoryLink } from "../../interfaces/mod.ts";

/** What is found about a new memory and an older one: a link from the new one, and how sure it is. */
export type Proposal = Pick<MemoryLink, "kind" | "by" | "score">;

/**
 * Compares what an older memory says with what a new one says. Pure and quick: a write waits for it.
 *
 * @param cosine Of their vectors, -1 to 1.
 */
export type Judge = (older: string, newer: string, cosine: number) => Proposal | undefined;
