import { SvcError } from "../../src/errors.ts";
import { scopeKey } from "../../src/interfaces/scope_key.ts";
import type {
  Expiry,
  ExpiryStore,
  JobStore,
  LeaseCalls,
  Ledger,
  OwnerLeases,
  Scope,
  StateStore,
  WordsStore,
} from "../../src/interfaces/mod.ts";
import { activityRows, type ActivityTable } from "./activity_rows.ts";
import { Gate } from "./gate.ts";
import { sharedWindows, type SpentWindows } from "./shared_windows.ts";
import { memoryJobs, type MemoryJobsOptions } from "./job_store.ts";

/** State in maps, which several openings share as relayers share a database. */
export interface MemoryState extends AsyncDisposable {
  /** Opens it once more. */
  open(options?: MemoryJobsOptions): StateStore;
}

interface Opening {
  until: number;
  readonly heard: Set<LeaseCalls>;
}

interface Part {
  holder: Opening | undefined;
  isWanted: boolean;
  revision: number;
  readonly rows: Map<string, Uint8Array>;
}

interface Words {
  readonly turn: number;
  readonly records: readonly Uint8Array[];
}

/** What all openings share. */
class Tables {
  readonly parts = new Map<string, Part>();
  readonly expiries = new Map<string, Expiry>();
  readonly activity: ActivityTable = { rows: new Map(), lastId: 0 };
  readonly spent: SpentWindows = new Map();
  readonly openings = new Set<Opening>();
  readonly words = new Map<string, Words>();
  /** Owners of unfinished jobs. */
  readonly owners = new Map<string, string>();

  part(name: string): Part {
    const none = () => ({ holder: undefined, isWanted: false, revision: 0, rows: new Map() });
    return this.parts.getOrInsertComputed(name, none);
  }

  isFree({ holder }: Part): boolean {
    return holder === undefined || holder.until <= Date.now();
  }
}

/** State that nothing keeps: the reference of the conformance suite. */
export function memoryState(): MemoryState {
  const tables = new Tables();
  const place = memoryJobs();
  return {
    open(options = {}) {
      const { leaseMs = 30_000 } = options;
      const gate = new Gate("storage_unavailable");
      const me: Opening = { until: Date.now() + leaseMs, heard: new Set() };
      tables.openings.add(me);
      const jobs = place.open({ leaseMs });
      return {
        jobs: ofOwners(tables, me, jobs),
        expiries: expiries(tables, gate),
        ledger: ledger(tables, gate, me),
        activity: activityRows(tables.activity, gate),
        windows: sharedWindows(tables.spent, gate),
        owners: leases(tables, gate, me, leaseMs, place.letGo),
        words: words(tables, gate, me),
        async [Symbol.asyncDispose]() {
          await gate[Symbol.asyncDispose]();
          me.until = -Infinity;
          tables.openings.delete(me);
          await jobs[Symbol.asyncDispose]();
        },
      };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Jobs that are accepted for the owners of an opening only. */
function ofOwners(tables: Tables, me: Opening, jobs: JobStore): JobStore {
  return {
    ...jobs,
    async accept(given, notes) {
      if (given.some(({ owner }) => tables.part(owner).holder !== me)) {
        throw new SvcError("overloaded", "Another relayer works for this account now: try again");
      }
      const leases = await jobs.accept(given, notes);
      for (const { id, owner } of given) tables.owners.set(id, owner);
      return leases;
    },
    async end(lease, ended) {
      await jobs.end(lease, ended);
      tables.owners.delete(lease.jobId);
    },
  };
}

/** Lets whoever has an owner know that somebody else wants it. */
function want(owner: string, part: Part): void {
  if (part.isWanted) return;
  part.isWanted = true;
  for (const calls of part.holder!.heard) calls.wanted(owner);
}

function leases(
  tables: Tables,
  gate: Gate,
  me: Opening,
  lastMs: number,
  letGo: (owner: string) => void,
): OwnerLeases {
  const mine = () => [...tables.parts].flatMap(([name, { holder }]) => holder === me ? [name] : []);
  return {
    lastMs,
    async take(owner, ask) {
      await gate.pass();
      const part = tables.part(owner);
      if (part.holder !== me && !tables.isFree(part)) {
        if (ask) want(owner, part);
        return false;
      }
      part.holder = me;
      part.isWanted = false;
      part.revision++;
      letGo(owner);
      return true;
    },
    async release(owner) {
      await gate.pass();
      const part = tables.part(owner);
      if (part.holder !== me) return;
      const wasWanted = part.isWanted;
      part.holder = undefined;
      part.isWanted = false;
      if (!wasWanted) return;
      for (const { heard } of tables.openings) for (const calls of heard) calls.free(owner);
    },
    watch(calls) {
      me.heard.add(calls);
      return { [Symbol.dispose]: () => void me.heard.delete(calls) };
    },
    async renew() {
      await gate.pass();
      const hadRunOut = me.until <= Date.now();
      me.until = Date.now() + lastMs;
      return { wanted: mine().filter((name) => tables.part(name).isWanted), hadRunOut };
    },
    async others() {
      await gate.pass();
      const now = Date.now();
      return [...tables.openings].filter((one) => one !== me && one.until > now).length;
    },
    async mine() {
      await gate.pass();
      return mine();
    },
    async orphaned(limit) {
      await gate.pass();
      return [...new Set(tables.owners.values())]
        .filter((owner) => tables.isFree(tables.part(owner))).slice(0, limit);
    },
  };
}

function ledger(tables: Tables, gate: Gate, me: Opening): Ledger {
  return {
    async read(name) {
      await gate.pass();
      const { revision, rows } = tables.part(name);
      const all = [...rows].map(([key, value]) => ({ key: Uint8Array.fromHex(key), value }));
      return { revision, rows: all };
    },
    async revision(name) {
      await gate.pass();
      return tables.part(name).revision;
    },
    async write(name, revision, { put, gone }) {
      await gate.pass();
      const part = tables.part(name);
      const isMine = name === "" || part.holder === me;
      if (part.revision !== revision || !isMine) return undefined;
      for (const { key, value } of put) part.rows.set(key.toHex(), value.slice());
      for (const key of gone) part.rows.delete(key.toHex());
      return ++part.revision;
    },
  };
}

function expiries(tables: Tables, gate: Gate): ExpiryStore {
  const nameOf = ({ expiresAt, owner, namespace, id }: Expiry) =>
    JSON.stringify([String(expiresAt).padStart(16, "0"), owner, namespace, id]);
  return {
    async note(memories) {
      await gate.pass();
      for (const { expiresAt, owner, namespace, id } of memories) {
        if (expiresAt === undefined) continue;
        const expiry = { expiresAt, owner, namespace, id };
        tables.expiries.set(nameOf(expiry), expiry);
      }
    },
    async due(now, after) {
      await gate.pass();
      const from = after === undefined ? "" : nameOf(after);
      return [...tables.expiries].sort(([a], [b]) => a < b ? -1 : 1)
        .filter(([name, { expiresAt }]) => expiresAt <= now && name > from)
        .map(([, expiry]) => expiry).slice(0, 500);
    },
    async remove(given) {
      await gate.pass();
      for (const expiry of given) tables.expiries.delete(nameOf(expiry));
    },
  };
}

function words(tables: Tables, gate: Gate, me: Opening): WordsStore {
  const of = (scope: Scope) => tables.words.get(scopeKey(scope)) ?? { turn: 0, records: [] };
  return {
    async read(scope) {
      await gate.pass();
      return of(scope).records.map((record) => record.slice());
    },
    async turn(scope) {
      await gate.pass();
      return of(scope).turn;
    },
    async write(scope, turn, given) {
      const records = given.map((record) => record.slice());
      await gate.pass();
      const isMine = tables.part(scope.owner).holder === me;
      if (!isMine || of(scope).turn !== turn) throw new SvcError("overloaded");
      tables.words.set(scopeKey(scope), { turn: turn + 1, records });
    },
    async drop(scope) {
      await gate.pass();
      tables.words.set(scopeKey(scope), { turn: of(scope).turn + 1, records: [] });
    },
  };
}
