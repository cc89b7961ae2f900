/**
 * Embeds a relayer in a program, with a vector store of the program's own. It opens no port and
 * reads no environment: requests go straight into `relayer.fetch`.
 */
import { createRelayer, type Relayer } from "@svc/relayer";
import { makeDelegateKey, SvcClient } from "@svc/relayer/client";
import { memoryBackends } from "@svc/relayer/plugins/memory";
import { SortedStore } from "./sorted_store.ts";

/** A relayer with an account for a new key. */
export async function embed(): Promise<
  { relayer: Relayer; client: SvcClient }
> {
  const backends = { ...memoryBackends(), vectorStore: new SortedStore() };
  const key = await makeDelegateKey();
  const account = await backends.accounts.admin!.create(key.address);
  await backends.accounts.admin!.addKey(account.accountId, {
    publicKey: key.publicKey,
    label: "embedded",
    permissions: ["read", "write"],
  });
  const relayer = await createRelayer({ backends });
  const client = new SvcClient({
    baseUrl: "http://relayer.internal",
    privateKey: key.privateKey,
    fetch: (input, init) => relayer.fetch(new Request(input, init)),
  });
  return { relayer, client };
}

if (import.meta.main) {
  const { relayer, client } = await embed();
  await client.remember("I am allergic to peanuts");
  await client.remember("My dog is called Biscuit");
  const { results } = await client.recall("what is my dog called?");
  // deno-lint-ignore no-console -- the output of the example
  console.log(results[0]?.text);
  await relayer[Symbol.asyncDispose]();
}
