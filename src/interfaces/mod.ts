import type { AccountRegistry } from "./account_registry.ts";
import type { BlobStore } from "./blob_store.ts";
import type { Cipher } from "./cipher.ts";
import type { Embedder } from "./embedder.ts";
import type { LanguageModel } from "./language_model.ts";
import type { Sponsor } from "./sponsor.ts";
import type { StateStore } from "./state_store.ts";
import type { VectorStore } from "./vector_store.ts";

export type * from "./account_registry.ts";
export type * from "./activity_rows.ts";
export type * from "./blob_store.ts";
export type * from "./cipher.ts";
export type * from "./common.ts";
export type * from "./embedder.ts";
export type * from "./job_store.ts";
export type * from "./language_model.ts";
export type * from "./sponsor.ts";
export type * from "./state_store.ts";
export type * from "./vector_store.ts";

/** What a relayer needs from outside, by role. */
export interface Backends {
  /** Public key to account. */
  readonly accounts: AccountRegistry;
  /** Durable ciphertext. */
  readonly blobStore: BlobStore;
  /** Seals and opens records. */
  readonly cipher: Cipher;
  /** Text to vectors. */
  readonly embedder: Embedder;
  /** Chat; without it analyze uses rules and ask quotes. */
  readonly languageModel?: LanguageModel;
  /** Sponsored transactions; without it they are refused. */
  readonly sponsor?: Sponsor;
  /**
   * Jobs, deletions and whatever else a relayer must not lose; without it that is in files of its data
   * directory, and no other relayer may know of it.
   */
  readonly store?: StateStore;
  /** Durable index. */
  readonly vectorStore: VectorStore;
}

/** Name of a role. */
export type Role = keyof Backends;
