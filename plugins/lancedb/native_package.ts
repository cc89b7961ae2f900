/** The database itself, native code: loaded by the relayer alone. */
// @ts-types="./library_api.ts"
export * as lancedb from "@lancedb/lancedb";
