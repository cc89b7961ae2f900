import { fileURLToPath } from "node:url";
import { Program, relayerEnv } from "./program.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SERVED_WITHIN_MS = 30_000;

/** The started program, and the credentials of an account. */
export interface McpProgram extends AsyncDisposable {
  /** The relayer's port. */
  readonly port: number;
  /** Headers of MCP requests, with a delegate key as bearer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Waits until requests reach the sidecar; until then the answer is 502. */
async function untilServed(url: string, headers: Readonly<Record<string, string>>) {
  const end = performance.now() + SERVED_WITHIN_MS;
  for (;;) {
    const { status, body } = await fetch(url, { method: "DELETE", headers });
    await body?.cancel();
    if (status !== 502) return;
    if (performance.now() > end) throw new Error("the sidecar does not answer");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Fetches the packages of the program, with the environment of this process: the program itself is
 * started without it, and may not find the registry.
 *
 * @throws {Error} when they cannot be fetched.
 */
export async function cachePackages(): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "cache",
      "--quiet",
      "--lock=deno.lock",
      "--frozen",
      "main.ts",
      "src/",
      "tests/sidecar/conformance_fixtures.ts",
    ],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** Starts the program in a home folder, with these variables more, and makes an account. */
export async function startMcpProgram(
  home: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<McpProgram> {
  const env = { ...relayerEnv(home), ...extra };
  const program = new Program(["start"], env);
  try {
    const { port } = await program.event("listening");
    // Somebody has to read the log, or the program waits for room in the pipe.
    const ended = program.end();
    const base = `http://127.0.0.1:${port}`;
    await using create = new Program(["account", "create", "--save"], {
      ...env,
      SVC_PUBLIC_URL: base,
    });
    if (await create.end() !== 0) throw new Error(create.errors.join("\n"));
    const saved = JSON.parse(await Deno.readTextFile(`${home}/.svc/credentials.json`));
    const headers = {
      authorization: `Bearer ${saved.delegatePrivateKey}`,
      "x-svc-account-id": saved.accountId,
    };
    await untilServed(`${base}/api/mcp`, headers);
    return {
      port: Number(port),
      headers,
      async [Symbol.asyncDispose]() {
        await program[Symbol.asyncDispose]();
        await ended;
      },
    };
  } catch (error) {
    await program[Symbol.asyncDispose]();
    throw error;
  }
}
