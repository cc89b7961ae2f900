import { Pool } from "pg";

/** Empties every table but those that say which version wrote them, whatever refers to what. */
const EMPTY = `set session_replication_role = replica;
  do $$ declare one name; begin
    for one in select tablename from pg_tables where schemaname = 'svc'
      and tablename not in ('migration', 'account_change')
    loop execute format('delete from svc.%I', one); end loop; end $$`;

/** Where the databases of the tests are. */
export interface TestServer {
  /**
   * Address of the database that others are copies of: it has the tables of this version, and nothing
   * in them.
   */
  readonly template: string;
  /**
   * Folder with a file for each database that nobody uses, of its name. To empty one again takes a
   * fifth of what it takes to make one.
   */
  readonly spares: string;
}

const NAMES = { template: "SVC_TEST_DATABASE_URL", spares: "SVC_TEST_SPARE_DATABASES" } as const;

/** Variables that tell the tests where it is. */
export function variablesOf({ template, spares }: TestServer): Record<string, string> {
  return { [NAMES.template]: template, [NAMES.spares]: spares };
}

function testServer(): TestServer {
  const [template, spares] = [Deno.env.get(NAMES.template), Deno.env.get(NAMES.spares)];
  if (template === undefined || spares === undefined) {
    throw new Error("there is no server: run deno task test:postgres");
  }
  return { template, spares };
}

/** Runs a statement in the database at an address; no connection outlives the test that asked. */
export async function runIn(address: string, sql: string): Promise<void> {
  const pool = new Pool({ connectionString: address, max: 1 });
  try {
    await pool.query(sql);
  } finally {
    await pool.end();
  }
}

const nameIn = (address: string): string => new URL(address).pathname.slice(1);

/** Address of a database of one's own, with empty tables. */
export async function takeDatabase(): Promise<string> {
  const { template, spares } = testServer();
  const addressOf = (name: string) => new URL(`/${name}`, template).href;
  for await (const { name } of Deno.readDir(spares)) {
    // Whoever removes the file has the database.
    const isMine = await Deno.remove(`${spares}/${name}`).then(() => true, () => false);
    if (isMine) return addressOf(name);
  }
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  await runIn(addressOf("postgres"), `create database ${name} template ${nameIn(template)}`);
  return addressOf(name);
}

/** Leaves a database to the next one; nothing may be connected to it. */
export async function giveBack(address: string): Promise<void> {
  await runIn(address, EMPTY);
  await Deno.writeTextFile(`${testServer().spares}/${nameIn(address)}`, "");
}
