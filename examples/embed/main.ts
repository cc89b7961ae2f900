import { createRelayer, keyFile } from "@svc/relayer";
import { local } from "@svc/relayer/plugins/local";
import { useLite } from "@svc/relayer/plugins/use-lite";
import { myStore } from "./my_store.ts";

await using relayer = await createRelayer({
  dataDir: "./data",
  relayerKey: await keyFile("./relayer.key"),
  backends: [local(), useLite(), { vectorStore: myStore() }], // last wins
});
const ada = await relayer.account("ada"); // in process, no signing, same permissions and walls
await ada.remember("I am allergic to peanuts");
const { results } = await ada.recall("what should I not cook?");
// deno-lint-ignore no-console -- the output of the example
console.log(results[0]?.text);

await Deno.serve(relayer.fetch).finished;
