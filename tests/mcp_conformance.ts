/**
 * Runs the official MCP conformance suite against the started program; exits with 1 when anything
 * fails that is not in the baseline, or something passes that is.
 *
 *     deno run -A tests/mcp_conformance.ts [--fixtures | --all | --authorization] [revision …]
 *
 * With `--fixtures` the sidecar also serves the tools the suite asks for (SVC_MCP_FIXTURES), and
 * only what the protocol declines may fail; `--all` runs both. Results and reasons are in
 * tests/testdata/mcp_conformance. Without `--fixtures` the scenarios of authorization servers run as
 * well; `--authorization` runs these alone.
 */
import { fileURLToPath } from "node:url";
import { runAuthorization } from "./mcp_conformance/authorization.ts";
import { credentialProxy } from "./mcp_conformance/credential_proxy.ts";
import { judge, parseBaseline, readScenarios } from "./mcp_conformance/verdict.ts";
import { cachePackages, startMcpProgram } from "./mcp_program.ts";
import { inHome } from "./program.ts";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";
const REVISIONS = ["2025-11-25", "2026-07-28"];
const MOST_MS = 120_000;
const text = new TextDecoder();

async function print(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}

/** The suite without the project's settings: it is no package of the project. */
const RUN = ["run", "-A", "--no-config", "--no-lock", SUITE];

async function suite(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...RUN, ...args],
    env: { NO_COLOR: "1" },
    signal: AbortSignal.timeout(MOST_MS),
  }).output();
  return text.decode(stdout) + text.decode(stderr);
}

async function baseline(name: string): Promise<string[]> {
  const file = new URL(`./testdata/mcp_conformance/${name}.yml`, import.meta.url);
  return parseBaseline(await Deno.readTextFile(file));
}

/** Runs one revision, and prints what is wrong and a line of numbers. */
async function runRevision(port: number, revision: string, isShipped: boolean): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  try {
    const url = `http://127.0.0.1:${port}/api/mcp`;
    const output = await suite("server", "--url", url, "--requirements", revision, "-o", folder);
    const scenarios = await readScenarios(folder);
    const [, announced] = /\((\d+) scenarios\)/.exec(output) ?? [];
    const entries = [
      ...(isShipped ? await baseline(revision) : []),
      ...(await baseline("declined")).filter((entry) =>
        scenarios.some(({ name }) => entry.startsWith(`${name}:`))
      ),
    ];
    const verdict = judge(scenarios, entries);
    const complaints = [...verdict.complaints];
    if (Number(announced) !== scenarios.length) {
      complaints.push(`${scenarios.length} results for ${announced} scenarios:\n${output}`);
    }
    const name = `${revision} ${isShipped ? "as shipped" : "with fixtures"}`;
    for (const complaint of complaints) await print(`${name}: ${complaint}`);
    const { passed, failed, expected, skipped } = verdict;
    await print(
      `${name}: ${passed} scenarios passed, ${failed} failed, ${expected} failed as expected, ` +
        `${skipped} skipped by the suite`,
    );
    return complaints.length === 0;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Tools, prompts and resources that the suite asks for. */
const FIXTURES = fileURLToPath(new URL("mcp/conformance_fixtures.ts", import.meta.url));

/** The scenarios of authorization servers: metadata, and the grant by a code. */
async function runAsServer(): Promise<boolean> {
  let passed = false;
  await inHome(async (home) => {
    await using program = await startMcpProgram(home, { SVC_CLIENT_METADATA: "true" });
    const result = await runAuthorization(program, RUN);
    passed = result.passed;
    await print(passed ? "authorization: 2 scenarios passed" : result.output);
  });
  return passed;
}

async function runProgram(revisions: readonly string[], isShipped: boolean): Promise<boolean> {
  let passed = true;
  await inHome(async (home) => {
    await using program = await startMcpProgram(home, {
      SVC_RATE_LIMIT_DISABLED: "true",
      MCP_MAX_SESSIONS_PER_IP: "1000",
      MCP_MAX_NEW_SESSIONS_PER_IP_PER_MIN: "10000",
      ...(isShipped ? {} : { SVC_TEST: "1", SVC_MCP_FIXTURES: FIXTURES }),
    });
    using proxy = credentialProxy(program.port, program.headers);
    for (const revision of revisions) {
      passed = await runRevision(proxy.addr.port, revision, isShipped) && passed;
    }
  });
  return passed;
}

async function main(args: readonly string[]): Promise<boolean> {
  const chosen = args.filter((arg) => !arg.startsWith("--"));
  const revisions = chosen.length > 0 ? chosen : REVISIONS;
  const modes = args.includes("--all") ? [true, false] : [!args.includes("--fixtures")];
  await cachePackages();
  // Once, so that two runs do not fetch it at the same time.
  await suite("list");
  if (args.includes("--authorization")) return await runAsServer();
  const results = await Promise.all(modes.map((isShipped) => runProgram(revisions, isShipped)));
  if (modes.includes(true)) results.push(await runAsServer());
  return !results.includes(false);
}

if (import.meta.main) Deno.exit(await main(Deno.args) ? 0 : 1);
