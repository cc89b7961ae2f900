/** What is counted of owners, where it goes with them from relayer to relayer. */
export interface OwnerCounts {
  /** Goes on with what others noted; what was counted here before is a part of it. */
  enter(owner: string): void;
  /** Notes all that was counted here, before the owner goes. */
  settle(owner: string): void | Promise<void>;
  /** Forgets what is not noted yet. */
  forget(owner: string): void;
}
