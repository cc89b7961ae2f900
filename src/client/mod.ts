/**
 * Signed client of a relayer and delegate keys. Nothing here reads the environment; all of it runs
 * in browsers. The credentials file is `credentials_file.ts`.
 *
 * @module
 */
export { type ErrorCode, SvcError } from "../errors.ts";
export { SvcClient } from "./client.ts";
export * from "./credentials.ts";
export * from "./delegate_key.ts";
export { SvcAnswerError, SvcConnectionError } from "./failures.ts";
export type * from "./job_results.ts";
export type * from "./memory_results.ts";
export { isExposed, parseBaseUrl, type RetryPolicy, type SvcClientOptions } from "./options.ts";
export type * from "./recall_results.ts";
export type * from "./relayer_results.ts";
export type * from "./requests.ts";
export type { Signer } from "./signer.ts";
