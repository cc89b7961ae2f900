import { choiceProblem } from "./plugin_names.ts";
import { isLoopback } from "./parsers.ts";
import { ROLE_FIELDS, ROLE_NAMES } from "./roles.ts";
import { TESTING } from "./program.ts";
import type { Settings } from "./values.ts";

/** Whether a path lies in a folder or is the folder, by their text. */
export function isInside(path: string, folder: string): boolean {
  const base = folder.replace(/[\\/]+$/, "");
  return path === base || path.startsWith(base + "/") || path.startsWith(base + "\\");
}

function roleProblems(settings: Settings): string[] {
  const lines: string[] = [];
  for (const role of ROLE_NAMES) {
    const line = choiceProblem(role, ROLE_FIELDS[role].env, settings[role]);
    if (line !== undefined) lines.push(line);
  }
  if (settings.accounts === "sui") {
    if (settings.packageId === undefined) {
      lines.push("SVC_PACKAGE_ID is needed by SVC_ACCOUNTS=sui");
    }
    if (settings.registryId === undefined) {
      lines.push("SVC_REGISTRY_ID is needed by SVC_ACCOUNTS=sui");
    }
  }
  return lines;
}

function keyProblems(settings: Settings): string[] {
  const sources = [
    "SVC_RELAYER_KEY_FILE",
    "SVC_RELAYER_KEY_PASSPHRASE_FILE",
    "SVC_RELAYER_KEY_COMMAND",
  ].filter((name) => settings.given.has(name));
  const lines: string[] = [];
  if (sources.length > 1) lines.push(`${sources.join(" and ")} exclude each other: set one`);
  const files = {
    RELAYER_KEY_FILE: settings.keyFile,
    RELAYER_KEY_PASSPHRASE_FILE: settings.keyPassphraseFile,
  };
  for (const [name, path] of Object.entries(files)) {
    if (path === undefined || !isInside(path, settings.dataDir)) continue;
    lines.push(
      `SVC_${name} must be outside SVC_DATA_DIR, so that a copied data directory opens nothing`,
    );
  }
  return lines;
}

function portProblems(settings: Settings): string[] {
  const lines: string[] = [];
  const { port, webPort, sidecarUrl } = settings;
  const sidecarPort = Number(new URL(sidecarUrl).port || 80);
  if (port !== 0 && webPort === port) lines.push(`SVC_WEB_PORT and SVC_PORT are both ${port}`);
  if (port !== 0 && sidecarPort === port) lines.push(`SIDECAR_URL and SVC_PORT both use ${port}`);
  return lines;
}

function testProblems(settings: Settings): string[] {
  if (settings.test) return [];
  return Object.values(TESTING)
    .filter((field) => field !== TESTING.test && settings.given.has(field.env))
    .map((field) => `${field.env} is refused unless SVC_TEST=1`);
}

/** What is wrong between settings that are each valid. */
export function crossProblems(settings: Settings): string[] {
  const home = /^~/.test(settings.dataDir)
    ? ["SVC_DATA_DIR is needed where HOME is not set"]
    : /^~/.test(settings.keyFile ?? "")
    ? ["SVC_RELAYER_KEY_FILE is needed where HOME is not set"]
    : [];
  return [
    ...home,
    ...roleProblems(settings),
    ...keyProblems(settings),
    ...portProblems(settings),
    ...testProblems(settings),
  ];
}

/** What is odd between settings that are each valid. */
export function crossWarnings(settings: Settings): string[] {
  const lines: string[] = [];
  if (!settings.sidecarAutostart && settings.sidecarToken === undefined) {
    lines.push(
      "SIDECAR_AUTOSTART=false without SIDECAR_AUTH_TOKEN: no sidecar can be trusted, MCP is off",
    );
  }
  if (!isLoopback(settings.host) && settings.openRegistration) {
    lines.push(
      `SVC_OPEN_REGISTRATION=true on ${settings.host}: anybody who reaches it may register`,
    );
  }
  return lines;
}
