/**
 * The contract `svc::account` (contracts/svc) in TypeScript, for a chain that cannot run Move: pure
 * rules over a {@linkcode World}. A differential test runs both on random cases.
 *
 * @module
 */
export * from "./mirror/abort.ts";
export * from "./mirror/account.ts";
export * from "./mirror/entry.ts";
export * from "./mirror/events.ts";
export * from "./mirror/state.ts";
