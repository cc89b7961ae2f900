import { memoryBlobStore } from "../../plugins/memory/mod.ts";
import { blobStoreSuite, conform } from "../../testing/mod.ts";
import { mutants } from "./mutants.ts";

conform(blobStoreSuite, "memory", memoryBlobStore);

mutants(blobStoreSuite, memoryBlobStore, [
  {
    name: "stores again for a known key",
    fails: [
      "stores once for one idempotency key",
      "answers the first blob when other bytes come with a known key",
      "stores once for 10 concurrent puts with one key",
    ],
    change: (store) => ({
      put: (bytes, options) =>
        store.put(bytes, { ...options, idempotencyKey: crypto.randomUUID() }),
    }),
  },
  {
    name: "stores again when puts with one key overlap",
    fails: ["stores once for 10 concurrent puts with one key"],
    change(store) {
      const running = new Set<string>();
      return {
        async put(bytes, options) {
          const { idempotencyKey } = options;
          const overlapping = running.has(idempotencyKey);
          running.add(idempotencyKey);
          const key = overlapping ? crypto.randomUUID() : idempotencyKey;
          const blobId = await store.put(bytes, { ...options, idempotencyKey: key });
          running.delete(idempotencyKey);
          return blobId;
        },
      };
    },
  },
  {
    name: "lists oldest first",
    fails: ["lists newest first"],
    change: (store) => ({
      async *list(scope, options) {
        yield* (await Array.fromAsync(store.list(scope, options))).reverse();
      },
    }),
  },
  {
    name: "lists the first 100 only",
    fails: ["lists each of 300 blobs exactly once"],
    change: (store) => ({
      async *list(scope, options) {
        yield* (await Array.fromAsync(store.list(scope, options))).slice(0, 100);
      },
    }),
  },
  {
    name: "repeats a blob at the seam of two pages",
    fails: ["lists each of 300 blobs exactly once"],
    change: (store) => ({
      async *list(scope, options) {
        let count = 0;
        for await (const blob of store.list(scope, options)) {
          yield blob;
          if (++count % 100 === 0) yield blob;
        }
      },
    }),
  },
  {
    name: "gets blobs whatever the scope",
    fails: ["keeps scopes apart"],
    change(store) {
      const content = new Map<string, Uint8Array>();
      return {
        async put(bytes, options) {
          const blobId = await store.put(bytes, options);
          content.set(blobId, bytes.slice());
          return blobId;
        },
        get: async (blobId, scope, options) =>
          await store.get(blobId, scope, options) ?? content.get(blobId)?.slice(),
      };
    },
  },
  {
    name: "deletes whatever the scope",
    fails: ["deletes in the scope named and in no other"],
    change(store) {
      const home = new Map<string, { owner: string; namespace: string }>();
      return {
        async put(bytes, options) {
          const blobId = await store.put(bytes, options);
          home.set(blobId, { owner: options.owner, namespace: options.namespace });
          return blobId;
        },
        delete: async (blobId, scope, options) =>
          await store.delete?.(blobId, home.get(blobId) ?? scope, options) ?? false,
      };
    },
  },
  {
    name: "joins owner and namespace without a seam",
    fails: ["keeps hostile namespaces apart, byte for byte"],
    change: (store) => {
      const fold = (namespace: string) => namespace.replaceAll("/", "");
      return {
        put: (bytes, options) =>
          store.put(bytes, { ...options, namespace: fold(options.namespace) }),
        get: (blobId, scope, options) =>
          store.get(blobId, { ...scope, namespace: fold(scope.namespace) }, options),
        list: (scope, options) =>
          store.list({ ...scope, namespace: fold(scope.namespace) }, options),
      };
    },
  },
  {
    name: "stores bytes as text",
    fails: ["keeps bytes exactly", "keeps 1.5 MiB exactly"],
    change: (store) => ({
      put: (bytes, options) =>
        store.put(new TextEncoder().encode(new TextDecoder().decode(bytes)), options),
    }),
  },
  {
    name: "answers ids with a slash",
    fails: ["names blobs by 1 to 128 letters, digits, - and _"],
    change: (store) => ({
      put: async (bytes, options) => `blobs/${await store.put(bytes, options)}`,
      get: (blobId, scope, options) => store.get(blobId.replace("blobs/", ""), scope, options),
    }),
  },
  {
    name: "only pretends to delete",
    fails: ["deletes a blob, also again and unknown ones"],
    change: () => ({ delete: () => Promise.resolve(true) }),
  },
  {
    name: "lists without the signal",
    fails: ["rejects with the reason of an aborted signal"],
    change: (store) => ({ list: (scope) => store.list(scope) }),
  },
  {
    name: "goes on after disposal",
    fails: ["rejects with storage_unavailable after disposal"],
    change: () => ({ [Symbol.asyncDispose]: () => Promise.resolve() }),
  },
  {
    name: "stores the buffer behind a view",
    fails: ["keeps the bytes of a view, not those around it"],
    change: (store) => ({
      put: (bytes, options) => store.put(new Uint8Array(bytes.buffer), options),
    }),
  },
  {
    name: "stores equal bytes for whoever came first",
    fails: ["keeps equal bytes for each scope that stored them"],
    change(store) {
      const ids = new Map<string, Promise<string>>();
      return {
        put: (bytes, options) =>
          ids.getOrInsertComputed(bytes.toHex(), () => store.put(bytes, options)),
      };
    },
  },
]);
