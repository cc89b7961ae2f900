import { lancedbVectorStore } from "../../../plugins/lancedb/mod.ts";
import { RelayerKey } from "../../../src/sealing/relayer_key.ts";
import { conform, SUITE_DIMENSIONS, vectorStoreSuite } from "../../../testing/mod.ts";
import { onDisk } from "../on_disk.ts";

const sealer = new RelayerKey(new Uint8Array(32).fill(7)).sealer("conformance");

// Everything waits in the catalogue; everything goes into the table at once; both at a time.
for (const rows of [1_000_000, 1, 7]) {
  conform(
    vectorStoreSuite,
    `lancedb, batches of ${rows}`,
    () =>
      onDisk((dataDir) =>
        lancedbVectorStore({
          dataDir,
          sealer,
          dimensions: SUITE_DIMENSIONS,
          model: "suite",
          flush: { rows, quietMs: 60_000 },
        })
      ),
  );
}
