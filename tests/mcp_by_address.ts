/**
 * Connects programs of others by the address alone: mcp-remote, which hosts start, and the command
 * line of the MCP Inspector. Somebody consents as soon as they ask. Needs npx; exits with 1 when a
 * step fails.
 *
 *     deno run -A tests/mcp_by_address.ts
 */
import { freePort } from "./free_port.ts";
import { consent } from "./mcp_conformance/authorization.ts";
import { INSPECTOR } from "./mcp_inspector.ts";
import { cachePackages, type McpProgram, startMcpProgram } from "./mcp_program.ts";
import { inHome } from "./program.ts";

const MCP_REMOTE = "mcp-remote@0.15.1";
const MOST_MS = 120_000;
const text = new TextDecoder();

async function npmCache(): Promise<string> {
  const { stdout } = await new Deno.Command("npm", { args: ["config", "get", "cache"] }).output();
  return text.decode(stdout).trim();
}

async function readAll(from: ReadableStream<Uint8Array>, onText: (all: string) => unknown) {
  let all = "";
  for await (const piece of from.pipeThrough(new TextDecoderStream())) {
    all += piece;
    await onText(all);
  }
}

/** A program of others at the address, where somebody consents. */
async function start(program: McpProgram, home: string, args: readonly string[]) {
  const base = `http://127.0.0.1:${program.port}`;
  const child = new Deno.Command("npx", {
    args: ["-y", ...args],
    // Its tokens go into a home of their own, and no browser is found to be opened.
    env: {
      HOME: home,
      npm_config_cache: await npmCache(),
      BROWSER: "none",
      NO_COLOR: "1",
      // The Inspector asks nobody where it sees no terminal, but for this.
      MCP_AUTO_OPEN_ENABLED: "true",
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(MOST_MS),
  }).spawn();
  let isAsked = false;
  let said = "";
  const errors = readAll(child.stderr, async (all) => {
    said = all;
    const [asked] = /http:\S+\/oauth\/authorize\?\S+(?=\s)/.exec(all) ?? [];
    if (asked === undefined || isAsked) return;
    isAsked = true;
    await consent(base, asked, program);
  });
  return { child, errors, said: () => said };
}

/** mcp-remote between standard input and the relayer: lists the tools. */
async function throughMcpRemote(program: McpProgram, home: string): Promise<string> {
  const address = `http://127.0.0.1:${program.port}/api/mcp/connect`;
  const { child, errors, said } = await start(program, home, [MCP_REMOTE, address]);
  const writer = child.stdin.getWriter();
  const send = (message: unknown) =>
    writer.write(
      new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message as object })}\n`),
    );
  const clientInfo = { name: "by address", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  await send({ id: 1, method: "initialize", params });
  const done = Promise.withResolvers<string>();
  let isListing = false;
  const answers = readAll(child.stdout, async (all) => {
    if (all.includes('"id":1') && !isListing) {
      isListing = true;
      await send({ method: "notifications/initialized" });
      await send({ id: 2, method: "tools/list" });
    }
    if (all.includes('"tools":[')) done.resolve(all);
  });
  child.status.then(() => done.reject(new Error(said())));
  try {
    return await done.promise;
  } finally {
    await writer.close().catch(() => {});
    child.kill();
    await Promise.allSettled([errors, answers, child.status]);
  }
}

/** The Inspector's command line: lists the tools. */
async function throughInspector(program: McpProgram, home: string): Promise<string> {
  const { child, errors, said } = await start(program, home, [
    INSPECTOR,
    "--cli",
    `http://127.0.0.1:${program.port}/api/mcp/connect`,
    ...["--transport", "http", "--method", "tools/list"],
    ...["--callback-url", `http://127.0.0.1:${freePort()}/oauth/callback`],
  ]);
  let listed = "";
  await child.stdin.close();
  const answers = readAll(child.stdout, (all) => void (listed = all));
  const { success } = await child.status;
  await Promise.allSettled([errors, answers]);
  if (!success) throw new Error(said() + listed);
  return listed;
}

async function check(
  name: string,
  list: (program: McpProgram, home: string) => Promise<string>,
): Promise<void> {
  await inHome(async (home) => {
    await using program = await startMcpProgram(home);
    const listed = await list(program, home);
    if (!listed.includes('"svc_recall"')) throw new Error(`${name}: ${listed}`);
    await Deno.stdout.write(new TextEncoder().encode(`${name}: connected by its address\n`));
  });
}

if (import.meta.main) {
  await cachePackages();
  await check(MCP_REMOTE, throughMcpRemote);
  await check(INSPECTOR, throughInspector);
}
