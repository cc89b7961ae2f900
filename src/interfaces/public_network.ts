/** How addresses on the public internet are reached; tests put a network of their own here. */
export interface PublicNetwork {
  /** Addresses of a name. */
  resolve(name: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Whether an address may be connected to. */
  isPublic(address: string): boolean;
  /** A connection to an address whose other end has proven a name; the signal closes it. */
  connect(
    address: string,
    name: string,
    signal: AbortSignal,
  ): Promise<Pick<Deno.Conn, "read" | "write" | "close" | "closeWrite">>;
}
