/**
 * Replaces relayers of an earlier version by this one's, behind balancers and under load, as
 * `balancer_test.ts` says.
 *
 * `deno task upgrade TAG-OR-COMMIT`
 *
 * @module
 */
import { BALANCERS, missing } from "../balancers.ts";
import { LOCKED, ROOT } from "../locked.ts";
import { NO_POSTGRES } from "../postgres_server.ts";

/** Runs a command to its end, with what it says; answers its exit code. */
async function run(command: string, args: readonly string[], env = {}): Promise<number> {
  const { code } = await new Deno.Command(command, { args: [...args], cwd: ROOT, env }).spawn()
    .status;
  return code;
}

const [version, ...rest] = Deno.args;
if (version === undefined || version.startsWith("-") || rest.length > 0) {
  Deno.stderr.writeSync(new TextEncoder().encode("Usage: deno task upgrade TAG-OR-COMMIT\n"));
  Deno.exit(2);
}
const lacks = [NO_POSTGRES, ...BALANCERS.map(missing)].find((reason) => reason !== undefined);
if (lacks !== undefined) {
  Deno.stderr.writeSync(new TextEncoder().encode(`${lacks}\n`));
  Deno.exit(1);
}
const folder = await Deno.makeTempDir();
try {
  let code = await run("git", ["worktree", "add", "--quiet", "--detach", folder, version]);
  if (code === 0) {
    code = await run(Deno.execPath(), [
      "test",
      ...LOCKED,
      "--no-check",
      "--allow-all",
      "--preload=tests/preload.ts",
      "tests/e2e/balancer_test.ts",
    ], { SVC_TEST_FORMER: folder });
  }
  Deno.exitCode = code;
} finally {
  await run("git", ["worktree", "remove", "--force", folder]);
}
