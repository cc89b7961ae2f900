/**
 * Conformance suites: run them against a backend to prove that it keeps the promises of its
 * interface. They need `node:assert` and nothing else.
 *
 * @example Usage
 * ```ts ignore
 * import { blobStoreSuite, conform } from "@svc/relayer/testing";
 *
 * conform(blobStoreSuite, "s3", () => s3BlobStore({ bucket: "test" }));
 * ```
 *
 * @module
 */
export * from "./account_registry.ts";
export * from "./blob_store.ts";
export * from "./cipher.ts";
export * from "./embedder.ts";
export * from "./job_store_suite.ts";
export * from "./language_model.ts";
export * from "./sponsor.ts";
export * from "./state_store.ts";
export * from "./suite.ts";
export * from "./vector_store.ts";
