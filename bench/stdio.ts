import { bundleStdio } from "../build/stdio_package.ts";
import { writeCredentials } from "../src/client/credentials_file.ts";
import { makeDelegateKey } from "../src/client/mod.ts";
import type { Part } from "./figures.ts";
import { freePort, ServerProcess } from "./server_process.ts";
import { median, quantile } from "./statistics.ts";
import { type StdioCommand, StdioProcess } from "./stdio_process.ts";

const STARTS = 11;
const CALLS = 1000;
const WARM_CALLS = 200;

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
};
const CALL = { name: "svc_recall", arguments: { query: "tea" } };

async function saveCredentials(home: string, relayerUrl: string): Promise<void> {
  const pair = await makeDelegateKey();
  const id = `0x${"00".repeat(32)}`;
  await writeCredentials(`${home}/.svc/credentials.json`, {
    delegatePrivateKey: pair.privateKey,
    delegatePublicKeyHex: pair.publicKey,
    delegateAddress: pair.address,
    walletAddress: id,
    accountId: id,
    packageId: id,
    relayerUrl,
    createdAt: new Date().toISOString(),
    version: 1,
  });
}

/** Milliseconds from the start of the process to the first byte of the answer to initialize. */
async function firstByte(command: StdioCommand): Promise<number> {
  const begin = performance.now();
  await using svc = new StdioProcess(command);
  await svc.request("initialize", INITIALIZE, "first byte");
  return performance.now() - begin;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** The same call, through the package and directly, in turns. */
async function calls(command: StdioCommand, base: string, note: (text: string) => void) {
  await using svc = new StdioProcess(command);
  await svc.request("initialize", INITIALIZE, "answer");
  const direct = async (): Promise<string> => {
    const response = await fetch(`${base}/api/mcp`, {
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-session-id": "0123456789abcdef",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: CALL }),
    });
    return await response.text();
  };
  const through = () => svc.request("tools/call", CALL, "answer");
  const times: { through: number; direct: number }[] = [];
  for (let at = -WARM_CALLS; at < CALLS; at++) {
    if (at % 500 === 0) note(`call ${at} of ${CALLS}`);
    const sample = { through: await timed(through), direct: await timed(direct) };
    if (at >= 0) times.push(sample);
  }
  return times;
}

/** How soon the stdio package answers, and what it adds to a tool call. */
export const stdioPart: Part = {
  name: "stdio",
  title: "stdio: the package from its bundle, in front of a relayer that answers at once",
  async run(note) {
    const home = await Deno.makeTempDir();
    try {
      const port = freePort();
      await using _relayer = await ServerProcess.start({
        args: ["bench/servers/mcp.ts", String(port)],
        port,
      });
      const base = `http://127.0.0.1:${port}`;
      await saveCredentials(home, base);
      const path = `${home}/svc-mcp.mjs`;
      await bundleStdio(path);
      const deno = {
        command: Deno.execPath(),
        args: ["run", "--no-prompt", "--no-config", "-A", path],
        home,
      };
      const starts: number[] = [];
      for (let round = 0; round <= STARTS; round++) {
        note(`start ${round} of ${STARTS}`);
        const ms = await firstByte(deno);
        if (round > 0) starts.push(ms);
      }
      const times = await calls(deno, base, note);
      const through = median(times.map((sample) => sample.through));
      const added = times.map((sample) => sample.through - sample.direct);
      return [
        {
          name: "process start to first byte of initialize, p50",
          value: median(starts),
          unit: "ms",
          goal: { atMost: 250 },
        },
        { name: "the same, slowest", value: quantile(starts, 1), unit: "ms" },
        { name: "tool call through the package, p50", value: through, unit: "ms" },
        {
          name: "tool call, directly, p50",
          value: median(times.map((sample) => sample.direct)),
          unit: "ms",
        },
        {
          name: "added by the package, p50",
          value: median(added),
          unit: "ms",
          goal: { atMost: 3 },
        },
        { name: "added by the package, p95", value: quantile(added, 0.95), unit: "ms" },
      ];
    } finally {
      await Deno.remove(home, { recursive: true });
    }
  },
};
