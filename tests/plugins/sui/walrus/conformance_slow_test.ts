import type { BlobStore } from "../../../../src/interfaces/mod.ts";
import { blobStoreSuite, conform } from "../../../../testing/mod.ts";
import { WalrusStage } from "./walrus_for_tests.ts";

/** A store that takes its network along when it is disposed of. */
async function make(via: "relay" | "publisher"): Promise<BlobStore> {
  const stage = await WalrusStage.start();
  const store = stage.open({ via });
  return {
    put: (...call) => store.put(...call),
    get: (...call) => store.get(...call),
    list: (...call) => store.list(...call),
    delete: (...call) => store.delete(...call),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await stage[Symbol.asyncDispose]();
    },
  };
}

conform(blobStoreSuite, "walrus by a relay", () => make("relay"));
