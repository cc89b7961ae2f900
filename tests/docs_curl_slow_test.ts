import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { LOCKED } from "./locked.ts";
import { inHome, Program, relayerEnv } from "./program.ts";

const PAGE = new URL("../docs/http.md", import.meta.url);

/** The shell blocks of the page, as one script. */
async function script(): Promise<string> {
  const page = await Deno.readTextFile(PAGE);
  return [...page.matchAll(/```sh\n([^]*?)```/g)].map(([, block]) => block).join("\n");
}

Deno.test("the page's curl and openssl commands store a memory and find it", async () => {
  await inHome(async (home) => {
    await using relayer = new Program(["start"], relayerEnv(home));
    const { port } = await relayer.event("listening");
    const program = `deno run ${LOCKED.join(" ")} -A ` +
      new URL("../main.ts", import.meta.url).pathname;
    // The page's port and its way to the program are those of a first day; the rest runs as it is.
    const commands = (await script())
      .replaceAll("npx -y deno@2.9.6 task -q svc", program)
      .replaceAll("http://127.0.0.1:8000", `http://127.0.0.1:${port}`);
    ok(commands.includes("openssl pkeyutl"), "the page still shows how to sign");
    const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
    const { stdout, stderr } = await new Deno.Command("bash", {
      args: ["-eu", "-c", commands],
      cwd: home,
      env: { HOME: home, DENO_DIR: cache, NO_COLOR: "1" },
    }).output();
    const output = new TextDecoder().decode(stdout);
    const [stored, found] = [...output.matchAll(/\{"(?:job_id|results)".*?\}(?=\{"|$)/gs)];
    ok(stored !== undefined && found !== undefined, output + new TextDecoder().decode(stderr));
    match(stored[0], /"status":"(running|pending)"/);
    const { results, total } = JSON.parse(found[0]) as {
      results: { text: string }[];
      total: number;
    };
    strictEqual(total, 1);
    deepStrictEqual(results.map((hit) => hit.text), ["I am allergic to peanuts"]);
  });
});
