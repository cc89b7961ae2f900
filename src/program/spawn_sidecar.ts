import type { Env } from "../interfaces/fields.ts";
import { childSpec } from "./launcher/child_spec.ts";
import { sidecarPermissions } from "./launcher/permissions.ts";
import { Supervisor } from "./launcher/supervisor.ts";
import { listenInternally } from "./listen.ts";
import { type Logger, silentLogger } from "../log.ts";
import type { SidecarAddress } from "../http1/sidecar_connections.ts";
import type { Relayer } from "../relayer.ts";
import { DEFAULT_SIDECAR_LIMITS, type SidecarLimits } from "../mcp/options.ts";

/** Time a sidecar gets to end by itself, milliseconds. */
const GRACE_MS = 2000;

/** A sponsor in a sidecar's process: `createRelayer` is told with `sidecarSponsors`. */
export interface SpawnedSponsor {
  /** Name, path or import specifier of its plugin. */
  readonly plugin: string;
  /** Where its settings come from, the key among them. */
  readonly env: Readonly<Record<string, string>>;
  /** What it may reach, `host` or `host:port`. */
  readonly net: readonly string[];
}

/** Options of {@linkcode spawnSidecar}; address and token are those given to `createRelayer`. */
export interface SpawnSidecarOptions extends SidecarAddress {
  /** Whose tools it offers; its calls are answered on a port of loopback that the system chooses. */
  readonly relayer: Pick<Relayer, "fetchInternal">;
  /** Replaces limits of MCP sessions. */
  readonly limits?: Partial<SidecarLimits>;
  /** Where people find their dashboard, which sources of research lead to; nowhere by default. */
  readonly webUrl?: string;
  /**
   * The environment, of which the child gets only what Deno itself needs: its cache, its
   * certificates and the home folder.
   */
  readonly env: Env;
  /** Who pays for sponsored transactions there; absent when nobody does. */
  readonly sponsor?: SpawnedSponsor;
  /** Notes starts and ends; silent by default. */
  readonly logger?: Logger;
}

/** A sidecar that is kept running until it is disposed of. */
export type SpawnedSidecar = AsyncDisposable;

/**
 * Keeps a sidecar running beside an embedded relayer, in a process of its own that may talk to this
 * machine and nothing else. It ends with this process, whatever ends it.
 *
 * Needs the permission to run Deno. The relayer is told of the sidecar with `createRelayer`'s
 * option `sidecar`.
 *
 * @example
 * ```ts ignore
 * import { createRelayer, spawnSidecar } from "@svc/relayer";
 *
 * const sidecar = { url: "http://127.0.0.1:9000", token: crypto.randomUUID() };
 * await using relayer = await createRelayer({ backends, sidecar });
 * await using child = spawnSidecar({ ...sidecar, relayer, env: { HOME: "/home/ada" } });
 * ```
 *
 * @throws what the system says when Deno cannot be started, such as `Deno.errors.NotCapable`.
 */
export function spawnSidecar(options: SpawnSidecarOptions): SpawnedSidecar {
  const { url, token, relayer, env, sponsor, logger = silentLogger } = options;
  const castings = sponsor === undefined ? [] : [{ name: sponsor.plugin }];
  const asked = sponsor === undefined ? [] : [{ net: sponsor.net }];
  const internal = listenInternally("http://127.0.0.1:0", token, relayer, logger);
  const spec = childSpec({
    command: "sidecar",
    permissions: sidecarPermissions({ sidecarUrl: url }, castings, asked),
    env,
    proxies: sponsor !== undefined,
    boot: () => ({
      url,
      token,
      relayerUrl: `http://127.0.0.1:${internal.port}`,
      isInternal: true,
      limits: { ...DEFAULT_SIDECAR_LIMITS, ...options.limits },
      ...(options.webUrl === undefined ? {} : { webUrl: options.webUrl }),
      ...(sponsor === undefined ? {} : { sponsor: { name: sponsor.plugin, env: sponsor.env } }),
      logLevel: "warn",
      logFormat: "text",
    }),
    // Also with a sponsor, modules come from this machine and npm only.
    castings: [],
  });
  const supervisor = new Supervisor(spec, { logger });
  try {
    supervisor.start();
  } catch (error) {
    void internal.shutdown(0);
    throw error;
  }
  const ended = supervisor.run();
  return {
    async [Symbol.asyncDispose]() {
      await supervisor.stop("SIGTERM", GRACE_MS);
      await ended;
      await internal.shutdown(GRACE_MS);
    },
  };
}
