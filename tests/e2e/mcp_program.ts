import assert from "node:assert/strict";
import { inHome, Program, relayerEnv } from "../program.ts";
import { untilServed } from "./mcp_relayer.ts";

/** The started program, and an account whose key is a bearer. */
export interface Started {
  readonly program: Program;
  /** Address of the relayer, `http://127.0.0.1:port`. */
  readonly base: string;
  /** Credentials of an MCP request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Variables of commands beside the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Process id of the first sidecar. */
  readonly sidecar: number;
  /** Process id of the relayer. */
  readonly relayer: number;
}

/** Options of {@linkcode started}. */
export interface StartOptions {
  /** Variables of the program. */
  readonly env?: Readonly<Record<string, string>>;
  /** What must not be in the log. */
  readonly secrets?: readonly string[];
}

/**
 * Starts launcher, relayer and sidecar in a home of their own, and one account. Afterwards they end
 * as asked, and neither the account's key nor other secrets are in the log.
 */
export async function started(
  test: (svc: Started) => Promise<void>,
  options: StartOptions = {},
): Promise<void> {
  await inHome(async (home) => {
    const env = { ...relayerEnv(home), ...options.env };
    await using program = new Program(["start"], env);
    const pids = new Map<unknown, number>();
    while (pids.size < 2) {
      const { process, pid } = await program.event("child process started");
      pids.set(process, Number(pid));
    }
    const { port } = await program.event("listening");
    const base = `http://127.0.0.1:${port}`;
    const client = { ...env, SVC_PUBLIC_URL: base };
    await using create = new Program(["account", "create", "--save"], client);
    assert.equal(await create.end(), 0, create.errors.join("\n"));
    const saved = JSON.parse(await Deno.readTextFile(`${home}/.svc/credentials.json`));
    const headers = {
      authorization: `Bearer ${saved.delegatePrivateKey}`,
      "x-svc-account-id": saved.accountId,
    };
    await untilServed(base, headers);
    const [relayer = 0, sidecar = 0] = [pids.get("relayer"), pids.get("sidecar")];
    await test({ program, base, headers, env: client, relayer, sidecar });
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);
    const log = program.errors.join("\n");
    for (const secret of [saved.delegatePrivateKey, ...options.secrets ?? []]) {
      assert.ok(!log.includes(secret));
    }
  });
}
