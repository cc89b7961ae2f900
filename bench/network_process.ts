import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/**
 * Starts a network in a process of its own, so that its work is not on our event loop. Disposing
 * ends it.
 *
 * @param args Module, relative to the repository, and its arguments. It writes what its users need
 * as one line of JSON once it is ready, and ends when its standard input does.
 * @returns What it wrote.
 * @throws {Error} If it ended before.
 */
export async function startNetwork<T>(...args: readonly string[]): Promise<T & AsyncDisposable> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--lock=deno.lock", "--frozen", "-A", ...args],
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  let line = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    line += chunk;
    if (line.includes("\n")) break;
  }
  if (!line.includes("\n")) throw new Error(`${args.join(" ")} ended before it was ready`);
  return {
    ...JSON.parse(line.slice(0, line.indexOf("\n"))) as T,
    async [Symbol.asyncDispose]() {
      await child.stdin.close();
      await child.status;
    },
  };
}
