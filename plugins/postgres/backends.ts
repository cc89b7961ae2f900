export {
  type PostgresAccounts,
  postgresAccounts,
  type PostgresAccountsOptions,
} from "./accounts.ts";
export { postgresBlobStore, type PostgresBlobStoreOptions } from "./blob_store.ts";
export { postgresCipher, type PostgresCipherOptions } from "./cipher.ts";
export type { DatabaseOptions } from "./database.ts";
export { postgresJobStore, type PostgresJobStoreOptions } from "./jobs/job_store.ts";
export { postgresStateStore, type PostgresStateStoreOptions } from "./state/state_store.ts";
export { postgresVectorStore, type PostgresVectorStoreOptions } from "./vector_store.ts";
