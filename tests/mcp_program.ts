import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Program, relayerEnv } from "./program.ts";
import { poll } from "./within.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** The started program, and an account whose key is a bearer. */
export interface OpenProgram {
  /** Launcher, relayer and sidecar. */
  readonly program: Program;
  /** Address of the relayer, `http://127.0.0.1:port`. */
  readonly base: string;
  /** Headers of MCP requests, with the delegate key as bearer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The delegate key. */
  readonly secret: string;
  /** Variables of commands beside the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Process id of the first sidecar. */
  readonly sidecar: number;
  /** Process id of the relayer. */
  readonly relayer: number;
}

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** Status of a ping outside of a session: 400 when the sidecar answers. */
export async function pingStatus(base: string, headers: Readonly<Record<string, string>>) {
  const response = await fetch(`${base}/api/mcp`, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: ping,
  });
  return { status: response.status, body: await response.text() };
}

/** Resolves once the sidecar answers; until then, 502 is the only other answer. */
export async function untilServed(base: string, headers: Readonly<Record<string, string>>) {
  const ask = async () => {
    const { status, body } = await pingStatus(base, headers);
    if (status === 502) assert.equal(JSON.parse(body).error.data.code, "sidecar_unavailable");
    return status;
  };
  await poll(ask, (status) => status !== 502);
}

/**
 * Starts the program in a home folder, with these variables more, makes an account, and waits for
 * the sidecar; whoever calls ends the program.
 */
export async function openProgram(
  home: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<OpenProgram> {
  const own = { ...relayerEnv(home), ...extra };
  const program = new Program(["start"], own);
  try {
    const pids = new Map<unknown, number>();
    while (pids.size < 2) {
      const { process, pid } = await program.event("child process started");
      pids.set(process, Number(pid));
    }
    const { port } = await program.event("listening");
    const base = `http://127.0.0.1:${port}`;
    const env = { ...own, SVC_PUBLIC_URL: base };
    await using create = new Program(["account", "create", "--save"], env);
    assert.equal(await create.end(), 0, create.errors.join("\n"));
    const saved = JSON.parse(await Deno.readTextFile(`${home}/.svc/credentials.json`));
    const secret: string = saved.delegatePrivateKey;
    const headers = { authorization: `Bearer ${secret}`, "x-svc-account-id": saved.accountId };
    await untilServed(base, headers);
    const [relayer = 0, sidecar = 0] = [pids.get("relayer"), pids.get("sidecar")];
    return { program, base, headers, secret, env, relayer, sidecar };
  } catch (error) {
    await program[Symbol.asyncDispose]();
    throw error;
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
      "tests/mcp/conformance_fixtures.ts",
    ],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** The started program, for whoever only sends it requests. */
export interface McpProgram extends AsyncDisposable {
  /** The relayer's port. */
  readonly port: number;
  /** Headers of MCP requests, with a delegate key as bearer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Starts the program as {@linkcode openProgram} does, and reads its log. */
export async function startMcpProgram(
  home: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<McpProgram> {
  const { program, base, headers } = await openProgram(home, extra);
  // Somebody has to read the log, or the program waits for room in the pipe.
  const ended = program.end();
  return {
    port: Number(new URL(base).port),
    headers,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await ended;
    },
  };
}
