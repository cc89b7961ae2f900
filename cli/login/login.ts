import type { Settings } from "../settings.ts";

/** Where a login leads: everything of it comes from the resolved settings. */
export type LoginTarget = Required<Pick<Settings, "relayer" | "webUrl" | "label">>;

/** What a login came to. */
export type LoginOutcome =
  /** The credentials file is written. */
  | {
    readonly status: "signed-in";
    /** Account that lists the new key, `0x` and 64 hex characters. */
    readonly accountId: string;
    /** What the check of the new key found wrong, for people; absent when all is well. */
    readonly problem?: string;
  }
  /** Nobody approved within five minutes. */
  | { readonly status: "expired" }
  /** Another login succeeded, a newer one took the place, or the program ends. */
  | { readonly status: "closed" }
  /** Approved, and the file could not be written: why, for people. */
  | { readonly status: "failed"; readonly problem: string };

/** An open login (docs/protocol.md#14.2): a listener on 127.0.0.1 that waits for the dashboard. */
export interface PendingLogin {
  /** The one-time address to open. */
  readonly url: string;
  /** When the address stops working. */
  readonly expiresAt: Date;
  /** Last eight characters of the new public key, shown here and by the dashboard. */
  readonly keySuffix: string;
  /** Settles once, never rejects. */
  readonly outcome: Promise<LoginOutcome>;
}

/** Opens logins for one credentials file: at most three at a time, the first success closes all. */
export interface LoginRequests extends AsyncDisposable {
  /**
   * Makes a key and a listener. Does not wait for approval, opens no browser.
   *
   * @throws {SvcError} `internal_error` when there is no listener within five seconds.
   */
  start(target: LoginTarget): Promise<PendingLogin>;
}
