import { memoryBlobStore } from "../../plugins/memory/blob_store.ts";
import { definePlugin } from "../../src/interfaces/plugin.ts";
import { intercepted } from "../memory/intercepted.ts";

/** A plugin whose store notes that it is given a blob, and never says that it has it. */
export default definePlugin({
  name: "slow",
  fields: {},
  roles: {
    blobStore: (_settings, context) =>
      intercepted(memoryBlobStore(), {
        put: (_next, _bytes, { signal }) => {
          context.log("info", "blob given");
          const { promise, reject } = Promise.withResolvers<string>();
          signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
          return promise;
        },
      }),
  },
});
