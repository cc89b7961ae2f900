import type { Role } from "../../interfaces/mod.ts";
import { builtIn, choiceProblem } from "./plugin_settings.ts";
import { isLoopback } from "./parsers.ts";
import { ROLE_FIELDS, ROLE_NAMES } from "./roles.ts";
import { TESTING } from "./program.ts";
import type { Settings } from "./values.ts";

/** Whether a path lies in a folder or is the folder, by their text. */
export function isInside(path: string, folder: string): boolean {
  const base = folder.replace(/[\\/]+$/, "");
  return path === base || path.startsWith(base + "/") || path.startsWith(base + "\\");
}

const when = (isSo: boolean, line: string): string[] => isSo ? [line] : [];

function homeProblems({ dataDir, keyFile = "" }: Settings): string[] {
  const [first] = Object.entries({ SVC_DATA_DIR: dataDir, SVC_RELAYER_KEY_FILE: keyFile })
    .filter(([, path]) => path.startsWith("~"));
  return first === undefined ? [] : [`${first[0]} is needed where HOME is not set`];
}

/** Plugins whose files are in the data directory of one relayer. */
const OF_ONE_RELAYER: readonly string[] = ["local", "lancedb", "memory"];
const SHARED_ROLES = ["accounts", "blobStore", "cipher", "vectorStore"] as const;

/** Whether a role is played where the store is, because nothing else was said. */
function isBesideStore({ given, store, ...chosen }: Settings, role: Role): boolean {
  return chosen[role as keyof typeof chosen] === store && !given.has(ROLE_FIELDS[role].env) &&
    builtIn(store)?.roles.store === undefined;
}

/** What several relayers share lies where all of them reach it. */
function storeProblems(settings: Settings): string[] {
  const { store, backupHours } = settings;
  if (OF_ONE_RELAYER.includes(store)) return [];
  const own = SHARED_ROLES.filter((role) => OF_ONE_RELAYER.includes(settings[role]));
  const backups = `SVC_BACKUP_HOURS must be 0: SVC_STORE=${store} is backed up by its own tools`;
  return [
    ...when(backupHours > 0, backups),
    ...own.map((role) => {
      const choice = `${ROLE_FIELDS[role].env}=${settings[role]}`;
      return `${choice} is one relayer's alone: SVC_STORE=${store} needs one that is shared`;
    }),
  ];
}

function roleProblems(settings: Settings): string[] {
  const { accounts, packageId, registryId } = settings;
  const onChain = accounts === "sui";
  return [
    ...ROLE_NAMES.filter((role) => role === "store" || !isBesideStore(settings, role))
      .map((role) => choiceProblem(role, ROLE_FIELDS[role].env, settings[role]))
      .filter((line) => line !== undefined),
    ...storeProblems(settings),
    ...when(onChain && packageId === undefined, "SVC_PACKAGE_ID is needed by SVC_ACCOUNTS=sui"),
    ...when(onChain && registryId === undefined, "SVC_REGISTRY_ID is needed by SVC_ACCOUNTS=sui"),
  ];
}

function backupProblems({ backupDir, dataDir }: Settings): string[] {
  return when(
    isInside(backupDir, dataDir),
    "SVC_BACKUP_DIR must be outside SVC_DATA_DIR: what takes the one would take the other",
  );
}

function modelProblems({ modelDir, dataDir }: Settings): string[] {
  return when(
    isInside(modelDir, dataDir),
    "SVC_MODEL_DIR must be outside SVC_DATA_DIR: the relayer may not write what it computes with",
  );
}

function keyProblems({ given, keyFile, keyPassphraseFile, dataDir }: Settings): string[] {
  const files = {
    SVC_RELAYER_KEY_FILE: keyFile,
    SVC_RELAYER_KEY_PASSPHRASE_FILE: keyPassphraseFile,
  };
  const sources = [...Object.keys(files), "SVC_RELAYER_KEY_COMMAND"]
    .filter((name) => given.has(name));
  return [
    ...when(sources.length > 1, `${sources.join(" and ")} exclude each other: set one`),
    ...Object.entries(files).flatMap(([name, path]) =>
      when(
        path !== undefined && isInside(path, dataDir),
        `${name} must be outside SVC_DATA_DIR, so that a copied data directory opens nothing`,
      )
    ),
  ];
}

function proxyProblems({ given }: Settings): string[] {
  const names = ["SVC_BEHIND_PROXY", "SVC_TRUSTED_PROXIES"];
  return when(
    names.every((name) => given.has(name)),
    `${names.join(" and ")} are one setting: leave out the second`,
  );
}

const TLS = ["SVC_TLS_CERT_FILE", "SVC_TLS_KEY_FILE"];

/** What a relayer needs that other machines reach: a name of its own, and somebody who encrypts. */
function publicProblems({ host, publicUrl, behindProxy, given }: Settings): string[] {
  if (isLoopback(host)) return [];
  const isEncrypted = TLS.every((name) => given.has(name));
  return [
    ...when(
      publicUrl === undefined,
      `SVC_HOST=${host} lets other machines in: set SVC_PUBLIC_URL to the address that clients ` +
        "use, such as https://memory.example.org",
    ),
    ...when(
      !isEncrypted && behindProxy.length === 0,
      `SVC_HOST=${host} lets other machines in without TLS: set ${TLS.join(" and ")}, or ` +
        "SVC_BEHIND_PROXY to the addresses of the proxy that ends TLS",
    ),
  ];
}

function tlsProblems({ given }: Settings): string[] {
  const [set] = TLS.filter((name) => given.has(name));
  return when(
    TLS.some((name) => !given.has(name)) && set !== undefined,
    `${TLS.join(" and ")} go together: only ${set} is set`,
  );
}

function portProblems({ port, webPort, sidecarUrl }: Settings): string[] {
  if (port === 0) return [];
  const sidecarPort = Number(new URL(sidecarUrl).port || 80);
  return [
    ...when(webPort === port, `SVC_WEB_PORT and SVC_PORT are both ${port}`),
    ...when(sidecarPort === port, `SIDECAR_URL and SVC_PORT both use ${port}`),
  ];
}

function testProblems(settings: Settings): string[] {
  if (settings.test) return [];
  return Object.values(TESTING)
    .filter((field) => field !== TESTING.test && settings.given.has(field.env))
    .map((field) => `${field.env} is refused unless SVC_TEST=1`);
}

/** What is wrong between settings that are each valid. */
export function crossProblems(settings: Settings): string[] {
  const all = [
    homeProblems,
    roleProblems,
    keyProblems,
    backupProblems,
    modelProblems,
    proxyProblems,
    publicProblems,
    tlsProblems,
    portProblems,
    testProblems,
  ];
  return all.flatMap((problems) => problems(settings));
}

/** Whether an address is this machine's alone; of none nobody else knows. */
export function isOfThisMachine(url: string | undefined): boolean {
  return url === undefined || isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ""));
}

/** What is odd between settings that are each valid. */
export function crossWarnings(settings: Settings): string[] {
  const { sidecarAutostart, sidecarToken, host, openRegistration, publicUrl } = settings;
  const isPublic = !isOfThisMachine(publicUrl);
  return [
    ...when(
      isPublic && isLoopback(host) && settings.behindProxy.length === 0,
      `SVC_PUBLIC_URL is ${publicUrl} and SVC_HOST ${host}: name the proxy between them in ` +
        "SVC_BEHIND_PROXY, or all clients share the limits of one",
    ),
    ...when(
      isPublic && publicUrl?.startsWith("http:") === true,
      `SVC_PUBLIC_URL is ${publicUrl}: without TLS everybody on the way reads along`,
    ),
    ...when(
      !sidecarAutostart && sidecarToken === undefined,
      "SIDECAR_AUTOSTART=false without SIDECAR_AUTH_TOKEN: no sidecar can be trusted, MCP is off",
    ),
    ...when(
      !isLoopback(host) && openRegistration,
      `SVC_OPEN_REGISTRATION=true on ${host}: anybody who reaches it may register`,
    ),
  ];
}
