import assert from "node:assert/strict";
import { type LogLine, Program, relayerEnv } from "../program.ts";

/** Whether a line is about the sidecar's process. */
export const isSidecar = (line: LogLine): boolean => line.process === "sidecar";

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** Status of a ping outside of a session: 400 when the sidecar answers. */
export async function pingStatus(
  base: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: string }> {
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
export async function untilServed(
  base: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  for (;;) {
    const { status, body } = await pingStatus(base, headers);
    if (status !== 502) return;
    assert.equal(JSON.parse(body).error.data.code, "sidecar_unavailable");
    // Each refusal is logged, and nobody reads the log meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The started program, serving MCP. */
export interface ServingRelayer {
  readonly program: Program;
  /** Its address. */
  readonly base: string;
  /** The first sidecar's process. */
  readonly sidecar: number;
  /** Variables of the program and of commands beside it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts the program; on a port of its own unless `env` names one. */
export async function startServing(
  home: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<ServingRelayer> {
  const env = { ...relayerEnv(home), ...extra };
  const program = new Program(["start"], env);
  const { pid } = await program.event("child process started", isSidecar);
  const { port } = await program.event("listening");
  const base = `http://127.0.0.1:${port}`;
  return { program, base, sidecar: Number(pid), env: { ...env, SVC_PUBLIC_URL: base } };
}

/** Runs a command to its end; answers its standard output. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  await using command = new Program(args, env);
  assert.equal(await command.end(), 0, command.errors.join("\n"));
  return await command.output;
}
