import { match, strictEqual } from "node:assert/strict";
import { conform, vectorStoreSuite } from "@svc/relayer/testing";
import { myStore } from "./my_store.ts";

conform(vectorStoreSuite, "mine", () => myStore(":memory:"));

const here = (name: string) => new URL(name, import.meta.url);

/** Runs the example, changed, in a folder of its own. */
async function start(folder: string, config: string, change: (program: string) => string) {
  const program = change(await Deno.readTextFile(here("main.ts")));
  await Deno.writeTextFile(`${folder}/main.ts`, program);
  await Deno.copyFile(here("my_store.ts"), `${folder}/my_store.ts`);
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--no-prompt", "--config", here(config).pathname, "main.ts"],
    cwd: folder,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Runs the example until it serves; answers what it printed, and kills it. */
async function run(folder: string, change = (program: string) => program): Promise<string> {
  const child = await start(
    folder,
    "deno.json",
    // Not the port that everybody has.
    (program) =>
      change(program).replace(
        "Deno.serve(relayer.fetch)",
        "Deno.serve({ port: 0, onListen: ({ port }) => console.log(port) }, relayer.fetch)",
      ),
  );
  const failure = child.stderr.text();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  for (let end = false; !end && !/^\d+$/m.test(printed);) {
    const { done, value = "" } = await reader.read();
    printed += value;
    end = done;
  }
  const [text = "", port = await failure] = printed.split("\n");
  const answer = await fetch(`http://127.0.0.1:${port}/version`);
  await answer.body?.cancel();
  strictEqual(answer.status, 200);
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();
  await failure;
  return text;
}

Deno.test("the second of two processes on a folder finds what the first remembered", async () => {
  const folder = await Deno.makeTempDir();
  const remembered = "I am allergic to peanuts";
  strictEqual(await run(folder), remembered);
  const forgetful = (program: string) => program.replace(/^await ada\.remember.*\n/m, "");
  strictEqual(await run(folder, forgetful), remembered);
  strictEqual(await run(folder), remembered);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("without Deno KV there is one clear error that names the flag", async () => {
  const folder = await Deno.makeTempDir();
  const child = await start(folder, "without_kv.json", (program) => program);
  const { success, stderr } = await child.output();
  strictEqual(success, false);
  match(new TextDecoder().decode(stderr), /"unstable": \["kv"\]/);
  await Deno.remove(folder, { recursive: true });
});
