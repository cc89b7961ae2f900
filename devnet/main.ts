/**
 * Starts a devnet and prints the settings of a program that runs on it.
 *
 * `deno run -A devnet/main.ts [--port 9100] [--data DIR] [--seed 1] [--shards 10] [--key-servers 3]`
 *
 * @module
 */
import { parseArgs } from "node:util";
import { onStopSignal } from "../src/program/process_events.ts";
import { startDevnet } from "./mod.ts";

/** Where the node listens unless told otherwise: the address that `localnet` stands for. */
const PORT = 9100;

const OPTIONS = {
  port: { type: "string" },
  data: { type: "string" },
  seed: { type: "string" },
  shards: { type: "string" },
  "key-servers": { type: "string" },
} as const;

function numeric(name: string, text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (!Number.isInteger(value) || value < 0) throw new TypeError(`--${name} must be a number`);
  return value;
}

if (import.meta.main) {
  const { values } = parseArgs({ args: Deno.args, options: OPTIONS });
  await using devnet = await startDevnet({
    port: numeric("port", values.port, PORT),
    seed: numeric("seed", values.seed, 1),
    shards: numeric("shards", values.shards, 10),
    keyServers: numeric("key-servers", values["key-servers"], 3),
    ...(values.data === undefined ? {} : { dataDir: values.data }),
  });
  const lines = Object.entries(devnet.settings()).map(([name, value]) => `${name}='${value}'`);
  const ended = new Promise<void>((resolve) => {
    onStopSignal(() => resolve());
  });
  const text = [`# node ${devnet.rpcUrl}, faucet ${devnet.faucetUrl}`, ...lines, ""].join("\n");
  Deno.stdout.writeSync(new TextEncoder().encode(text));
  await ended;
}
