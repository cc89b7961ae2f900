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
  Access,
  AnswerOf,
  NamesOf,
  RouteName,
  RouteTypes,
  Sent,
  SignedName,
  StatusAndBody,
} from "../wire/route_types.ts";
export type { McpRoutes } from "../wire/route_types/mcp.ts";
export type { AccountRoutes } from "../wire/route_types/account.ts";
export type { MemoryRoutes } from "../wire/route_types/memories.ts";
export type { OwnerRoutes } from "../wire/route_types/owner.ts";
export type { PortableRoutes } from "../wire/route_types/portable.ts";
export type { PublicRoutes } from "../wire/route_types/public.ts";
export type { RecallRoutes } from "../wire/route_types/recall.ts";
export type { RememberRoutes } from "../wire/route_types/remember.ts";
export type { ReviewRoutes } from "../wire/route_types/review.ts";
export type { SessionTokenRoutes } from "../wire/route_types/session_token.ts";
export type { ConsentRoutes } from "../wire/route_types/consent.ts";
export type { OAuthRoutes } from "../wire/route_types/oauth.ts";
export type { SponsorRoutes } from "../wire/route_types/sponsor.ts";
export type { Signer } from "./signer.ts";
export {
  type Receipt,
  receiptOf,
  type ReceiptStatement,
  type Survivor,
  verifyReceipt,
} from "../wire/signing/receipts.ts";
