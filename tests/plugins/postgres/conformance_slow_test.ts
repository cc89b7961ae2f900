import {
  parseAddress,
  postgresAccounts,
  postgresBlobStore,
  postgresCipher,
  postgresJobStore,
  postgresStateStore,
  postgresVectorStore,
} from "../../../plugins/postgres/mod.ts";
import { RelayerKey } from "../../../src/sealing/relayer_key.ts";
import {
  accountRegistrySuite,
  blobStoreSuite,
  cipherSuite,
  conform,
  jobStoreSuite,
  stateStoreSuite,
  SUITE_DIMENSIONS,
  vectorStoreSuite,
} from "../../../testing/mod.ts";
import { KeysForTests } from "../sealer_for_tests.ts";
import { onServer } from "./on_server.ts";

const sealer = new RelayerKey(new Uint8Array(32).fill(7)).sealer("conformance");

onServer((database) => {
  const options = async () => ({ address: parseAddress(await database()), connections: 4 });

  conform(accountRegistrySuite, "postgres", async () => await postgresAccounts(await options()));
  conform(blobStoreSuite, "postgres", async () => await postgresBlobStore(await options()));
  conform(
    cipherSuite,
    "postgres",
    async () => await postgresCipher({ ...await options(), sealer, keys: new KeysForTests() }),
  );
  conform(jobStoreSuite, "postgres", async () => {
    const given = await options();
    return {
      open: ({ leaseMs } = {}) =>
        postgresJobStore({ ...given, ...(leaseMs === undefined ? {} : { leaseMs }) }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  });
  conform(stateStoreSuite, "postgres", async () => {
    const given = await options();
    return {
      open: ({ leaseMs } = {}) =>
        postgresStateStore({ ...given, ...(leaseMs === undefined ? {} : { leaseMs }) }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  });
  for (const segmentSize of [4, 256]) {
    conform(
      vectorStoreSuite,
      `postgres, segments of ${segmentSize}`,
      async () =>
        await postgresVectorStore({
          ...await options(),
          sealer,
          dimensions: SUITE_DIMENSIONS,
          model: "suite",
          segmentSize,
        }),
    );
  }
});
