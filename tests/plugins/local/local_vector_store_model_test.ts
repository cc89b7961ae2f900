import { localVectorStore } from "../../../plugins/local/mod.ts";
import { folderForTests, sealerForTests } from "../sealer_for_tests.ts";
import { playCalls } from "../vector_store_calls.ts";

Deno.test("any run of calls leaves what a map would hold", async () => {
  await playCalls(async () => {
    const folder = await folderForTests();
    return {
      open: (segmentSize) =>
        localVectorStore({
          dataDir: folder.path,
          sealer: sealerForTests(),
          dimensions: 2,
          model: "m",
          segmentSize,
        }),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  }, { runs: 60 });
});
