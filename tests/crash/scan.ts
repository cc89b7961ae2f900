import { dumpOf } from "../postgres_programs.ts";
import type { Installation } from "./installation.ts";
import { Haystack, hexSpellings, type Needle, scanFolder, textSpellings } from "./secrets.ts";
import { MARK } from "./texts.ts";
import type { Identity } from "./wire.ts";

/**
 * Looks for secrets in everything an installation left on disk, in its database and in the logs: the mark of every
 * text, the caller's private key, and the hash of every body that was sent.
 *
 * @returns what was found where.
 */
export async function scan(
  installation: Installation,
  identity: Identity,
  bodyHashes: Iterable<string>,
): Promise<string[]> {
  const needles: Needle[] = [
    ...textSpellings("text", MARK),
    ...hexSpellings("private key", identity.privateKey),
  ];
  for (const hash of bodyHashes) needles.push(...hexSpellings("body hash", hash));
  const haystack = new Haystack(needles);
  const logs = haystack.find(new TextEncoder().encode(installation.logs));
  const found = [...logs].map((name) => `${name} in the logs`);
  if (installation.database !== undefined) {
    const dump = haystack.find(await dumpOf(installation.database));
    found.push(...[...dump].map((name) => `${name} in the database`));
  }
  // The home folder holds the data directory and the relayer key beside it.
  for (const folder of new Set([installation.home, installation.dataDir])) {
    found.push(...await scanFolder(folder, haystack));
  }
  return found;
}
