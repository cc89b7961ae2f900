import { freePort } from "../free_port.ts";
import type { McpProgram } from "../mcp_program.ts";

/** Address of the dashboard where nothing else is set. */
const WEB = "http://localhost:5173";

async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

/** Decides as the dashboard does, with a key of the account, and calls back as a browser does. */
export async function consent(
  base: string,
  asked: string,
  { headers }: Pick<McpProgram, "headers">,
): Promise<void> {
  const answer = await fetch(asked, { redirect: "manual" });
  await answer.body?.cancel();
  const [, request] = (answer.headers.get("location") ?? "").split("#request=");
  const { redirect_to } = await post(`${base}/oauth/consent/approve`, {
    request,
    account_id: headers["x-svc-account-id"],
    private_key: headers.authorization?.replace("Bearer ", ""),
  }, { origin: WEB });
  await (await fetch(redirect_to)).body?.cancel();
}

/**
 * Runs the suite's scenarios of authorization servers; somebody consents as soon as it asks.
 *
 * @param args What runs the suite.
 * @returns what it printed, and whether everything passed.
 */
export async function runAuthorization(
  program: McpProgram,
  args: readonly string[],
): Promise<{ readonly passed: boolean; readonly output: string }> {
  const base = `http://127.0.0.1:${program.port}`;
  const port = freePort();
  const { client_id } = await post(`${base}/oauth/register`, {
    client_name: "Conformance suite",
    redirect_uris: [`http://127.0.0.1:${port}/callback`],
  });
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...args,
      "authorization",
      ...["--url", `${base}/oauth`, "--client-id", client_id, "--port", String(port)],
      ...["--resource", `${base}/api/mcp/connect`],
    ],
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "inherit",
    signal: AbortSignal.timeout(120_000),
  }).spawn();
  let output = "";
  let isAsked = false;
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    output += text;
    const [asked] = /http:\S+\/oauth\/authorize\?\S+(?=\s)/.exec(output) ?? [];
    if (asked === undefined || isAsked) continue;
    isAsked = true;
    await consent(base, asked, program);
  }
  const { success } = await child.status;
  return { passed: success && isAsked, output };
}
