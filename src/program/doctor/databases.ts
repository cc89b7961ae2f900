import { openForReading } from "../../storage/sqlite/sqlite_file.ts";
import { type Check, type Finding, ok, problem, type Subject, warning } from "./finding.ts";
import { reasonOf } from "./reason.ts";

/** Looking through a file holds its log back: beside a running relayer only small ones. */
const LARGEST_BESIDE = 256 * 1024 * 1024;
const ADVICE = "docs/operations.md#when-a-file-is-damaged says what to do for each file";

/** Whether the databases are whole. They are opened for reading only. */
export const databases: Check = {
  name: "databases",
  async look(subject) {
    const { dataDir } = subject.prepared.settings;
    const found: Finding[] = [];
    for (const name of await databaseFiles(dataDir)) {
      const { size } = await Deno.stat(`${dataDir}/${name}`);
      found.push(isLeftAlone(name, size, subject) ?? lookThrough(dataDir, name, size));
    }
    return found.length > 0 ? found : [ok("there are none yet")];
  },
};

async function databaseFiles(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (isFile && /\.(db|kv)$/.test(name)) names.push(name);
    }
  } catch {
    // Another check says why.
  }
  return names.sort();
}

/** Why a file is not looked through while a relayer uses it. */
function isLeftAlone(
  name: string,
  size: number,
  { running, holder }: Subject,
): Finding | undefined {
  if (holder === undefined && running.who !== "relayer") return undefined;
  // Deno's table takes one process only.
  if (name.endsWith(".kv")) return ok(`${name} is in use, and not looked through`);
  if (size <= LARGEST_BESIDE) return undefined;
  return ok(`${name} is large and in use; to look through it, ask while the relayer is stopped`);
}

/** Looks through a database without changing it. */
export function lookThrough(folder: string, name: string, size: number): Finding {
  try {
    using database = openForReading(`${folder}/${name}`);
    const result = Object.values(database.prepare("pragma quick_check(1)").get() ?? {})[0];
    if (result !== "ok") return problem(`${name} is damaged`, ADVICE);
    const pages = (pragma: string) =>
      Number(Object.values(database.prepare(`pragma ${pragma}`).get() ?? {})[0]);
    const free = Math.round(100 * pages("freelist_count") / Math.max(1, pages("page_count")));
    return ok(`${name} is whole: ${(size / 1024 / 1024).toFixed(1)} MiB, ${free} % of it free`);
  } catch (error) {
    const reason = reasonOf(error);
    return /locked|busy/.test(reason)
      ? warning(`${name} is busy`, "ask again")
      : problem(`${name}: ${reason}`, ADVICE);
  }
}

/** What core.db keeps under a name; `undefined` where there is nothing, or no such file. */
export function keptInCore(dataDir: string, name: string): string | undefined {
  try {
    using database = openForReading(`${dataDir}/core.db`);
    const row = database.prepare("select value from meta where name = ?").get(name);
    return row === undefined ? undefined : String(row.value);
  } catch {
    return undefined;
  }
}
