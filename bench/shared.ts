import { NO_POSTGRES, PostgresServer } from "../tests/postgres_server.ts";
import { poll } from "../tests/within.ts";
import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill, sentence } from "./fill.ts";
import { measure } from "./first_recall.ts";
import { drive, timeEach } from "./load.ts";
import { startRelayer } from "./relayer_process.ts";
import type { ServerProcess } from "./server_process.ts";
import type { SigningKey, WireRequest } from "./signing_key.ts";
import { median } from "./statistics.ts";
import { pendingOf } from "./writes.ts";

const ROUNDS = 3;
const CLIENTS = 32;
const OWNERS = 16;
const WARM_UP = 500;
const ACCEPTS = 4000;
const RECALLS = 300;
/** Relayers that recall for the first time, of each mode. */
const NEW_RELAYERS = 5;
/** Single rows that a scope keeps: fewer make no segment. */
const LOOSE = 256;
const SCOPES = { n10000: 10_000 };
const QUERY = "What do I drink in the morning?";
const IDLE_MS = 15_000;

type Settings = Readonly<Record<string, string>>;

/** What it took until everything that was accepted was kept. */
interface Accepted {
  readonly perSecond: number;
  /** Microseconds of CPU a memory: of the relayers, and of the database's processes. */
  readonly relayerCpu: number;
  readonly databaseCpu: number;
}

function accepts(keys: readonly SigningKey[], count: number): WireRequest[] {
  return Array.from(
    { length: count },
    (_, i) => keys[i % keys.length]!.request("POST", "/api/remember", { text: sentence(i) }),
  );
}

/** What the database has done since it started. */
class Database {
  constructor(readonly server: PostgresServer, readonly url: string) {}

  async number(sql: string): Promise<number> {
    return Number((await this.server.run<{ n: string }>(this.url, sql))[0]!.n);
  }

  /** CPU time of all its processes, those that ended too, milliseconds. */
  async cpu(): Promise<number> {
    const sql = "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1) as n";
    const pid = await this.number(sql);
    const children = (await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`)).split(" ");
    const times = await Promise.all(
      [pid, ...children.filter(Boolean)].map(async (one) => {
        const stat = await Deno.readTextFile(`/proc/${one}/stat`).catch(() => "");
        // Behind the name in brackets; fields 14 to 17 are user, system, and those of ended children.
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number);
        const own = (fields[11] ?? 0) + (fields[12] ?? 0);
        return one === pid ? own + (fields[13] ?? 0) + (fields[14] ?? 0) : own;
      }),
    );
    // Ticks of a hundredth of a second, on every Linux that Deno runs on.
    return 10 * times.reduce((sum, ticks) => sum + ticks, 0);
  }

  transactions(): Promise<number> {
    return this.number(
      "select sum(xact_commit) as n from pg_stat_database where datname = current_database()",
    );
  }

  logBytes(): Promise<number> {
    return this.number("select pg_current_wal_lsn() - '0/0'::pg_lsn as n");
  }

  /** Bytes in tables and indexes: of memories, or of jobs. */
  bytes(ofJobs: boolean): Promise<number> {
    return this.number(`select sum(pg_total_relation_size(c.oid)) as n from pg_class c
      join pg_namespace s on s.oid = c.relnamespace
      where s.nspname = 'svc' and c.relkind = 'r'
        and (c.relname ~ '^(job|answer|nonce|staged|ledger)') = ${ofJobs}`);
  }

  /** Log, transactions, and bytes of memories and of jobs. */
  async counts(): Promise<number[]> {
    return [
      await this.logBytes(),
      await this.transactions(),
      await this.bytes(false),
      await this.bytes(true),
    ];
  }
}

/** Waits until nothing is left to do. */
async function settled(relayer: ServerProcess): Promise<void> {
  using connection = await Connection.open(relayer.port);
  await poll(() => pendingOf(connection), (pending) => pending === 0);
}

/** Accepts by relayers that have owners of their own, as a balancer by owner would give them. */
async function accept(
  relayers: readonly ServerProcess[],
  keys: readonly SigningKey[],
  database: Database | undefined,
): Promise<Accepted> {
  const share = keys.length / relayers.length;
  const each = async (count: number) => {
    const requests = relayers.map((_, i) => accepts(keys.slice(i * share, (i + 1) * share), count));
    const loads = await Promise.all(
      relayers.map(({ port }, i) => drive(port, requests[i]!, CLIENTS / relayers.length, 202)),
    );
    return loads.reduce((sum, { perSecond }) => sum + perSecond, 0);
  };
  const cpu = async () =>
    (await Promise.all(relayers.map((relayer) => relayer.cpu()))).reduce(
      (sum, { all }) => sum + all,
      0,
    );
  await each(WARM_UP / relayers.length);
  await Promise.all(relayers.map(settled));
  const before = { relayers: await cpu(), database: await database?.cpu() ?? 0 };
  const perSecond = await each(ACCEPTS / relayers.length);
  await Promise.all(relayers.map(settled));
  const used = (now: number, then: number) => (now - then) * 1000 / ACCEPTS;
  return {
    perSecond,
    relayerCpu: used(await cpu(), before.relayers),
    databaseCpu: used(await database?.cpu() ?? 0, before.database),
  };
}

/** Settings of relayers on a database. */
const sharedSettings = (url: string): Settings => ({
  SVC_STORE: "postgres",
  SVC_DATABASE_URL: url,
});

/** Puts the accounts of a folder into a database that a relayer has made its tables in. */
async function copyAccounts(folder: DataFolder, { server, url }: Database): Promise<void> {
  const sql = folder.accounts.map(({ accountId, owner, keys: [key] }) =>
    `with made as (
      insert into svc.account(id, owner, active) values('${accountId}', '${owner}', true) returning seq)
    insert into svc.delegate_key(account, public_key, address, label, permissions, created_at)
    select seq, '${key!.publicKey}', '${key!.address}', 'bench', 'read,write', 0 from made`
  );
  await server.run(url, sql.join(";"));
}

async function acceptRounds(server: PostgresServer, note: (text: string) => void) {
  const rounds: Record<"embedded" | "one" | "two", Accepted>[] = [];
  const constants: Record<"log" | "transactions" | "bytes" | "jobBytes", number>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    note(`accepts, round ${round + 1} of ${ROUNDS}`);
    await using folder = await DataFolder.make(OWNERS);
    await using second = await folder.copy();
    await using third = await folder.copy();
    const { keys } = folder;
    const embedded = await (async () => {
      await using relayer = await startRelayer(folder);
      return await accept([relayer], keys, undefined);
    })();
    const url = await server.database();
    const database = new Database(server, url);
    const settings = sharedSettings(url);
    await using one = await startRelayer(second, settings);
    await copyAccounts(folder, database);
    const before = await database.counts();
    const alone = await accept([one], keys, database);
    const after = await database.counts();
    const [log, transactions, bytes, jobBytes] = after.map((n, i) =>
      (n - before[i]!) / (ACCEPTS + WARM_UP)
    );
    constants.push({ log: log!, transactions: transactions!, bytes: bytes!, jobBytes: jobBytes! });
    await using two = await startRelayer(third, settings);
    rounds.push({ embedded, one: alone, two: await accept([one, two], keys, database) });
  }
  return { rounds, constants };
}

/** Recalls of a scope in memory, in turns with embedded ones. */
async function warmRecalls(server: PostgresServer, note: (text: string) => void) {
  note("filling");
  await using folder = await DataFolder.make();
  await using other = await folder.copy();
  const database = new Database(server, await server.database());
  const settings = sharedSettings(database.url);
  await fill(folder, SCOPES);
  await fill(other, SCOPES, settings);
  await copyAccounts(folder, database);
  await using embedded = await startRelayer(folder);
  await using shared = await startRelayer(other, settings);
  using first = await Connection.open(embedded.port);
  using second = await Connection.open(shared.port);
  const recall = () =>
    folder.key.request("POST", "/api/recall", { query: QUERY, namespace: "n10000" });
  const times = { embedded: [] as number[], shared: [] as number[] };
  let before = { relayer: 0, database: 0 };
  for (let i = 0; i < RECALLS + 50; i++) {
    const [one, two] = [await timeEach(first, [recall()]), await timeEach(second, [recall()])];
    // The first ones open the scope, and warm up what runs.
    if (i === 50) before = { relayer: (await shared.cpu()).all, database: await database.cpu() };
    if (i < 50) continue;
    times.embedded.push(...one);
    times.shared.push(...two);
  }
  const relayerCpu = ((await shared.cpu()).all - before.relayer) * 1000 / RECALLS;
  const databaseCpu = (await database.cpu() - before.database) * 1000 / RECALLS;
  const loose = "select count(*) as n from svc.entry where segment is null";
  await poll(() => database.number(loose), (count) => count < LOOSE);
  await shared.stop();
  return {
    embedded: median(times.embedded),
    shared: median(times.shared),
    relayerCpu,
    databaseCpu,
    semantic: await firstRecall(other, settings, "semantic", note),
    hybrid: await firstRecall(other, settings, "hybrid", note),
  };
}

/** The first recall of relayers that start on what others have kept, milliseconds. */
async function firstRecall(
  folder: DataFolder,
  settings: Settings,
  mode: string,
  note: (text: string) => void,
): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < NEW_RELAYERS; i++) {
    note(`first ${mode} recall, ${i + 1} of ${NEW_RELAYERS}`);
    await using relayer = await startRelayer(folder, settings);
    const recall = (namespace: string) =>
      folder.key.request("POST", "/api/recall", { query: QUERY, namespace, mode });
    times.push((await measure(relayer.port, SCOPES, recall)).get("n10000")!.ms);
    await relayer.stop();
  }
  return median(times);
}

/** What a relayer asks the database while nobody asks it anything. */
async function idle(server: PostgresServer, note: (text: string) => void): Promise<number> {
  note("standing idle");
  await using folder = await DataFolder.make(OWNERS);
  const url = await server.database();
  await using relayer = await startRelayer(folder, sharedSettings(url));
  const database = new Database(server, url);
  await copyAccounts(folder, database);
  await drive(relayer.port, accepts(folder.keys, OWNERS), 8, 202);
  await settled(relayer);
  // The server's processes tell what they did after a while only.
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const before = await database.transactions();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  // The two questions for the figure are two of them.
  return Math.max(0, await database.transactions() - before - 2) * 1000 / IDLE_MS;
}

/** Relayers that share a database, beside an embedded one. */
export const sharedPart: Part = {
  name: "shared",
  title: "shared: SVC_STORE=postgres beside embedded, the server on the same cores",
  async run(note): Promise<Figure[]> {
    if (NO_POSTGRES !== undefined) {
      note(NO_POSTGRES);
      return [];
    }
    // Unlike in tests, what is committed is on the disk.
    await using server = await PostgresServer.start({ options: ["fsync=on"] });
    const { rounds, constants } = await acceptRounds(server, note);
    const warm = await warmRecalls(server, note);
    const perSecond = await idle(server, note);
    const of = (what: (round: typeof rounds[number]) => number) => median(rounds.map(what));
    const constant = (what: keyof typeof constants[number]) =>
      median(constants.map((round) => round[what]));
    return [
      { name: "accepts, embedded", value: of(({ embedded }) => embedded.perSecond), unit: "/s" },
      { name: "accepts, one relayer", value: of(({ one }) => one.perSecond), unit: "/s" },
      { name: "accepts, two relayers", value: of(({ two }) => two.perSecond), unit: "/s" },
      {
        name: "accepts, one relayer / embedded",
        value: of(({ one, embedded }) => one.perSecond / embedded.perSecond),
        unit: "x",
        goal: { atLeast: 0.5 },
      },
      {
        name: "relayer's CPU a memory, embedded",
        value: of(({ embedded }) => embedded.relayerCpu),
        unit: "us",
      },
      {
        name: "relayer's CPU a memory, one relayer",
        value: of(({ one }) => one.relayerCpu),
        unit: "us",
      },
      {
        name: "relayers' CPU a memory, two relayers",
        value: of(({ two }) => two.relayerCpu),
        unit: "us",
      },
      {
        // Cores of their own given: twice the CPU time, for as much of it as each memory takes.
        name: "accepts, two relayers / one, by CPU",
        value: of(({ one, two }) => 2 * one.relayerCpu / two.relayerCpu),
        unit: "x",
        goal: { atLeast: 1.6 },
      },
      {
        name: "database's CPU a memory, one relayer",
        value: of(({ one }) => one.databaseCpu),
        unit: "us",
      },
      {
        name: "database's CPU a memory, two relayers",
        value: of(({ two }) => two.databaseCpu),
        unit: "us",
      },
      { name: "log a memory", value: constant("log"), unit: "bytes" },
      { name: "transactions a memory", value: constant("transactions"), unit: "" },
      { name: "tables and indexes a memory", value: constant("bytes"), unit: "bytes" },
      { name: "tables and indexes of its job", value: constant("jobBytes"), unit: "bytes" },
      { name: "warm recall of 10,000, embedded", value: warm.embedded, unit: "ms" },
      { name: "warm recall of 10,000, shared", value: warm.shared, unit: "ms" },
      {
        name: "warm recall of 10,000, shared beyond 1.2 times embedded",
        value: warm.shared - 1.2 * warm.embedded,
        unit: "ms",
        goal: { atMost: 0.5 },
      },
      {
        name: "first semantic recall of 10,000 by a new relayer",
        value: warm.semantic,
        unit: "ms",
        goal: { atMost: 150 },
      },
      {
        name: "first hybrid recall of 10,000 by a new relayer",
        value: warm.hybrid,
        unit: "ms",
        goal: { atMost: 150 },
      },
      { name: "relayer's CPU a warm recall of 10,000, shared", value: warm.relayerCpu, unit: "us" },
      { name: "database's CPU a warm recall", value: warm.databaseCpu, unit: "us" },
      { name: "transactions of an idle relayer", value: perSecond, unit: "/s" },
    ];
  },
};
