/** An owner that this relayer has, is about to have, or is done with. */
export interface Held {
  /** Requests, and work in the background, under way. */
  count: number;
  /** Jobs under way. */
  jobs: number;
  /** Resolves once the owner is here; absent when it is. */
  coming: Promise<void> | undefined;
  /** Resolves once it is decided whether the owner goes; absent unless somebody wants it. */
  going: Promise<void> | undefined;
  /** Whether jobs may begin although it is about to go. */
  worksOff: boolean;
  /** Resolves once the owner may be taken again; absent unless it is lost, or was let go. */
  gone: Promise<void> | undefined;
  /** Called when nothing is under way any more. */
  readonly idle: Set<() => void>;
  /** Until when it stays although it is wanted, by the clock of `performance`. */
  staysUntil: number;
  /** When somebody last worked for it here, by the same clock. */
  usedAt: number;
}

/** One who was only asked for. */
export function nothingHeld(): Held {
  const none = { coming: undefined, going: undefined, gone: undefined, worksOff: false };
  return { count: 0, jobs: 0, ...none, idle: new Set(), staysUntil: 0, usedAt: performance.now() };
}

/** Whether this relayer has an owner at this moment, as far as it knows. */
export function isHere({ coming, gone }: Held): boolean {
  return coming === undefined && gone === undefined;
}
