/**
 * Signing in with a browser (docs/protocol.md#14.2).
 *
 * @module
 */
export { type BrowserOptions, mayOpenBrowser, openBrowser } from "./browser.ts";
export type { KeyCheckOptions } from "./check_key.ts";
export { type LoginRequestsOptions, openLoginRequests } from "./login_requests.ts";
export type * from "./login.ts";
