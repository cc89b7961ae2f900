import { match, ok, strictEqual } from "node:assert/strict";
import { freePort } from "./free_port.ts";
import { LOCKED } from "./locked.ts";
import { inHome, Program, relayerEnv } from "./program.ts";

const ROOT = new URL("../", import.meta.url);

/** The blocks of a page in a language. */
async function blocks(page: string, language: string): Promise<string[]> {
  const text = await Deno.readTextFile(new URL(page, ROOT));
  return [...text.matchAll(new RegExp(`\`\`\`${language}.*\n([^]*?)\`\`\``, "g"))]
    .map(([, block = ""]) => block);
}

async function run(
  command: string,
  args: readonly string[],
  home: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  const { stdout, stderr, success } = await new Deno.Command(command, {
    args: [...args],
    cwd: home,
    env: { ...env, HOME: home, DENO_DIR: cache, NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  ok(success, decoder.decode(stdout) + decoder.decode(stderr));
  return decoder.decode(stdout);
}

Deno.test("the commands of the first day and the TypeScript program find what they stored", async () => {
  await inHome(async (home) => {
    // With a port that is known before, as the usual one: then the start makes the account.
    const making = { SVC_PORT: String(freePort()), SVC_FIRST_ACCOUNT: "true" };
    // What is close enough, only the embedder that a reader has can tell.
    const own = { ...relayerEnv(home), ...making, SVC_EMBEDDER: "use-lite" };
    await using relayer = new Program(["start"], own);
    const { port } = await relayer.event("listening");
    const url = `http://127.0.0.1:${port}`;
    const program = `deno run ${LOCKED.join(" ")} -A ${new URL("main.ts", ROOT).pathname}`;
    // The relayer runs already, and building the stdio package has a test of its own.
    const commands = (await blocks("docs/first-day.md", "sh"))
      .filter((block) => !/(?:task (?:start|bundle)|svc open)/.test(block))
      .join("\n")
      .replaceAll("npx -y deno@2.9.6 task -q svc", program);
    const env = { ...own, SVC_PUBLIC_URL: url };
    // The page ends with a relayer in the background.
    await using started = new AsyncDisposableStack();
    started.defer(async () => void await run("bash", ["-c", `${program} stop`], home, env));
    const output = await run("bash", ["-eu", "-c", commands], home, env);
    match(output, /^1\. I am allergic to peanuts\n {3}just now · fits \d+ %$/m);
    match(output, /^1\. Our boiler was serviced in March$/m);
    match(output, /^Nothing close enough; the nearest are:\n\n- I am allergic to peanuts$/m);
    match(output, /^home +1 memory/m);

    const [config] = await blocks("docs/typescript.md", "json");
    const [first = ""] = await blocks("docs/typescript.md", "ts");
    await Deno.writeTextFile(`${home}/deno.json`, config!.replace("../svc", ROOT.pathname));
    await Deno.writeTextFile(`${home}/main.ts`, first);
    const found = await run(Deno.execPath(), ["run", "-A", "--no-lock", "main.ts"], home, env);
    strictEqual(found.trim(), "I am allergic to peanuts");
  });
});
