import { fileURLToPath } from "node:url";

/** The folder of the repository, with a slash at its end. */
export const ROOT = fileURLToPath(new URL("../", import.meta.url));

/**
 * Runs Deno, in the folder of the repository if none is named, and answers what it prints.
 *
 * @throws {Error} with what it says when it fails.
 */
export async function runDeno(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = ROOT,
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdout: "piped",
    stderr: "piped",
  }).output();
  const [said, failed] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (code !== 0) throw new Error(`deno ${args[0]} failed: ${failed}${said}`);
  return said!;
}
