import { getPriority, setPriority } from "node:os";

const NICENESS = 5;
const NICEST = 19;

/**
 * For a worker: lets threads that answer requests go first where cores are few. Only on Linux has a
 * thread a priority of its own, and only where the permissions allow it.
 */
export function stepBack(): void {
  if (Deno.build.os !== "linux") return;
  const isAllowed = (["getPriority", "setPriority"] as const).every((kind) =>
    Deno.permissions.querySync({ name: "sys", kind }).state === "granted"
  );
  if (!isAllowed) return;
  try {
    setPriority(Math.min(NICEST, getPriority() + NICENESS));
  } catch {
    // The system does not allow it: then all threads are equal.
  }
}
