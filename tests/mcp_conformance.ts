/**
 * Runs the official MCP conformance suite against the started program; exits with 1 when a scenario
 * fails that is not in the baseline, or one passes that is.
 *
 *     deno run -A tests/mcp_conformance.ts [--fixtures] [revision …]
 *
 * With `--fixtures` the sidecar also serves the tools the suite asks for (SVC_MCP_FIXTURES), and
 * nothing may fail.
 */
import { inHome, Program, relayerEnv } from "./program.ts";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";
const REVISIONS = ["2025-11-25", "2026-07-28"];
const CRLF = "\r\n\r\n";
const latin1 = new TextDecoder("latin1");

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
}

/** Adds credentials to the one request of a connection; Host and Origin stay, but for the port. */
function complete(head: string, from: number, to: number, headers: readonly string[]): string {
  const [first = "", ...lines] = head.split("\r\n");
  const kept = lines.filter((line) => !/^connection:/i.test(line)).map((line) =>
    /^(host|origin):/i.test(line) ? line.replace(`:${from}`, `:${to}`) : line
  );
  return [first, ...kept, ...headers, "connection: close"].join("\r\n");
}

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await to.write(bytes.subarray(done));
}

async function passOne(client: Deno.Conn, from: number, to: number, headers: readonly string[]) {
  using _client = client;
  let text = "";
  const piece = new Uint8Array(65_536);
  while (!text.includes(CRLF)) {
    const count = await client.read(piece);
    if (count === null) return;
    text += latin1.decode(piece.subarray(0, count));
  }
  const at = text.indexOf(CRLF);
  using server = await Deno.connect({ hostname: "127.0.0.1", port: to });
  await writeAll(server, bytesOf(complete(text.slice(0, at), from, to, headers) + text.slice(at)));
  const pipe = async (source: Deno.Conn, target: Deno.Conn) => {
    const buffer = new Uint8Array(65_536);
    for (let count = await source.read(buffer); count !== null; count = await source.read(buffer)) {
      await writeAll(target, buffer.subarray(0, count));
    }
  };
  // Whichever side leaves, the connection is over.
  await Promise.race([pipe(client, server), pipe(server, client)]);
}

/** A listener that gives every request credentials, byte by byte otherwise the same. */
function credentialProxy(to: number, headers: readonly string[]): Deno.TcpListener {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const from = listener.addr.port;
  void (async () => {
    for await (const client of listener) {
      passOne(client, from, to, headers).catch(() => {});
    }
  })();
  return listener;
}

async function runSuite(port: number, revision: string, hasFixtures: boolean): Promise<boolean> {
  const baseline = new URL(`./testdata/mcp_conformance/${revision}.yml`, import.meta.url);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-config",
      SUITE,
      "server",
      "--url",
      `http://127.0.0.1:${port}/api/mcp`,
      "--requirements",
      revision,
      ...(hasFixtures ? [] : ["--expected-failures", baseline.pathname]),
    ],
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  return success;
}

async function main(args: readonly string[]): Promise<boolean> {
  const hasFixtures = args.includes("--fixtures");
  const chosen = args.filter((arg) => !arg.startsWith("--"));
  let passed = true;
  await inHome(async (home) => {
    const env = {
      ...relayerEnv(home),
      SVC_RATE_LIMIT_DISABLED: "true",
      MCP_MAX_SESSIONS_PER_IP: "1000",
      MCP_MAX_NEW_SESSIONS_PER_IP_PER_MIN: "10000",
      ...(hasFixtures ? { SVC_TEST: "1", SVC_MCP_FIXTURES: "true" } : {}),
    };
    await using program = new Program(["start"], env);
    const { port } = await program.event("listening");
    const publicUrl = { SVC_PUBLIC_URL: `http://127.0.0.1:${port}` };
    await using create = new Program(["account", "create", "--save"], { ...env, ...publicUrl });
    if (await create.end() !== 0) throw new Error(create.errors.join("\n"));
    const saved = JSON.parse(await Deno.readTextFile(`${home}/.svc/credentials.json`));
    using proxy = credentialProxy(Number(port), [
      `authorization: Bearer ${saved.delegatePrivateKey}`,
      `x-svc-account-id: ${saved.accountId}`,
    ]);
    for (const revision of chosen.length > 0 ? chosen : REVISIONS) {
      const success = await runSuite(proxy.addr.port, revision, hasFixtures);
      const line = `${revision}: ${success ? "passed" : "FAILED"}\n`;
      await Deno.stdout.write(new TextEncoder().encode(line));
      passed &&= success;
    }
  });
  return passed;
}

if (import.meta.main) Deno.exit(await main(Deno.args) ? 0 : 1);
