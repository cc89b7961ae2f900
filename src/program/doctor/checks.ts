import type { Env } from "../../interfaces/fields.ts";
import { inspect } from "../launcher/prepare.ts";
import { accessLists } from "./access_lists.ts";
import { ask } from "./ask.ts";
import { backups } from "./backups.ts";
import { clock } from "./clock.ts";
import { databases, keptInCore } from "./databases.ts";
import { dataFolder } from "./data_folder.ts";
import { dependencies } from "./dependencies.ts";
import { descriptors } from "./descriptors.ts";
import { disk, outputOf } from "./disk.ts";
import { type Check, type Finding, problem, type Subject } from "./finding.ts";
import { reasonOf } from "./reason.ts";
import { listener } from "./listener.ts";
import { permissions } from "./permissions.ts";
import { publicAddress } from "./public_address.ts";
import { relayerKey } from "./relayer_key.ts";
import { whoAnswers } from "./running.ts";
import { secretFiles } from "./secret_files.ts";
import { settings } from "./settings.ts";
import { tls } from "./tls.ts";

/** Every check, in the order of their lines. */
export const CHECKS: readonly Check[] = [
  settings,
  permissions,
  secretFiles,
  accessLists,
  relayerKey,
  dataFolder,
  databases,
  backups,
  disk,
  descriptors,
  clock,
  listener,
  tls,
  dependencies,
  publicAddress,
];

/** A finding with the name of its check. */
export type Line = Finding & { readonly check: string };

/**
 * Makes all checks. Nothing is changed, and a relayer that runs is only asked what everybody may ask.
 *
 * @param options `cwd`: what relative paths are relative to. `isPublic`: asks `SVC_PUBLIC_URL` too.
 */
export async function examine(
  env: Env,
  { cwd, isPublic }: { readonly cwd: string; readonly isPublic: boolean },
): Promise<Line[]> {
  const prepared = await inspect(env, cwd);
  const { settings } = prepared;
  const subject: Subject = {
    env,
    prepared,
    running: await whoAnswers(settings),
    holder: await holderOf(settings.dataDir),
    publicly: isPublic ? await askPublicly(settings.publicUrl) : undefined,
    packageId: settings.packageId ?? keptInCore(settings.dataDir, "package_id"),
    now: Date.now(),
  };
  const lines: Line[] = [];
  for (const check of CHECKS) {
    for (const finding of await lookSafely(check, subject)) {
      lines.push({ check: check.name, ...finding });
    }
  }
  return lines;
}

/** A check that fails says so, and keeps nobody from the others. */
async function lookSafely(check: Check, subject: Subject): Promise<Finding[]> {
  try {
    return await check.look(subject);
  } catch (error) {
    return [problem(`it cannot be told: ${reasonOf(error)}`, "look at the other lines first")];
  }
}

async function askPublicly(publicUrl: string | undefined) {
  if (publicUrl === undefined) return new Error("SVC_PUBLIC_URL is not set");
  try {
    return await ask({ origin: publicUrl, path: "/version" });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * The process that holds a data directory's lock. The lock itself is not tried: a relayer that starts
 * at that moment would be refused.
 */
async function holderOf(dataDir: string): Promise<number | undefined> {
  const info = await Deno.stat(`${dataDir}/relayer.lock`).catch(() => undefined);
  if (info?.ino == null || Deno.build.os !== "linux") return undefined;
  const locks = await outputOf("cat /proc/locks");
  const line = new RegExp(`FLOCK .*?(\\d+) [0-9a-f]+:[0-9a-f]+:${info.ino} `).exec(locks);
  return line?.[1] === undefined ? undefined : Number(line[1]);
}
