import assert from "node:assert/strict";
import { type OpenProgram, openProgram } from "../mcp_program.ts";
import { inHome } from "../program.ts";

/** Options of {@linkcode started}. */
export interface StartOptions {
  /** Variables of the program. */
  readonly env?: Readonly<Record<string, string>>;
  /** What must not be in the log. */
  readonly secrets?: readonly string[];
}

/**
 * Starts launcher, relayer and sidecar in a home of their own, and one account. Afterwards they end
 * as asked, and neither the account's key nor other secrets are in the log.
 */
export async function started(
  test: (svc: OpenProgram) => Promise<void>,
  options: StartOptions = {},
): Promise<void> {
  await inHome(async (home) => {
    const svc = await openProgram(home, options.env);
    await using program = svc.program;
    await test(svc);
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);
    const log = program.errors.join("\n");
    for (const secret of [svc.secret, ...options.secrets ?? []]) {
      assert.ok(!log.includes(secret));
    }
  });
}
