import { pause } from "../../src/deadline.ts";
import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machines.ts";
import type { RelayerMachine } from "./relayer_machine.ts";
import { signal } from "./processes.ts";

/** How long something is cut off, full or wrong, milliseconds: longer than leases last. */
const LASTS_MS = 4_000;
/** How far clocks are put forward or back, seconds: further than a signature may be old. */
const JUMP_SECONDS = 600;

/** Something that goes wrong. */
export interface Fault {
  readonly name: string;
  /** Within which time everybody is served again, milliseconds, where that was promised. */
  readonly goalMs?: number;
  /** Why it cannot be done in this cluster; `undefined` where it can. */
  lacks(cluster: Cluster): string | undefined;
  /**
   * Does it.
   *
   * @param choose Chooses one of several.
   * @returns When it was at its worst, by `performance`: what follows is the way back.
   */
  strike(cluster: Cluster, choose: <T>(of: readonly T[]) => T): Promise<number>;
}

const never = () => undefined;
const apart = ({ machines }: Cluster) =>
  machines.apart ? undefined : "needs machines that are apart";

/** Cuts two machines off from each other for a while. */
async function cut({ machines }: Cluster, one: Machine, other: Machine): Promise<number> {
  const struck = performance.now();
  await machines.cut(one, other);
  await pause(LASTS_MS);
  await machines.heal();
  return struck;
}

/** Puts a clock forward or back for a while; programs see it within a second. */
async function jump(clock: RelayerMachine["clock"], back: boolean): Promise<number> {
  await clock!.set(back ? -JUMP_SECONDS : JUMP_SECONDS);
  await pause(LASTS_MS);
  await clock!.set(0);
  return performance.now();
}

const clocked = ({ relayers }: Cluster) =>
  relayers[0]?.clock === undefined ? "needs root and libfaketime" : undefined;

/** Everything that goes wrong, each as often as the others. */
export const FAULTS: readonly Fault[] = [
  {
    name: "a relayer is killed",
    goalMs: 3_000,
    lacks: never,
    async strike({ relayers }, choose) {
      const pid = await choose(relayers).child("serve");
      const struck = performance.now();
      if (pid !== undefined) signal([pid], "SIGKILL");
      return struck;
    },
  },
  {
    name: "a relayer's machine dies and comes back",
    goalMs: 3_000,
    lacks: never,
    async strike({ relayers }, choose) {
      const relayer = choose(relayers);
      const struck = performance.now();
      await relayer.kill();
      await relayer.start();
      return struck;
    },
  },
  {
    name: "a sidecar is killed",
    lacks: never,
    async strike({ relayers }, choose) {
      const pid = await choose(relayers).child("sidecar");
      const struck = performance.now();
      if (pid !== undefined) signal([pid], "SIGKILL");
      return struck;
    },
  },
  {
    name: "a relayer stands still, and goes on",
    lacks: never,
    async strike({ relayers }, choose) {
      const pid = await choose(relayers).child("serve");
      if (pid === undefined) return performance.now();
      signal([pid], "SIGSTOP");
      await pause(LASTS_MS);
      signal([pid], "SIGCONT");
      return performance.now();
    },
  },
  {
    name: "the primary dies, the standby takes over",
    goalMs: 30_000,
    lacks: never,
    async strike({ database }) {
      await database.ready;
      const struck = performance.now();
      await database.failOver();
      return struck;
    },
  },
  {
    name: "the primary crashes and starts again",
    goalMs: 30_000,
    lacks: never,
    async strike({ database }) {
      await database.ready;
      const struck = performance.now();
      await database.crash();
      return struck;
    },
  },
  {
    name: "a relayer is cut off from the database",
    lacks: apart,
    strike: (cluster, choose) =>
      cut(cluster, choose(cluster.relayers).machine, cluster.database.primary.machine),
  },
  {
    name: "a relayer is cut off from the balancer",
    lacks: apart,
    strike: (cluster, choose) => cut(cluster, choose(cluster.relayers).machine, cluster.front),
  },
  {
    name: "two relayers are cut off from each other",
    lacks: apart,
    strike(cluster, choose) {
      const one = choose(cluster.relayers);
      const other = choose(cluster.relayers.filter((relayer) => relayer !== one));
      return cut(cluster, one.machine, other.machine);
    },
  },
  {
    name: "the standby is cut off from the primary",
    lacks: apart,
    async strike(cluster) {
      const { database } = cluster;
      await database.ready;
      return await cut(cluster, database.standby.machine, database.primary.machine);
    },
  },
  {
    name: "a relayer's clock jumps forward",
    lacks: clocked,
    strike: ({ relayers }, choose) => jump(choose(relayers).clock, false),
  },
  {
    name: "a relayer's clock jumps back",
    lacks: clocked,
    strike: ({ relayers }, choose) => jump(choose(relayers).clock, true),
  },
  {
    name: "the database's disk is full",
    lacks: ({ database: { primary, standby } }) =>
      primary.isLimited && standby.isLimited ? undefined : "needs root, and disks of their own",
    async strike({ database }) {
      await database.ready;
      const { primary } = database;
      await primary.fill();
      await pause(LASTS_MS);
      await primary.empty();
      const struck = performance.now();
      await database.supervise();
      return struck;
    },
  },
];
