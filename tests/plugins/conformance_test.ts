import {
  localAccounts,
  localBlobStore,
  localCipher,
  localVectorStore,
} from "../../plugins/local/mod.ts";
import { CoreDb } from "../../src/storage/core_db.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import {
  accountRegistrySuite,
  blobStoreSuite,
  cipherSuite,
  conform,
  SUITE_DIMENSIONS,
  vectorStoreSuite,
} from "../../testing/mod.ts";
import { onDisk } from "./on_disk.ts";

const key = new RelayerKey(new Uint8Array(32).fill(7));
const sealer = key.sealer("conformance");

conform(accountRegistrySuite, "local", () => onDisk((dataDir) => localAccounts({ dataDir })));
conform(blobStoreSuite, "local", () => onDisk((dataDir) => localBlobStore({ dataDir })));
for (const segmentSize of [4, 256]) {
  conform(
    vectorStoreSuite,
    `local, segments of ${segmentSize}`,
    () =>
      onDisk((dataDir) =>
        localVectorStore({
          dataDir,
          sealer,
          dimensions: SUITE_DIMENSIONS,
          model: "suite",
          segmentSize,
        })
      ),
  );
}
conform(cipherSuite, "local", () => {
  const core = new CoreDb(":memory:");
  const cipher = localCipher({ sealer, keys: core.keys });
  const dispose = cipher[Symbol.asyncDispose].bind(cipher);
  cipher[Symbol.asyncDispose] = async () => {
    await dispose();
    core[Symbol.dispose]();
  };
  return cipher;
});
