import { mock } from "node:test";
import { loadLibrary } from "../../../plugins/lancedb/library.ts";
import type { LanceTable } from "../../../plugins/lancedb/library_api.ts";
import { lancedbVectorStore } from "../../../plugins/lancedb/mod.ts";
import type { FlushPolicy } from "../../../plugins/lancedb/mod.ts";
import type { IndexEntry, VectorStore } from "../../../src/interfaces/mod.ts";
import { RelayerKey } from "../../../src/sealing/relayer_key.ts";
import { entry } from "../../../testing/index_entry.ts";

const sealer = new RelayerKey(new Uint8Array(32).fill(7)).sealer("lancedb");
const QUIET_MS = 1000;
const POLICY = { rows: 1, quietMs: QUIET_MS, commits: 1000, vectorIndexRows: 0 };

/** The scope of {@linkcode memory}. */
export const SCOPE = { owner: `0x${"1".repeat(64)}`, namespace: "a" };

/** A memory of one window. */
export function memory(number: number): IndexEntry {
  return entry(SCOPE, number, { vectors: [new Float32Array([1, 0, 0, 0])] });
}

/** Stores on one folder, and the methods that every LanceDB table of this process has. */
export class FailingTable implements AsyncDisposable {
  /** What {@linkcode mock.method} replaces. */
  readonly methods: LanceTable;
  /** Failures logged so far. */
  readonly logged: string[] = [];
  readonly #dataDir: string;
  #failed = Promise.withResolvers<void>();

  private constructor(dataDir: string, methods: LanceTable) {
    this.#dataDir = dataDir;
    this.methods = methods;
  }

  /** From here on timers fire by `mock.timers.tick` alone. */
  static async create(): Promise<FailingTable> {
    const dataDir = await Deno.makeTempDir({ prefix: "svc_lancedb_" });
    const { arrow, lancedb } = await loadLibrary();
    const connection = await lancedb.connect(`${dataDir}/other`);
    const schema = new arrow.Schema([new arrow.Field("number", new arrow.Int32(), false)]);
    const table = await connection.createEmptyTable("other", schema, {
      mode: "create",
      existOk: true,
    });
    const methods: LanceTable = Object.getPrototypeOf(table);
    table.close();
    connection.close();
    mock.timers.enable({ apis: ["setTimeout"] });
    return new FailingTable(dataDir, methods);
  }

  /** Opens the store. */
  open(flush: Partial<FlushPolicy> = {}): Promise<VectorStore> {
    return lancedbVectorStore({
      dataDir: this.#dataDir,
      sealer,
      dimensions: 4,
      model: "test",
      flush: { ...POLICY, ...flush },
      log: (message) => {
        this.logged.push(message);
        this.#failed.resolve();
        this.#failed = Promise.withResolvers();
      },
    });
  }

  /** Resolves at the first failure after work began. */
  async after(work: () => Promise<void> | void): Promise<void> {
    const { promise } = this.#failed;
    await work();
    await promise;
  }

  /** Lets a quiet time go by. */
  beQuiet(): void {
    mock.timers.tick(QUIET_MS);
  }

  /** The table's files. */
  files(): Promise<string[]> {
    return filesIn(`${this.#dataDir}/lancedb/windows.lance`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    mock.timers.reset();
    mock.restoreAll();
    await Deno.remove(this.#dataDir, { recursive: true });
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    found.push(...isDirectory ? await filesIn(path) : [path]);
  }
  return found;
}
