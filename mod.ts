/**
 * Private, portable memory for AI agents: a relayer that embeds, encrypts, stores and indexes short
 * facts, and finds them again by meaning.
 *
 * @module
 */
export * from "./src/errors.ts";
export type * from "./src/interfaces/mod.ts";
export * from "./src/plugin.ts";
