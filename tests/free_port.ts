const FIRST = 15_000;
const COUNT = 17_000;

/**
 * A port that nobody listens at, on both loopback addresses. Below what systems give out by
 * themselves (from 32,768 on): until its program listens, no connection gets it by chance.
 */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (isFree("127.0.0.1", port) && isFree("::1", port)) return port;
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
