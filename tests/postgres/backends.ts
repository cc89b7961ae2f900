import {
  parseAddress,
  postgresAccounts,
  postgresBlobStore,
  postgresCipher,
  postgresStateStore,
  postgresVectorStore,
} from "../../plugins/postgres/mod.ts";
import { DatabaseShare } from "../../plugins/postgres/shared_database.ts";
import type { Backends, StateStore } from "../../src/interfaces/mod.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { KeysForTests } from "../plugins/sealer_for_tests.ts";
import { giveBack, takeDatabase } from "./databases.ts";
import { movedWindows } from "./moved_windows.ts";

/** What is in the database. */
export type StoredRole = "accounts" | "blobStore" | "cipher" | "store" | "vectorStore";

/** What the backends are told. */
export interface PostgresBackendsOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds by which the clock was moved forward. */
  readonly moved: () => number;
  /** The embedder beside them. */
  readonly embedder: Backends["embedder"];
}

/**
 * Backends in a database of their own, which the next ones may have when all of them were disposed of.
 *
 * @param roles Which ones; nothing is opened for none.
 */
export async function postgresBackends<R extends StoredRole>(
  roles: readonly R[],
  { now, moved, embedder: { dimensions, model } }: PostgresBackendsOptions,
): Promise<Required<Pick<Backends, R>>> {
  if (roles.length === 0) return {} as Required<Pick<Backends, R>>;
  const url = await takeDatabase();
  const options = { address: parseAddress(url), connections: 3, now };
  const key = new RelayerKey(crypto.getRandomValues(new Uint8Array(32)));
  const sealer = key.sealer("records");
  const makers: { readonly [Role in StoredRole]: () => Promise<Required<Backends>[Role]> } = {
    accounts: () => postgresAccounts(options),
    blobStore: () => postgresBlobStore(options),
    cipher: () => postgresCipher({ ...options, sealer, keys: new KeysForTests() }),
    vectorStore: () =>
      postgresVectorStore({ ...options, sealer: key.sealer("index"), dimensions, model }),
    store: () => stateStore(options, moved),
  };
  const open: AsyncDisposable[] = [];
  const opened: [R, AsyncDisposable][] = [];
  for (const role of roles) {
    // One after the other: together they would open a connection each.
    const backend = await makers[role]();
    opened.push([role, backend]);
    open.push(backend);
    const dispose = backend[Symbol.asyncDispose].bind(backend);
    const value = async () => {
      await dispose();
      const at = open.indexOf(backend);
      if (at >= 0 && open.splice(at, 1).length > 0 && open.length === 0) await giveBack(url);
    };
    Object.assign(backend, { [Symbol.asyncDispose]: value });
  }
  return Object.fromEntries(opened) as unknown as Required<Pick<Backends, R>>;
}

/** A store whose limits see the test's clock being moved. */
async function stateStore(
  options: Parameters<typeof postgresStateStore>[0],
  moved: () => number,
): Promise<StateStore> {
  const store = await postgresStateStore(options);
  const share = await DatabaseShare.open(options);
  return {
    ...store,
    windows: movedWindows(store.windows, share.database, moved),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await share[Symbol.asyncDispose]();
    },
  };
}
