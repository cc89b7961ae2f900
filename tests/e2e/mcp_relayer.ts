import assert from "node:assert/strict";
import { type LogLine, Program, relayerEnv } from "../program.ts";

/** Whether a line is about the sidecar's process. */
export const isSidecar = (line: LogLine): boolean => line.process === "sidecar";

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
