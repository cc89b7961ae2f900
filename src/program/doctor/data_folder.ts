import { markIn, movedText } from "../../storage/core_rows.ts";
import { outputOf } from "./disk.ts";
import { type Check, ok, problem } from "./finding.ts";
import { reasonOf } from "./reason.ts";
import { isWider, octal } from "./secret_files.ts";

/** Whether the data directory is this user's alone, and can be written by it; not so on Windows. */
export const dataFolder: Check = {
  name: "data directory",
  async look({ prepared: { settings: { dataDir } } }) {
    let info: Deno.FileInfo;
    try {
      info = await Deno.lstat(dataDir);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) {
        return [ok(`${dataDir} will be made at the first start`)];
      }
      return [problem(`${dataDir}: ${reasonOf(error)}`, "make it readable for this user")];
    }
    if (!info.isDirectory) {
      return [
        problem(`${dataDir} is a link or no folder`, "set SVC_DATA_DIR to the folder itself"),
      ];
    }
    const mark = markIn(`${dataDir}/core.db`);
    if (mark !== undefined) return [problem(movedText(mark), "docs/postgres.md says how")];
    if (isWider(info.mode, 0o700)) {
      const found = `other users may open ${dataDir} (${octal(info.mode)})`;
      return [problem(found, `chmod 700 ${dataDir}`)];
    }
    if (Deno.build.os === "windows") return [ok(`${dataDir} is there`)];
    const closed = await unwritable(dataDir);
    if (closed.length === 0) return [ok(`${dataDir} is this user's alone`)];
    const found = `this user cannot write ${closed.join(", ")}`;
    return [problem(found, `chown -R "$USER" ${dataDir}, as the user that runs the relayer`)];
  },
};

/** Files that a run as another user, such as root, left behind; the folder itself besides. */
async function unwritable(folder: string): Promise<string[]> {
  const paths = [folder];
  for await (const { name } of Deno.readDir(folder)) paths.push(`${folder}/${name}`);
  const script = 'for f do { test -r "$f" && test -w "$f"; } || echo "$f"; done';
  const said = await outputOf(script, ...paths);
  return said.split("\n").filter((line) => line !== "");
}
