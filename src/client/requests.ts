import type { Sent } from "../wire/route_types.ts";

/** Options of every call. */
export interface CallControl {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a deletion. */
export interface DeleteControl extends CallControl {
  /**
   * Refuses to (`version_conflict`) when the memory's newest version is another one. Relayers of 0.1
   * do not look at it.
   */
  readonly expectedVersion?: number | undefined;
}

/** Options of a call that writes. */
export interface WriteControl extends CallControl {
  /**
   * 1 to 128 visible ASCII characters; a random one is made when absent, so that a broken
   * connection can be retried without writing twice.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options of a call that writes several memories. */
export interface WritesControl extends WriteControl {
  /** What is done about secrets; the relayer's setting when absent. */
  readonly secrets?: Sent<"POST /api/remember">["secrets"];
  /** Whether what is said already is not stored again, or kept behind what says it; true when absent. */
  readonly deduplicate?: boolean;
}

/** How long to wait for a job. */
export interface WaitControl extends CallControl {
  /** `recallable` (the default) comes before the blob is stored, `done` after. */
  readonly until?: "recallable" | "done";
  /** Longest wait in milliseconds, default 60,000. */
  readonly timeoutMs?: number;
}

/** One item of a bulk remember. */
export type RememberItem = Omit<Sent<"POST /api/remember">, "secrets">;

/** Fields of a remember. */
export type RememberFields = Omit<Sent<"POST /api/remember">, "text">;

/** Fields of an analyze. */
export type AnalyzeFields = Omit<Sent<"POST /api/analyze">, "text">;

/** A payload the client encrypted itself; one of `encrypted_data` and `blob_id` is needed. */
export type ManualItem = Sent<"POST /api/remember/manual">;

/** Fields of a recall by vector. */
export type RecallManualFields = Omit<Sent<"POST /api/recall/manual">, "vector">;

/** Fields of a recall and an ask. */
export type RecallFields = Omit<Sent<"POST /api/recall">, "query">;

/** Which memories a page shows. */
export type MemoryQuery = Sent<"GET /api/memories", "query">;

/** Which namespaces a page shows. */
export type NamespaceQuery = Sent<"GET /api/namespaces", "query">;

/** Which entries of activity a page shows. */
export type ActivityQuery = Sent<"GET /api/account/activity", "query">;

/** A replacement of a memory; omitted members keep their value, and null takes one away. */
export type MemoryUpdate = Sent<"PUT /api/memories/:id">;

/** Which part of what is to be reviewed a page shows. */
export type ReviewQuery = Sent<"GET /api/review", "query">;
