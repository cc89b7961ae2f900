/**
 * What an installation of many relayers on PostgreSQL needs: `deno task scale`. Prints a table made of
 * measured constants and assumed habits; docs/measurements/scale.md says what follows from it.
 */
import {
  type Constants,
  excess,
  type Habits,
  needsOf,
  type Prices,
  type ServerLimits,
} from "./model.ts";

const CONSTANTS: Constants = {
  memoryBytes: 6490,
  jobBytes: 4850,
  logBytes: 14_282,
  transactionsOfMemory: 4.1,
  transactionsOfRecall: 1,
  idleTransactions: 12.1,
  relayerMsOfMemory: 5.43,
  relayerMsOfRecall: 3.22,
  databaseMsOfMemory: 3.23,
  databaseMsOfRecall: 0.53,
  openMs: 18.2,
  databaseMsOfOpening: 4.1,
  ramBytes: 4.2 * 1024,
  relayerRam: 150 * 2 ** 20,
  connections: 10,
  jobDays: 7,
};

const HABITS: Habits = {
  memoriesOfOwner: 1000,
  writesADay: 10,
  recallsADay: 30,
  busiestHour: 0.1,
  activeShare: 0.1,
  strays: 0.01,
};

const PRICES: Prices = { core: 20, ramGiB: 2.5, diskGiB: 0.1 };

/** A large machine with fast disks. */
const SERVER: ServerLimits = {
  cores: 64,
  connections: 500,
  transactions: 50_000,
  logBytes: 200 * 2 ** 20,
  diskBytes: 16 * 2 ** 40,
};

const SIZES = [
  { relayers: 1, owners: 10_000 },
  { relayers: 3, owners: 100_000 },
  { relayers: 100, owners: 1_000_000 },
  { relayers: 1000, owners: 10_000_000 },
];

const UNITS = ["", "k", "M", "G", "T"];

/** Three digits and a unit of thousands. */
function short(value: number): string {
  let at = 0;
  for (; value >= 1000 && at < UNITS.length - 1; at++) value /= 1000;
  return `${value.toPrecision(3).replace(/\.0+$/, "")} ${UNITS[at]}`.trim();
}

const all = SIZES.map((size) => ({ size, needs: needsOf(size, HABITS, CONSTANTS, PRICES) }));
const row = (name: string, cell: (one: typeof all[number]) => string) =>
  `| ${name} | ${all.map(cell).join(" | ")} |`;
const lines = [
  row("relayers", ({ size }) => String(size.relayers)),
  `| --- | ${all.map(() => "---").join(" | ")} |`,
  row("owners", ({ size }) => short(size.owners)),
  row("memories", ({ needs }) => short(needs.memories)),
  row("rows", ({ needs }) => short(needs.rows)),
  row("database, bytes", ({ needs }) => short(needs.diskBytes)),
  row("connections, at most", ({ needs }) => short(needs.connections)),
  row("writes a second", ({ needs }) => short(needs.writes)),
  row("recalls a second", ({ needs }) => short(needs.recalls)),
  row("cold opens a second", ({ needs }) => short(needs.coldOpens)),
  row("transactions a second", ({ needs }) => short(needs.transactions)),
  row("log, bytes a second", ({ needs }) => short(needs.logBytes)),
  row("database, cores busy", ({ needs }) => short(needs.databaseCores)),
  row("each relayer, cores busy", ({ needs }) => short(needs.relayerCores)),
  row("each relayer, RAM, bytes", ({ needs }) => short(needs.relayerRam)),
  row("one server is", ({ needs }) => {
    const [[name, times] = ["", 0]] = excess(needs, SERVER);
    return times < 1
      ? `enough (${name} ${Math.round(times * 100)} %)`
      : `too small (${name} ${short(times)} times)`;
  }),
  row("cost a month", ({ needs }) => short(needs.cost)),
];
Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
