import type { Settings } from "../settings/mod.ts";

/**
 * Ports below those that systems give to outgoing connections (from 32,768 on): a child listens a
 * moment later, and no connection can take its port until then.
 */
const FIRST = 20_000;
const COUNT = 12_000;
const TRIES = 1000;

/**
 * Chooses what the settings leave to the system: loopback addresses that two processes must know
 * before either listens.
 *
 * @param settings Port 0 of its `SIDECAR_URL` is replaced by a free one.
 * @returns the sidecar's address, and where the relayer answers its calls, and nobody else's.
 */
export function chooseAddresses(
  settings: Pick<Settings, "sidecarUrl" | "port" | "webPort">,
): { readonly sidecarUrl: string; readonly internalUrl: string } {
  const sidecar = new URL(settings.sidecarUrl);
  const taken = [settings.port, settings.webPort, Number(sidecar.port || 80)];
  // All are held until the last is chosen, so that no port is chosen twice.
  using stack = new DisposableStack();
  function freePort(hostname: string): number {
    for (let tries = 1;; tries++) {
      const port = FIRST + Math.floor(Math.random() * COUNT);
      if (taken.includes(port)) continue;
      try {
        stack.use(Deno.listen({ hostname, port }));
        return port;
      } catch (error) {
        // In use, or kept by the system for itself.
        if (tries === TRIES) throw error;
      }
    }
  }
  const sidecarUrl = sidecar.port === "0"
    ? `http://${sidecar.hostname}:${freePort(sidecar.hostname.replace(/^\[|\]$/g, ""))}`
    : settings.sidecarUrl;
  return { sidecarUrl, internalUrl: `http://127.0.0.1:${freePort("127.0.0.1")}` };
}
