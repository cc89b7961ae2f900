import {
  checked,
  definePlugin,
  type Field,
  integer,
  type Plugin,
  type Secret,
  secret,
  type Values,
} from "../../src/interfaces/plugin.ts";
import { SvcError } from "../../src/errors.ts";
import { LATER } from "../../src/later.ts";
import { type DatabaseAddress, parseAddress } from "./settings.ts";

/** Loaded later: the driver is fetched when this plugin is chosen. */
const backends = (): Promise<typeof import("./backends.ts")> => import(`./backends.ts${LATER}`);

/** Settings of the plugin. */
export type PostgresFields = {
  /** Where the database is, with the name and password of a role that owns it. */
  readonly url: Field<Secret | undefined>;
  /** Most connections of this relayer. */
  readonly connections: Field<number>;
};

/** Variables that the driver looks at, whatever it is told; the relayer's process has none of them. */
const ENVIRONMENT = ["BINARY", "OPTIONS", "SSLNEGOTIATION", "CLIENT_ENCODING", "REPLICATION"]
  .map((name) => `PG${name}`);

function addressOf({ url }: Pick<Values<PostgresFields>, "url">): DatabaseAddress {
  if (url !== undefined) return parseAddress(url.reveal());
  const text = "SVC_DATABASE_URL is needed: postgres://user:password@host:5432/database";
  throw new SvcError("invalid_parameter", text);
}

function optionsOf({ url, connections }: Values<PostgresFields>) {
  return { address: addressOf({ url }), connections };
}

/** The plugin `postgres` for the roles `accounts`, `blobStore`, `cipher`, `store` and `vectorStore`. */
const plugin: Plugin<PostgresFields> = definePlugin({
  name: "postgres",
  docs: "postgres.md",
  fields: {
    url: checked(
      secret(
        "SVC_DATABASE_URL",
        "PostgreSQL 15 or newer: `postgres://user:password@host/database`",
      ),
      (value) => {
        try {
          parseAddress(value!.reveal());
        } catch (error) {
          return (error as Error).message;
        }
        return undefined;
      },
    ),
    connections: integer(
      "SVC_DATABASE_CONNECTIONS",
      10,
      2,
      1000,
      "Most connections of one relayer to the database",
    ),
  },
  permissions: (_role, settings) => {
    const { host, port } = addressOf(settings);
    return { net: [`${host.includes(":") ? `[${host}]` : host}:${port}`], env: ENVIRONMENT };
  },
  roles: {
    accounts: async (settings) => (await backends()).postgresAccounts(optionsOf(settings)),
    blobStore: async (settings) => (await backends()).postgresBlobStore(optionsOf(settings)),
    cipher: async (settings, { sealer, keys }) =>
      (await backends()).postgresCipher({ ...optionsOf(settings), sealer, keys }),
    store: async (settings) => (await backends()).postgresStateStore(optionsOf(settings)),
    vectorStore: async (settings, context) =>
      (await backends()).postgresVectorStore({ ...optionsOf(settings), ...context }),
  },
});

export default plugin;
