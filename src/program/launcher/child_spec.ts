import { fileURLToPath } from "node:url";
import { noProxyHere } from "../../client/no_proxy.ts";
import type { Env } from "../../interfaces/fields.ts";
import type { SidecarBoot } from "../../mcp/process.ts";
import { PROGRAM_ROOT } from "../plugins.ts";
import { setVariables } from "../settings/mod.ts";
import type { RelayerBoot } from "./boot.ts";
import {
  isWithoutRemoteModules,
  type Named,
  permissionFlags,
  type PermissionList,
} from "./permissions.ts";
import type { ChildSpec } from "./supervisor.ts";

/** What Deno needs to reach the npm registry, whose certificate may be one of a company. */
export const REGISTRY: readonly string[] = [
  "DENO_CERT",
  "DENO_TLS_CA_STORE",
  "NODE_EXTRA_CA_CERTS",
  "NPM_CONFIG_REGISTRY",
  "NPM_CONFIG_USERCONFIG",
  "SSL_CERT_FILE",
];
/** And to find its cache and to show colours. */
const KEPT = [
  ...REGISTRY,
  "DENO_DIR",
  "HOME",
  "LOCALAPPDATA",
  "NO_COLOR",
  "SystemRoot",
  "TEMP",
  "TMPDIR",
  "USERPROFILE",
  "XDG_CACHE_HOME",
];
/**
 * Flags of V8, as measured. A thousand MCP sessions hold about 20 MB in each process; early
 * collections keep the garbage of opening them from growing the heap by 100 MB. With the sidecar's
 * numbers the relayer would accept a tenth less; with its own numbers it loses nothing:
 *
 * - 32 MB of old and 4 MB of new objects before the first collection: loading a large namespace
 *   takes a tenth less time.
 * - Growth by 150 % between collections: while tens of thousands of jobs wait, a recall that meets
 *   one takes 20 ms, and there are less than half as many as with 50 %.
 * - No pretenuring: V8 would place the short-lived objects of body checks among the old ones. A
 *   quarter less garbage stays, and an accept takes a sixth less time of the event loop.
 *
 * Both optimize a function with the best compiler after 1,000 calls instead of 3,000, because most
 * run once a request: a warm recall and a ping of a session take a tenth less time.
 */
export const V8_FLAGS = {
  serve:
    "--v8-flags=--min-semi-space-size=4,--max-semi-space-size=4,--heap-growing-percent=150,--initial-old-space-size=32,--no-allocation-site-pretenuring,--invocation-count-for-turbofan=1000",
  sidecar:
    "--v8-flags=--min-semi-space-size=1,--max-semi-space-size=2,--heap-growing-percent=20,--invocation-count-for-turbofan=1000",
} as const satisfies Record<ChildOptions["command"], string>;
/** What tells Deno where to send spans, and which; of all that begins with `OTEL_` nothing else. */
const TELEMETRY = [
  ...["DENO", "DENO_CONSOLE", "DENO_METRICS", "DENO_TRACING", "SDK_DISABLED"],
  ...["SERVICE_NAME", "RESOURCE_ATTRIBUTES", "PROPAGATORS", "TRACES_SAMPLER", "TRACES_SAMPLER_ARG"],
  ...["TRACES", "METRICS", "LOGS"].flatMap((signal) => [
    `${signal}_EXPORTER`,
    ...["ENDPOINT", "PROTOCOL", "HEADERS", "TIMEOUT", "COMPRESSION"].map((name) =>
      `EXPORTER_OTLP_${signal}_${name}`
    ),
  ]),
  ...["ENDPOINT", "PROTOCOL", "HEADERS", "TIMEOUT", "COMPRESSION", "INSECURE"].map((name) =>
    `EXPORTER_OTLP_${name}`
  ),
  ...["CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE"].map((name) => `EXPORTER_OTLP_${name}`),
  "EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
  "METRIC_EXPORT_INTERVAL",
  ...["BSP", "BLRP"].flatMap((queue) =>
    ["SCHEDULE_DELAY", "EXPORT_TIMEOUT", "MAX_QUEUE_SIZE", "MAX_EXPORT_BATCH_SIZE"]
      .map((name) => `${queue}_${name}`)
  ),
].map((name) => `OTEL_${name}`);
/** Variables that name a proxy. */
export const PROXIES: readonly string[] = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "http_proxy",
  "https_proxy",
];

/** The environment of a child: what Deno needs. Settings go through its standard input. */
export function childEnvironment(
  env: Env,
  options: Pick<ChildOptions, "command" | "proxies">,
): Record<string, string> {
  const kept = setVariables(env, options.proxies ? [...KEPT, ...PROXIES] : KEPT);
  if (PROXIES.some((name) => kept[name] !== undefined)) {
    // Traffic to the sidecar carries bearers; it must never leave through a proxy.
    kept["NO_PROXY"] = noProxyHere(env);
  }
  return { ...kept, ...telemetryVariables(env, options.command) };
}

/** The environment of a process that fetches something and does nothing else. */
export function fetcherEnvironment(env: Env): Record<string, string> {
  return { ...setVariables(env, [...KEPT, ...PROXIES]), NO_PROXY: noProxyHere(env) };
}

/**
 * What is passed on where spans are wanted. What libraries write to the console stays here, unless
 * somebody asks for it: nobody knows what is in it.
 */
function telemetryVariables(env: Env, command: ChildOptions["command"]): Record<string, string> {
  const given = setVariables(env, TELEMETRY);
  if (given["OTEL_DENO"] === undefined) return {};
  const name = command === "serve" ? "svc-relayer" : "svc-sidecar";
  return { OTEL_SERVICE_NAME: name, OTEL_DENO_CONSOLE: "ignore", ...given };
}

interface ChildOptions {
  /** Command of the program: `serve` or `sidecar`. */
  readonly command: "serve" | "sidecar";
  readonly permissions: PermissionList;
  /** The environment of this process. */
  readonly env: Env;
  /** Whether it calls other machines, and so needs to know of proxies. */
  readonly proxies: boolean;
  /** What the first line of its standard input says, at each start. */
  readonly boot: () => RelayerBoot | SidecarBoot | Promise<RelayerBoot>;
  /** The plugins that it opens. */
  readonly castings: readonly Named[];
}

/**
 * Permissions of the program that starts the others, which have exact ones. Whoever may start any
 * program may do anything; a list would only keep it from `/proc`, where it looks who opens a page.
 */
export const WHOLE_PROGRAM: readonly string[] = ["--allow-all"];

/**
 * How Deno runs this program once more, up to the command.
 *
 * @param flags Permissions, and other flags of `deno run`.
 */
export function programArgs(flags: readonly string[]): string[] {
  const main = new URL("main.ts", PROGRAM_ROOT);
  const isLocal = main.protocol === "file:";
  const place = isLocal
    ? [
      "--config",
      fileURLToPath(new URL("deno.json", PROGRAM_ROOT)),
      `--lock=${fileURLToPath(new URL("deno.lock", PROGRAM_ROOT))}`,
      "--frozen",
    ]
    : ["--no-config", "--unstable-kv", "--unstable-no-legacy-abort"];
  return [
    "run",
    "--quiet",
    "--no-prompt",
    // The cache of compiled code saves a tenth of a second and takes as much disk as a package.
    "--no-code-cache",
    ...place,
    ...flags,
    isLocal ? fileURLToPath(main) : main.href,
  ];
}

/** This program once more, as a child with its own list of permissions. */
export function childSpec(options: ChildOptions): ChildSpec {
  const flags = [
    V8_FLAGS[options.command],
    ...(isWithoutRemoteModules(options.castings) ? ["--no-remote"] : []),
    ...permissionFlags(options.permissions),
  ];
  return {
    name: options.command === "serve" ? "relayer" : "sidecar",
    command: Deno.execPath(),
    args: [...programArgs(flags), options.command, "--boot-stdin"],
    env: childEnvironment(options.env, options),
    boot: async () => JSON.stringify(await options.boot()),
  };
}
