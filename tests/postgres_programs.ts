/** Folder of the newest server's programs, of 15 and later, where Debian's packages put them. */
export function programs(): string | undefined {
  try {
    const versions = [...Deno.readDirSync("/usr/lib/postgresql")]
      .map(({ name }) => Number(name)).filter((version) => version >= 15);
    const newest = versions.sort((a, b) => b - a)
      .map((version) => `/usr/lib/postgresql/${version}/bin`);
    return newest.find((folder) => {
      try {
        return Deno.statSync(`${folder}/initdb`).isFile;
      } catch {
        return false;
      }
    });
  } catch {
    return undefined;
  }
}

/** Everything in the database at an address, as a backup has it. */
export async function dumpOf(url: string): Promise<Uint8Array> {
  const args = ["--dbname", url, "--inserts"];
  const { success, stdout, stderr } = await new Deno.Command(`${programs()}/pg_dump`, { args })
    .output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return stdout;
}
