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

/** Where a memory came from. */
export type Source = "remember" | "bulk" | "manual" | "analyze" | "import" | "restore";
