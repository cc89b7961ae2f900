import type { BackendHealth, CallOptions } from "./common.ts";

/** A transaction that somebody else pays for. */
export interface SponsorRequest {
  /** Address of the sender, `0x` and 64 hex characters. */
  readonly sender: string;
  /** BCS bytes of the transaction kind. */
  readonly kindBytes: Uint8Array;
}

/** A sponsored transaction, to be signed by its sender. */
export interface SponsoredTransaction {
  /** BCS bytes of the whole transaction. */
  readonly bytes: Uint8Array;
  /** Its digest, base58. */
  readonly digest: string;
}

/** An executed transaction. */
export interface ExecutedTransaction {
  /** Its digest, base58. */
  readonly digest: string;
  /** What the sponsor paid for it in MIST, never below 0; absent when it does not know. */
  readonly gasMist?: number;
}

/** Sponsored transactions. */
export interface Sponsor extends AsyncDisposable {
  /** Adds gas to a transaction kind. */
  sponsor(request: SponsorRequest, options?: CallOptions): Promise<SponsoredTransaction>;
  /**
   * Executes a sponsored transaction and answers its digest, also when the chain notes its failure:
   * it was paid for. A repeat after an answer that was lost answers the same and pays nothing.
   */
  execute(
    request: { readonly digest: string; readonly signature: Uint8Array },
    options?: CallOptions,
  ): Promise<ExecutedTransaction>;
  /** Whether another process pays: while the sidecar is down, so is this. */
  readonly needsSidecar?: boolean;
  /** What it knows of its server; absent where there is none. */
  health?(): BackendHealth;
}
