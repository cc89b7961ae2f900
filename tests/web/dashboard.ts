import type { Page } from "playwright-core";
import { freePort } from "../free_port.ts";
import { inHome, Program, relayerEnv } from "../program.ts";

/** A started program with its dashboard. */
export interface Dashboard {
  /** Address of the dashboard. */
  readonly web: string;
  /** Address of the relayer. */
  readonly relayer: string;
  /** Its home folder, fresh. */
  readonly home: string;
  /** The program. */
  readonly program: Program;
  /** Its variables. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts the program with a fresh data directory, as a user does.
 *
 * @param extra Variables besides the usual ones.
 */
export async function withDashboard(
  test: (dashboard: Dashboard) => Promise<void>,
  extra: Readonly<Record<string, string>> = {},
): Promise<void> {
  await inHome(async (home) => {
    const port = freePort();
    const env = { ...relayerEnv(home), SVC_WEB_PORT: String(port), ...extra };
    await using program = new Program(["start"], env);
    const { port: relayerPort } = await program.event("listening");
    const { url } = await program.event("dashboard");
    const relayer = `http://127.0.0.1:${relayerPort}`;
    await test({ web: String(url), relayer, home, program, env });
  });
}

/** Opens the dashboard and starts with a new key in the browser. */
export async function signIn(page: Page, web: string): Promise<void> {
  await page.goto(web);
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Nothing here yet").waitFor();
}
