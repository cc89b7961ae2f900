/**
 * Index rows in a LanceDB table.
 *
 * @module
 */
import {
  type BackendSource,
  definePlugin,
  type Field,
  type Fields,
  integer,
  type Plugin,
  pluginSource,
  requireFolder,
  type Values,
} from "../../src/interfaces/plugin.ts";
import { nativeFolder } from "./library.ts";
import { lancedbVectorStore } from "./vector_store.ts";

export type * from "../../src/interfaces/mod.ts";
export type * from "../../src/interfaces/plugin.ts";
export type { FlushPolicy } from "./flusher.ts";
export { type LancedbOptions, lancedbVectorStore } from "./vector_store.ts";

/** Settings of the plugin. */
export interface LancedbFields extends Fields {
  /** Rows of a namespace from which a vector index pays; 0: never. */
  readonly vectorIndexRows: Field<number>;
}

const fields: LancedbFields = {
  vectorIndexRows: integer(
    "SVC_LANCEDB_VECTOR_INDEX_ROWS",
    250_000,
    0,
    1_000_000_000,
    "Vectors of one namespace from which LanceDB searches by an approximate index; 0: never",
  ),
};

/** The plugin `lancedb` for the role `vectorStore`. */
const plugin: Plugin<LancedbFields> = definePlugin<LancedbFields>({
  name: "lancedb",
  fields,
  permissions: (_role, _settings, dataDir) => ({
    read: [dataDir, "/usr/bin/ldd"],
    write: [dataDir],
    env: ["NAPI_RS_NATIVE_LIBRARY_PATH", "NAPI_RS_FORCE_WASI"],
    ffi: [nativeFolder()],
  }),
  roles: {
    vectorStore: ({ vectorIndexRows }, context) =>
      lancedbVectorStore({
        ...context,
        dataDir: requireFolder(context, "lancedb"),
        flush: { vectorIndexRows },
        log: (message) => context.log("warn", message),
      }),
  },
});
export default plugin;

/** The vector store for `createRelayer`. */
export function lancedb(settings: Partial<Values<LancedbFields>> = {}): BackendSource {
  return pluginSource(plugin, settings);
}
