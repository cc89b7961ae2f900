import type { Scope } from "../interfaces/mod.ts";
import type { LoadedScope } from "./loaded_scope.ts";
import type { ResidentScope } from "./resident_scope.ts";
import type { ScopeLoading } from "./scope_loading.ts";

/** A scope in RAM or on its way there. */
export interface HeldScope {
  /** Whose memories. */
  readonly scope: Scope;
  /** Of the scope. */
  readonly key: string;
  /** What is in RAM of it. */
  readonly resident: ResidentScope;
  /** Present while pages are still to come. */
  loading: ScopeLoading | undefined;
  /** Settled once it is loaded. */
  readonly ready: Promise<LoadedScope>;
  /** Callers that wait for the scope or read it: until they are done it is not evicted. */
  readers: number;
  /** What it adds to the index's bytes. */
  bytes: number;
  /** Forgets the texts in time; see `forgetWordsAfter`. */
  forgetting: ReturnType<typeof setTimeout> | undefined;
}

/** Thrown in place of what a reader throws whose scope is gone. */
export const DROPPED: unique symbol = Symbol("dropped");

/** What a reader answers of a loaded scope; throws {@linkcode DROPPED} where that went away. */
export async function tryRead<T>(
  loaded: LoadedScope,
  reader: (loaded: LoadedScope) => T | Promise<T>,
): Promise<T> {
  try {
    return await reader(loaded);
  } catch (error) {
    throw loaded.released ? DROPPED : error;
  }
}
