/** Reads as zeros without end. */
export const ZEROS = "/dev/zero";

/**
 * Takes memory that nobody uses yet from the system, on another thread; its bytes are zeros then. Once
 * the promise is settled, either way, nothing is written to it any more.
 */
export type Prefault = (memory: Uint8Array) => Promise<void>;

/**
 * Memory is taken from the system page by page when it is first written to: one or two microseconds
 * each, but ten or more where a virtual machine has to ask its host. Reading zeros into it does that
 * on a thread of the pool.
 *
 * @returns `undefined` where that is not possible, or not allowed.
 */
export function openPrefault(): Prefault | undefined {
  if (Deno.build.os === "windows") return undefined;
  // Never a question to whoever embeds this.
  const { state } = Deno.permissions.querySync({ name: "read", path: ZEROS });
  if (state !== "granted") return undefined;
  return async (memory) => {
    try {
      using file = await Deno.open(ZEROS);
      for (let at = 0; at < memory.length;) {
        const count = await file.read(memory.subarray(at));
        if (count === null) return;
        at += count;
      }
    } catch {
      // Then the pages come when they are written to.
    }
  };
}
