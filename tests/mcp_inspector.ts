/**
 * Calls the started program with the MCP Inspector's command line, over Streamable HTTP and over
 * HTTP with SSE: lists the tools, remembers, recalls. Needs npx; exits with 1 when a step fails.
 *
 *     deno run -A tests/mcp_inspector.ts
 */
import { cachePackages, type McpProgram, startMcpProgram } from "./mcp_program.ts";
import { inHome } from "./program.ts";

/** It asks for a newer Node, but its command line runs on Node 20. */
export const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const MOST_MS = 120_000;
const FACT = "I am allergic to peanuts";
const TOOLS = ["svc_remember", "svc_recall", "svc_analyze", "svc_restore"];
const decoder = new TextDecoder();

/** Runs the command line; the answer is the result as JSON. */
async function inspect(
  { port, headers }: McpProgram,
  home: string,
  transport: "http" | "sse",
  ...call: readonly string[]
): Promise<string> {
  const path = transport === "sse" ? "/api/mcp/sse" : "/api/mcp";
  const { success, stdout, stderr } = await new Deno.Command("npx", {
    args: [
      "-y",
      INSPECTOR,
      "--cli",
      `http://127.0.0.1:${port}${path}`,
      "--transport",
      transport,
      ...Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
      ...call,
    ],
    // Its settings go into a home of their own, its packages into npm's cache.
    env: { HOME: home, npm_config_cache: await npmCache() },
    signal: AbortSignal.timeout(MOST_MS),
  }).output();
  if (!success) throw new Error(`${call.join(" ")}: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

async function npmCache(): Promise<string> {
  const { stdout } = await new Deno.Command("npm", { args: ["config", "get", "cache"] }).output();
  return decoder.decode(stdout).trim();
}

function demand(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`"${part}" is not in the answer: ${text}`);
}

async function check(program: McpProgram, home: string, transport: "http" | "sse"): Promise<void> {
  const tools = await inspect(program, home, transport, "--method", "tools/list");
  for (const name of TOOLS) demand(tools, `"${name}"`);
  const call = (tool: string, ...args: readonly string[]) => {
    const given = [...args, `namespace=notes-${transport}`].flatMap((arg) => ["--tool-arg", arg]);
    const method = ["--method", "tools/call", "--tool-name", tool];
    return inspect(program, home, transport, ...method, ...given);
  };
  demand(await call("svc_remember", `text=${FACT}`), "Remembered in notes-");
  demand(await call("svc_recall", "query=peanuts"), FACT);
  const line = `${transport}: ${TOOLS.length} tools listed, a fact remembered and recalled\n`;
  await Deno.stdout.write(new TextEncoder().encode(line));
}

if (import.meta.main) {
  await cachePackages();
  await inHome(async (home) => {
    await using program = await startMcpProgram(home);
    await check(program, home, "http");
    await check(program, home, "sse");
  });
}
