/** What relayers of the tests keep their state in, where that is asked for. */
const STORE = Deno.env.get("SVC_TEST_STORE");

/** Whether relayers in this process are to think that others share their store. */
export const IS_SHARED: boolean = STORE === "shared";

/** Whether relayers keep everything in PostgreSQL; `deno task test:postgres` asks for it. */
export const IS_ON_POSTGRES: boolean = STORE === "postgres";

/**
 * Name and options of a test that says nothing of relayers on PostgreSQL: there it is ignored.
 *
 * @param why Printed with the name.
 * @param isSuch Whether it is such a test; for tests that are made in a loop.
 */
export function notOnPostgres(
  name: string,
  why: string,
  isSuch = true,
): [string, { readonly ignore: boolean }] {
  const ignore = IS_ON_POSTGRES && isSuch;
  return [ignore ? `${name} (not on PostgreSQL: ${why})` : name, { ignore }];
}
