/** `host:port` of an address, the way Deno's permission list writes it. */
export function netEntry(address: string): string {
  const { hostname, port, protocol } = new URL(address);
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}
