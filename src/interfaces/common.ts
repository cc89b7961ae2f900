/** Whose memories, and in which bucket: the wall nothing crosses. */
export interface Scope {
  /** Address of the owner, `0x` and 64 lower-case hex characters. */
  readonly owner: string;
  /** Namespace, byte for byte as the caller gave it. */
  readonly namespace: string;
}

/** Options every call of a backend takes. */
export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What a backend knows of its server from the calls so far. */
export interface BackendHealth {
  /** `degraded`: some calls fail; `down`: calls fail at once until the server answers again. */
  readonly status: "ok" | "degraded" | "down";
  /** Why, safe for callers. */
  readonly reason?: string;
}

/** How far what a memory says may be believed: who said it. */
export type Trust = "user" | "agent" | "import" | "web";

/** Where a memory came from. */
export type Source = "remember" | "bulk" | "manual" | "analyze" | "import" | "restore";
