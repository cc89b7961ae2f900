/** What one thing costs, as `deno task bench shared` and `postgres` measured it. */
export interface Constants {
  /** Bytes in tables and indexes a memory, its job left out, and of the ended job while it is kept. */
  readonly memoryBytes: number;
  readonly jobBytes: number;
  /** Bytes of the database's log a memory. */
  readonly logBytes: number;
  /** Transactions a memory, a recall, and of a relayer a second while nobody asks it. */
  readonly transactionsOfMemory: number;
  readonly transactionsOfRecall: number;
  readonly idleTransactions: number;
  /** Milliseconds of CPU, of the relayer and of the database. */
  readonly relayerMsOfMemory: number;
  readonly relayerMsOfRecall: number;
  readonly databaseMsOfMemory: number;
  readonly databaseMsOfRecall: number;
  /** Milliseconds to open a thousand memories on a relayer that did not have them, and the database's CPU. */
  readonly openMs: number;
  readonly databaseMsOfOpening: number;
  /** Bytes of RAM a memory in an opened index. */
  readonly ramBytes: number;
  /** RAM of a relayer before anybody asks it, bytes. */
  readonly relayerRam: number;
  /** Connections of a relayer, at most. */
  readonly connections: number;
  /** Days that an ended job is kept. */
  readonly jobDays: number;
}

/** How people use it: nobody measured this. */
export interface Habits {
  readonly memoriesOfOwner: number;
  readonly writesADay: number;
  readonly recallsADay: number;
  /** Share of a day's requests that falls into its busiest hour. */
  readonly busiestHour: number;
  /** Share of owners who ask in that hour, each at once warm for the rest of it. */
  readonly activeShare: number;
  /** Share of requests that come to another relayer than the one that has their owner. */
  readonly strays: number;
}

/** Money a month. */
export interface Prices {
  readonly core: number;
  readonly ramGiB: number;
  readonly diskGiB: number;
}

/** What one PostgreSQL server gives. */
export interface ServerLimits {
  readonly cores: number;
  readonly connections: number;
  readonly transactions: number;
  readonly logBytes: number;
  readonly diskBytes: number;
}

/** An installation. */
export interface Size {
  readonly relayers: number;
  readonly owners: number;
}

/** What an installation needs in its busiest hour. */
export interface Needs {
  readonly memories: number;
  readonly rows: number;
  readonly diskBytes: number;
  readonly connections: number;
  readonly writes: number;
  readonly recalls: number;
  readonly coldOpens: number;
  readonly transactions: number;
  readonly logBytes: number;
  readonly databaseCores: number;
  /** Of one relayer. */
  readonly relayerCores: number;
  readonly relayerRam: number;
  readonly cost: number;
}

const HOUR = 3600;
const GIB = 2 ** 30;
/** A processor that is busier than this makes requests wait. */
const BUSY = 0.5;
/** Rows a memory in `entry`, `blob` and `put_key`, and its share of a segment. */
const ROWS = 3 + 1 / 128;

/** What a size needs, by the constants. */
export function needsOf(
  { relayers, owners }: Size,
  habits: Habits,
  constants: Constants,
  prices: Prices,
): Needs {
  const memories = owners * habits.memoriesOfOwner;
  const writes = owners * habits.writesADay * habits.busiestHour / HOUR;
  const recalls = owners * habits.recallsADay * habits.busiestHour / HOUR;
  const coldOpens = owners * habits.activeShare / HOUR + (writes + recalls) * habits.strays;
  const jobs = owners * habits.writesADay * constants.jobDays;
  const diskBytes = memories * constants.memoryBytes + jobs * constants.jobBytes;
  const opened = habits.memoriesOfOwner / 1000;
  const databaseCores = (writes * constants.databaseMsOfMemory +
    recalls * constants.databaseMsOfRecall +
    coldOpens * opened * constants.databaseMsOfOpening) / 1000;
  const relayerCores = (writes * constants.relayerMsOfMemory +
    recalls * constants.relayerMsOfRecall + coldOpens * opened * constants.openMs) /
    1000 / relayers;
  const relayerRam = constants.relayerRam +
    owners * habits.activeShare * habits.memoriesOfOwner * constants.ramBytes / relayers;
  const cost = (relayers * relayerCores + databaseCores) / BUSY * prices.core +
    relayers * relayerRam / GIB * prices.ramGiB + diskBytes / GIB * prices.diskGiB;
  return {
    memories,
    rows: memories * ROWS + jobs,
    diskBytes,
    connections: relayers * constants.connections,
    writes,
    recalls,
    coldOpens,
    transactions: writes * constants.transactionsOfMemory +
      recalls * constants.transactionsOfRecall + relayers * constants.idleTransactions,
    logBytes: writes * constants.logBytes,
    databaseCores,
    relayerCores,
    relayerRam,
    cost,
  };
}

/** How many times over one server each need is, the worst first. */
export function excess(needs: Needs, limits: ServerLimits): [name: string, times: number][] {
  const shares: [string, number][] = [
    ["connections", needs.connections / limits.connections],
    ["transactions", needs.transactions / limits.transactions],
    ["log", needs.logBytes / limits.logBytes],
    ["disk", needs.diskBytes / limits.diskBytes],
    ["CPU", needs.databaseCores / (limits.cores * BUSY)],
  ];
  return shares.sort((a, b) => b[1] - a[1]);
}
