import { COMMAND, VERSION } from "../../wire/version.ts";
import { invalid } from "../invalid.ts";
import { type CommandIo, parseFlags, type Printed, runGroup, UsageError } from "./io.ts";

export const UPDATE_USAGE = `Usage: svc update --check [--json]

Asks the registry of npm whether there is a later version, and says how to get
it. Nothing else asks for versions. NPM_CONFIG_REGISTRY names another registry.
`;

const REGISTRY = "https://registry.npmjs.org";
const TIMEOUT_MS = 10_000;

/** Whether a version comes after another one (https://semver.org/#spec-item-11, releases only). */
export function isLater(version: string, than: string): boolean {
  const numbers = (text: string) => text.split(/[-+]/, 1)[0]!.split(".").map(Number);
  const [a, b] = [numbers(version), numbers(than)];
  const at = [0, 1, 2].find((part) => a[part] !== b[part]);
  return at !== undefined && a[at]! > b[at]!;
}

async function check(io: CommandIo): Promise<Printed> {
  const registry = (io.env.NPM_CONFIG_REGISTRY || REGISTRY).replace(/\/$/, "");
  let latest: unknown;
  try {
    const answer = await fetch(`${registry}/svc/latest`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    latest = Object(await answer.json()).version;
  } catch {
    throw invalid(`${registry} cannot be asked; this is version ${VERSION}`);
  }
  if (typeof latest !== "string" || !/^\d+\.\d+\.\d+/.test(latest)) {
    throw invalid(`${registry} has no package svc; this is version ${VERSION}`);
  }
  const isNew = isLater(latest, VERSION);
  const how = COMMAND === "svc" ? "npm install --global svc@latest" : "git pull";
  const text = isNew
    ? `Version ${latest} is there; this is ${VERSION}. Stop the relayer, then: ${how}\n`
    : `This is ${VERSION}, the latest.\n`;
  return [{ version: VERSION, latest, update: isNew }, text];
}

/**
 * Runs `svc update --check`.
 *
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runUpdate(args: readonly string[], io: CommandIo): Promise<number> {
  const run = async () => {
    const { values, positionals } = parseFlags(args, {
      check: { type: "boolean" },
      json: { type: "boolean" },
    });
    if (positionals.length > 0 || !values.check) throw new UsageError("Say --check");
    return await check(io);
  };
  return await runGroup({ usage: UPDATE_USAGE, run }, args, io);
}
