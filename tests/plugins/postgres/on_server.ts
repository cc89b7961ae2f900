import { NO_POSTGRES, PostgresServer } from "../../postgres_server.ts";

/** Empties the database of this file and answers its address: faster than a new one. */
export type EmptyDatabase = () => Promise<string>;

/**
 * Registers tests that have a server of their own, started before the first of them. Where none is
 * installed there is one ignored test, which says so.
 */
export function onServer(
  register: (database: EmptyDatabase, server: () => PostgresServer) => void,
): void {
  if (NO_POSTGRES !== undefined) {
    Deno.test({ name: `PostgreSQL: ${NO_POSTGRES}`, ignore: true, fn() {} });
    return;
  }
  let server: PostgresServer | undefined;
  let url = "";
  Deno.test.beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.database();
  });
  Deno.test.afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });
  const empty = async () => {
    await server!.run(url, "set client_min_messages = warning; drop schema if exists svc cascade");
    return url;
  };
  register(empty, () => server!);
}
