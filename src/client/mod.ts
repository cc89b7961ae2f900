/**
 * Signed client of a relayer and delegate keys. Nothing here reads the environment; all of it runs
 * in browsers. The credentials file is `credentials_file.ts`.
 *
 * @module
 */
export { type ErrorCode, SvcError } from "../errors.ts";
export { type RouteCall, SvcClient } from "./client.ts";
export {
  checkCredentials,
  CREDENTIAL_KEYS,
  type Credentials,
  type CredentialsCheck,
} from "./credentials.ts";
export * from "./delegate_key.ts";
export { SvcAnswerError, SvcConnectionError } from "./failures.ts";
export { isExposed, parseBaseUrl, type RetryPolicy, type SvcClientOptions } from "./options.ts";
export type * from "./requests.ts";
export type * from "./results.ts";
export type {
  AnswerOf,
  Frozen,
  NamesOf,
  RouteName,
  Routes,
  Sent,
  SignedName,
  StatusAndBody,
} from "../wire/routes.ts";
export type { Access } from "../wire/route.ts";
export type { Signer } from "./signer.ts";
