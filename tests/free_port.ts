import { tmpdir } from "node:os";

/** Below the ports that the program chooses by itself: between both none is chosen twice. */
const FIRST = 10_000;
const COUNT = 10_000;
/** How long a port is kept for who got it, milliseconds: then it listens there, or never will. */
const KEPT_MS = 15 * 60_000;
/** Tries after which ports of others are given out as well. */
const TRIES = 1_000;
/** A folder for each port that was given out: tests run side by side, as threads and processes. */
const GIVEN = `${tmpdir()}/svc_test_ports`;

/**
 * A port that nobody listens at, on both loopback addresses, and that no other test gets. Below what
 * systems give out by themselves (from 32,768 on): until its program listens, and when it is started
 * again, no connection has got it by chance.
 */
export function freePort(): number {
  Deno.mkdirSync(GIVEN, { recursive: true });
  for (let tries = 1;; tries++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (!isFree("127.0.0.1", port) || !isFree("::1", port)) continue;
    if (isGiven(`${GIVEN}/${port}`) || tries > TRIES) return port;
  }
}

/** Whether a port is this test's now. */
function isGiven(folder: string): boolean {
  try {
    if (Date.now() - Deno.statSync(folder).mtime!.getTime() < KEPT_MS) return false;
    Deno.removeSync(folder);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  try {
    Deno.mkdirSync(folder);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
}

function isFree(hostname: string, port: number): boolean {
  try {
    Deno.listen({ hostname, port }).close();
    return true;
  } catch (error) {
    // Without IPv6 there is no such address.
    return !(error instanceof Deno.errors.AddrInUse);
  }
}
