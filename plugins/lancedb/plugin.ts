import {
  definePlugin,
  type Field,
  type Fields,
  integer,
  type Plugin,
  requireFolder,
} from "../../src/interfaces/plugin.ts";
import { LATER } from "../../src/later.ts";

/** Both loaded later: 300 MB are fetched when this store is chosen. */
const store = (): Promise<typeof import("./vector_store.ts")> =>
  import(`./vector_store.ts${LATER}`);
const library = (): Promise<typeof import("./library.ts")> => import(`./library.ts${LATER}`);

/** Settings of the plugin. */
export interface LancedbFields extends Fields {
  /** Rows of a namespace from which a vector index pays; 0: never. */
  readonly vectorIndexRows: Field<number>;
}

/** The plugin `lancedb` for the role `vectorStore`. */
const plugin: Plugin<LancedbFields> = definePlugin({
  name: "lancedb",
  docs: "plugins.md",
  fields: {
    vectorIndexRows: integer(
      "SVC_LANCEDB_VECTOR_INDEX_ROWS",
      250_000,
      0,
      1_000_000_000,
      "Vectors of one namespace from which LanceDB searches by an approximate index; 0 = never",
    ),
  },
  permissions: async (_role, _settings, dataDir) => ({
    read: [dataDir, "/usr/bin/ldd"],
    write: [dataDir],
    env: ["NAPI_RS_NATIVE_LIBRARY_PATH", "NAPI_RS_FORCE_WASI"],
    ffi: [(await library()).nativeFolder()],
  }),
  roles: {
    async vectorStore({ vectorIndexRows }, context) {
      const { lancedbVectorStore } = await store();
      return lancedbVectorStore({
        ...context,
        dataDir: requireFolder(context, "lancedb"),
        flush: { vectorIndexRows },
        log: (message) => context.log("warn", message),
      });
    },
  },
});

export default plugin;
