import { fileURLToPath } from "node:url";
import { noProxyHere } from "../../client/no_proxy.ts";
import type { Env } from "../../interfaces/fields.ts";
import { PROGRAM_ROOT } from "../plugins.ts";
import { permissionFlags, type PermissionList } from "./permissions.ts";
import type { ChildSpec } from "./supervisor.ts";

/** What Deno itself needs to find its cache, to show colours and to reach the npm registry. */
const KEPT = [
  "DENO_CERT",
  "DENO_DIR",
  "DENO_TLS_CA_STORE",
  "HOME",
  "LOCALAPPDATA",
  "NO_COLOR",
  "NPM_CONFIG_REGISTRY",
  "NPM_CONFIG_USERCONFIG",
  "SSL_CERT_FILE",
  "SystemRoot",
  "TEMP",
  "TMPDIR",
  "USERPROFILE",
  "XDG_CACHE_HOME",
];
/**
 * A thousand MCP sessions hold some 20 MB in each process; what opening them leaves behind is
 * collected early, instead of after the heap has grown by a hundred. The sidecar's numbers would cost
 * the relayer a tenth of its accepts; with its own no difference could be measured. The relayer does
 * not look through its old objects before there are 32 MB, and not through new ones before 4: loading
 * a large namespace then takes a tenth less, and the sessions no more memory. Later it lets what is
 * left grow to two and a half times of what it was: while jobs by the ten thousand wait, a recall that
 * meets such a collection takes 20 ms, and there are less than half as many as when it grows by a half.
 * V8 would place what the checks of a body allocate among the old objects, though none of it lives on:
 * the relayer forbids that, which leaves a quarter less behind and takes a sixth of the event loop's
 * time off an accept. The sidecar is the same either way.
 *
 * V8 waits for 3,000 calls before it optimizes a function with its best compiler; most of ours are
 * called once a request. After 1,000 a warm recall takes a tenth less time, a ping of a session too.
 */
export const V8_FLAGS = {
  serve:
    "--v8-flags=--min-semi-space-size=4,--max-semi-space-size=4,--heap-growing-percent=150,--initial-old-space-size=32,--no-allocation-site-pretenuring,--invocation-count-for-turbofan=1000",
  sidecar:
    "--v8-flags=--min-semi-space-size=1,--max-semi-space-size=2,--heap-growing-percent=20,--invocation-count-for-turbofan=1000",
} as const satisfies Record<ChildOptions["command"], string>;
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];

/** The environment of a child: nothing of ours, which goes through its standard input. */
export function childEnvironment(env: Env, options: { proxies: boolean }): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of options.proxies ? [...KEPT, ...PROXIES] : KEPT) {
    const value = env[name];
    if (value) kept[name] = value;
  }
  if (PROXIES.some((name) => kept[name] !== undefined)) {
    // Traffic to the sidecar carries bearers; it must never leave through a proxy.
    kept["NO_PROXY"] = noProxyHere(env);
  }
  return kept;
}

interface ChildOptions {
  /** Command of the program: `serve` or `sidecar`. */
  readonly command: "serve" | "sidecar";
  readonly permissions: PermissionList;
  readonly env: Readonly<Record<string, string>>;
  /** First line of its standard input. */
  readonly boot: string;
  /** Refuses modules from elsewhere than this machine and npm. */
  readonly noRemote: boolean;
}

/** This program once more, as a child with its own list of permissions. */
export function childSpec(options: ChildOptions): ChildSpec {
  const main = new URL("main.ts", PROGRAM_ROOT);
  const place = main.protocol === "file:"
    ? [
      "--config",
      fileURLToPath(new URL("deno.json", PROGRAM_ROOT)),
      `--lock=${fileURLToPath(new URL("deno.lock", PROGRAM_ROOT))}`,
      "--frozen",
    ]
    : ["--no-config", "--unstable-kv", "--unstable-no-legacy-abort"];
  return {
    name: options.command === "serve" ? "relayer" : "sidecar",
    command: Deno.execPath(),
    args: [
      "run",
      "--no-prompt",
      // The cache of compiled code saves a tenth of a second and takes as much disk as a package.
      "--no-code-cache",
      V8_FLAGS[options.command],
      ...place,
      ...(options.noRemote ? ["--no-remote"] : []),
      ...permissionFlags(options.permissions),
      main.protocol === "file:" ? fileURLToPath(main) : main.href,
      options.command,
      "--boot-stdin",
    ],
    env: options.env,
    boot: options.boot,
  };
}
