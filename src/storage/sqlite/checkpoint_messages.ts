/** What the thread is asked. */
export interface CheckpointRequest {
  /** Number of the call. */
  readonly id: number;
  /** `checkpoint` copies what is in the log; `close` ends the thread's own connection. */
  readonly call: "checkpoint" | "close";
  /** The database. */
  readonly path: string;
}

/** What it answers when it is done, or what went wrong. */
export interface CheckpointAnswer {
  /** Of the call. */
  readonly id: number;
  /** Absent when it went well. */
  readonly error?: string;
}
