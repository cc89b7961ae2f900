/**
 * Runs the tests of HTTP, MCP and crashes with relayers that keep everything in PostgreSQL, on a
 * server that is started for them.
 *
 * `deno task test:postgres [file or folder…]`
 *
 * @module
 */
import { parseAddress, postgresStateStore } from "../../plugins/postgres/mod.ts";
import { LOCKED } from "../locked.ts";
import { NO_POSTGRES, PostgresServer } from "../postgres_server.ts";
import { variablesOf } from "./databases.ts";

const FOLDERS = ["tests/http", "tests/mcp", "tests/crash"];

/** Files there that start no relayer: a store is nothing to them. */
const WITHOUT_RELAYER = [
  "tests/crash/secrets_test.ts",
  "tests/http/body_reader_test.ts",
  "tests/http/query_test.ts",
  "tests/http/security_page_test.ts",
  "tests/http/shared_limits_test.ts",
  "tests/mcp/accept_test.ts",
  "tests/mcp/event_stream_test.ts",
  "tests/mcp/library_refusal_test.ts",
];

/** Nothing here outlives the machine, and everything is small. */
const OPTIONS = ["full_page_writes=off", "synchronous_commit=off", "autovacuum=off"];

/** More than there are processors: tests wait for the server, and for leases of killed relayers. */
const AT_ONCE = 4;

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Runs tests on a server, and answers the exit code. */
async function runOn(server: PostgresServer, what: readonly string[]): Promise<number> {
  const template = await server.database();
  // Makes the tables.
  await (await postgresStateStore({ address: parseAddress(template) }))[Symbol.asyncDispose]();
  const spares = await Deno.makeTempDir();
  try {
    const process = new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        ...LOCKED,
        "--no-check",
        "--allow-all",
        "--preload=tests/preload.ts",
        "--parallel",
        ...what,
      ],
      env: {
        DENO_JOBS: String(AT_ONCE),
        SVC_TEST_STORE: "postgres",
        ...variablesOf({ template, spares }),
      },
    }).spawn();
    return (await process.status).code;
  } finally {
    await Deno.remove(spares, { recursive: true });
  }
}

if (NO_POSTGRES !== undefined) {
  say(NO_POSTGRES);
  Deno.exit(1);
}
// Whoever interrupts this interrupts the tests as well, which say what had not ended.
Deno.addSignalListener("SIGINT", () => {});
const isWhole = Deno.args.length === 0;
if (isWhole) say(`left out, since they start no relayer: ${WITHOUT_RELAYER.join(", ")}`);
const chosen = isWhole ? [`--ignore=${WITHOUT_RELAYER.join(",")}`, ...FOLDERS] : Deno.args;
let code: number;
{
  await using server = await PostgresServer.start({ options: OPTIONS });
  code = await runOn(server, chosen);
}
Deno.exit(code);
