import { match, strictEqual } from "node:assert/strict";
import { conform, vectorStoreSuite } from "@svc/relayer/testing";
import { embed } from "./main.ts";
import { SortedStore } from "./sorted_store.ts";

conform(vectorStoreSuite, "sorted", () => new SortedStore());

Deno.test("an embedded relayer remembers and recalls through its own store", async () => {
  const { relayer, client } = await embed();
  await client.remember("I am allergic to peanuts");
  await client.remember("My dog is called Biscuit");
  const { results } = await client.recall("what is my dog called?");
  strictEqual(results[0]?.text, "My dog is called Biscuit");
  await relayer[Symbol.asyncDispose]();
});

Deno.test("without Deno KV there is one clear error that names the flag", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--config", "without_kv.json", "main.ts"],
    stdout: "null",
    stderr: "piped",
  });
  const { success, stderr } = await child.output();
  strictEqual(success, false);
  match(new TextDecoder().decode(stderr), /"unstable": \["kv"\]/);
});
