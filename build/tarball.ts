import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";

/** The time of every file in a package, as npm has it: two builds give the same bytes. */
const TIME = new Date("1985-10-26T08:15:00Z");

/** Paths of the files below a folder, relative to it, in the same order everywhere. */
export async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  const look = async (path: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(`${folder}/${path}`)) {
      if (isDirectory) await look(`${path}${name}/`);
      else found.push(`${path}${name}`);
    }
  };
  await look("");
  return found.sort();
}

/**
 * Packs a folder as `npm pack` does: everything below `package/`, without anything of this machine.
 *
 * @param executables Paths of the files that can be started.
 */
export async function writeTarball(
  folder: string,
  output: string,
  executables: readonly string[],
): Promise<void> {
  const entries = [];
  for (const path of await filesBelow(folder)) {
    const body = await Deno.readFile(`${folder}/${path}`);
    const mode = executables.includes(path) ? 0o755 : 0o644;
    const header = { name: `package/${path}`, size: body.length, mode, mtime: TIME };
    entries.push({ header: { ...header, uid: 0, gid: 0, uname: "", gname: "" }, body });
  }
  const packed = gzipSync(await packTar(entries), { level: 9 });
  // Byte 9 names the system that compressed it (RFC 1952): unknown.
  packed[9] = 255;
  await Deno.writeFile(output, packed);
}
