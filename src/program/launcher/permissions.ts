import { invalid } from "../invalid.ts";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Permissions } from "../../interfaces/plugin.ts";
import { type Casting, PROGRAM_ROOT } from "../plugins.ts";
import { nameServersIn, publicRanges } from "./public_ranges.ts";
import { isInside } from "../settings/checks.ts";
import { builtIn } from "../settings/plugin_settings.ts";
import { ZEROS } from "../../index/vectors/growing_memory.ts";
import type { Settings } from "../settings/mod.ts";
import { WEB_HOSTS } from "../../http/dashboard/listen.ts";

/** What one process may do; an empty list means nothing of that kind. */
export type PermissionList = Required<Permissions> & {
  /** Starting any program: only where a test makes the relayer kill itself. */
  readonly run: boolean;
};

const union = (...lists: (readonly string[] | undefined)[]) =>
  [...new Set(lists.flatMap((list) => list ?? []))].sort();

/** Paths without those that lie in another one. */
function paths(...lists: (readonly string[] | undefined)[]): string[] {
  const all = union(...lists);
  return all.filter((path) => !all.some((other) => other !== path && isInside(path, other)));
}

/** `host:port` the way Deno's permission list writes it. */
function netEntry(host: string, port: number | string): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** A plugin, as far as its modules are concerned. */
export type Named = Pick<Casting, "name">;

/** What a process may do by itself, and what its plugins ask for. */
function permissionList(
  own: Pick<PermissionList, "net" | "read" | "write" | "run">,
  asked: readonly Permissions[],
): PermissionList {
  const of = (kind: keyof Permissions) => asked.map((permissions) => permissions[kind]);
  return {
    net: union(own.net, ...of("net")),
    read: paths(own.read, ...of("read")),
    write: paths(own.write, ...of("write")),
    env: union(...of("env")),
    ffi: union(...of("ffi")),
    sys: union(...of("sys")),
    run: own.run,
  };
}

/** Modules that are imported when they are reached, which counts as reading them. */
export function modulePaths(castings: readonly Named[]): string[] {
  const outside = castings.filter(({ name }) => name.startsWith("file:"));
  // A plugin from elsewhere imports `@svc/relayer`, which reads its version.
  const own = ["plugins/", "src/", ...(outside.length === 0 ? [] : ["mod.ts", "deno.json"])];
  const found = PROGRAM_ROOT.protocol === "file:"
    ? own.map((path) => new URL(path, PROGRAM_ROOT).href)
    : [];
  for (const { name } of outside) found.push(new URL("./", name).href);
  return found.map((path) => fileURLToPath(path).replace(/(.)[/\\]$/, "$1"));
}

/** Where the dashboard listens, and the folder of its files. */
function dashboardPermissions({ webPort }: Settings): { net: string[]; read: string[] } {
  if (webPort === 0 || PROGRAM_ROOT.protocol !== "file:") return { net: [], read: [] };
  return {
    net: WEB_HOSTS.map((host) => netEntry(host, webPort)),
    read: [fileURLToPath(new URL("web/dist", PROGRAM_ROOT))],
  };
}

/**
 * What reading documents of apps takes: every public address, by its number, at the port of https, and
 * the servers that tell the numbers. That they are public is checked by the relayer, and again here.
 */
function documentPermissions({ clientMetadata }: Settings): string[] {
  if (!clientMetadata) return [];
  let servers: string[] = [];
  try {
    servers = nameServersIn(Deno.readTextFileSync("/etc/resolv.conf"));
  } catch {
    // No such file on this system.
  }
  const names = servers.length === 0 ? ["0.0.0.0/0"] : servers;
  return [
    ...publicRanges().map((range) => `${range}:443`),
    ...names.map((server) => netEntry(server, 53)),
  ];
}

/**
 * What the relayer may do: listen on its address, on the dashboard's and, for the sidecar, on an
 * internal one, reach the sidecar and the hosts of its plugins, read the dashboard's files and
 * endless zeros, of TLS its two files, read and write the data directory. It may not start programs, load native code or
 * read the environment, unless a plugin asks for the latter two.
 *
 * @param castings the plugins it opens.
 * @param asked what they ask for.
 */
export function relayerPermissions(
  settings: Settings,
  castings: readonly Casting[],
  asked: readonly Permissions[],
  internalUrl?: string,
): PermissionList {
  const sidecar = new URL(settings.sidecarUrl);
  const dashboard = dashboardPermissions(settings);
  const internal = internalUrl === undefined ? [] : [new URL(internalUrl).host];
  const zeros = Deno.build.os === "windows" ? [] : [ZEROS];
  const tls = [settings.tlsCertFile, settings.tlsKeyFile].filter((path) => path !== undefined);
  return permissionList({
    net: [
      netEntry(settings.host, settings.port),
      sidecar.host,
      ...internal,
      ...dashboard.net,
      ...documentPermissions(settings),
    ],
    read: [settings.dataDir, ...zeros, ...tls, ...modulePaths(castings), ...dashboard.read],
    write: [settings.dataDir],
    // A process signals itself through the permission to start programs.
    run: settings.test && settings.failpoint !== undefined,
  }, asked);
}

/** What a sidecar's permissions depend on. */
type SidecarSettings =
  & Pick<Settings, "sidecarUrl">
  & Partial<Pick<Settings, "test" | "mcpFixtures">>;

/**
 * What the sidecar may do: talk to this machine; with a sponsor, what that plugin asks for, except to
 * write, because a sidecar keeps nothing; in tests with MCP kits, load their fixtures.
 *
 * @param castings the plugins it opens.
 * @param asked what they ask for.
 */
export function sidecarPermissions(
  settings: SidecarSettings,
  castings: readonly Named[] = [],
  asked: readonly Permissions[] = [],
): PermissionList {
  const { hostname } = new URL(settings.sidecarUrl);
  const fixtures = settings.test && settings.mcpFixtures !== undefined
    ? [dirname(settings.mcpFixtures)]
    : [];
  const read = castings.length === 0 ? fixtures : [...fixtures, ...modulePaths(castings)];
  const own = { net: [hostname, "127.0.0.1"], read, write: [], run: false };
  return { ...permissionList(own, asked), write: [] };
}

/**
 * The list as flags of `deno run`.
 *
 * @throws {SvcError} `invalid_parameter` for an entry with a comma, which Deno cannot read.
 */
export function permissionFlags(list: PermissionList): string[] {
  const flags: string[] = [];
  for (const kind of ["net", "read", "write", "env", "ffi", "sys"] as const) {
    const entries = list[kind];
    const wrong = entries.find((entry) => entry.includes(","));
    if (wrong !== undefined) {
      throw invalid(`"${wrong}" has a comma: no permission can be given for such a path`);
    }
    if (entries.length > 0) flags.push(`--allow-${kind}=${entries.join(",")}`);
  }
  if (list.run) flags.push("--allow-run");
  return flags;
}

/** Whether every module comes from this machine or from npm. */
export function isWithoutRemoteModules(castings: readonly Named[]): boolean {
  const isLocal = (name: string) => builtIn(name) !== undefined || /^(file|npm|node):/.test(name);
  return PROGRAM_ROOT.protocol === "file:" && castings.every(({ name }) => isLocal(name));
}
