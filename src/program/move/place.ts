import { openBackends, openStore } from "../../embed/open_backends.ts";
import type {
  Backends,
  Embedder,
  ExpiryStore,
  JobStore,
  Scope,
  StateStore,
} from "../../interfaces/mod.ts";
import type { BackendSource } from "../../interfaces/plugin.ts";
import { Expiries } from "../../jobs/expiries.ts";
import { openJobsFile } from "../../jobs/jobs_file.ts";
import { KvJobStore } from "../../jobs/kv_job_store.ts";
import { KvWriter, Staging } from "../../jobs/staging.ts";
import { silentLogger } from "../../log.ts";
import type { RelayerKey } from "../../sealing/relayer_key.ts";
import { CoreDb } from "../../storage/core_db.ts";
import { lockDataFolder, lockKeyChange } from "../../storage/data_lock.ts";
import { COMMON, type LedgerMirror } from "../../storage/ledger_mirror.ts";
import { makePrivateFolder } from "../../storage/private_file.ts";
import { invalid } from "../invalid.ts";

/** Where a relayer keeps everything. */
export interface PlaceOptions {
  /** What people call it. */
  readonly name: string;
  /** The relayer's own folder; it is made where it is missing. */
  readonly dataDir: string;
  /** What plays the roles there; with a `store` it is that which relayers share. */
  readonly backends: readonly BackendSource[];
}

/** A place whose relayer does not run, opened as far as that needs no key. */
export interface Place {
  readonly name: string;
  readonly dataDir: string;
  /** Deletions, versions, keys; in RAM where a shared store has them. */
  readonly core: CoreDb;
  /** The core.db of its folder; the same as `core` where no store is shared. */
  readonly own: CoreDb;
  readonly jobs: JobStore;
  readonly expiries: ExpiryStore;
  readonly shared: { readonly store: StateStore; readonly mirror: LedgerMirror } | undefined;
  /** Whether its folder holds nothing. */
  readonly isEmpty: boolean;
}

/** A place, all of it opened. */
export interface OpenPlace extends Place {
  readonly backends: Backends;
}

/** Files that are there once a place was opened, whether it holds anything or not. */
const OPENED = /^(relayer\.lock|key\.lock|relayer\.salt|(core\.db|jobs\.kv)(-wal|-shm)?)$/;

async function hasOthers(path: string): Promise<boolean> {
  for await (const { name } of Deno.readDir(path)) if (!OPENED.test(name)) return true;
  return false;
}

/** How long a request may be on its way, milliseconds: no older one is taken. */
const WINDOW_MS = 300_000;

/**
 * Refuses jobs whose relayer was killed a moment ago: nonces that it had only in RAM are unknown, and
 * what is signed with them is too young to be refused for its age.
 */
async function checkEnd(dataDir: string, kv: Deno.Kv, usedAt: number): Promise<void> {
  const { value } = await kv.get<true | number>(["unclean"]);
  if (value === null) return;
  const since = value === true ? usedAt : value * 1000;
  if (Date.now() > since + WINDOW_MS) return;
  throw invalid(
    `The relayer of ${dataDir} was killed less than five minutes ago: wait, then try again`,
  );
}

async function timeOf(path: string): Promise<number> {
  const info = await Deno.stat(path).catch(() => undefined);
  return info?.mtime?.getTime() ?? 0;
}

/** Opens `jobs.kv`, in which nobody works meanwhile. */
async function openJobs(dataDir: string, stack: AsyncDisposableStack) {
  const path = `${dataDir}/jobs.kv`;
  const usedAt = Math.max(await timeOf(path), await timeOf(`${path}-wal`));
  const kv = stack.adopt(await openJobsFile(dataDir), (opened) => opened.close());
  await checkEnd(dataDir, kv, usedAt);
  const writer = new KvWriter(kv, { wakeUps: false, now: Date.now });
  const jobs = stack.use(new KvJobStore(kv, writer, new Staging(kv, writer, Date.now)));
  return { jobs, expiries: new Expiries(kv, writer) };
}

/** How long a relayer that was killed counts as one that runs, in leases. */
const LEASES = 3;

/** Makes sure that no relayer works on a shared store, and keeps it for the caller. */
async function lockStore(
  name: string,
  { owners }: StateStore,
  stack: AsyncDisposableStack,
): Promise<void> {
  const timer = setInterval(() => void owners.renew().catch(() => {}), owners.lastMs / 4);
  stack.defer(() => clearInterval(timer));
  if (owners.others === undefined) {
    throw invalid(`${name} does not tell whether relayers run on it`);
  }
  await requireAlone(name, owners);
}

/** @throws {SvcError} `invalid_parameter` while relayers work on a shared store. */
export async function requireAlone(name: string, owners: StateStore["owners"]): Promise<void> {
  const until = Date.now() + LEASES * owners.lastMs;
  while (await owners.others?.() !== 0) {
    if (Date.now() > until) throw invalid(`Relayers run on ${name}: stop them`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Opens a place as far as that needs no key.
 *
 * @throws {SvcError} `invalid_parameter` while a relayer runs on it; `storage_unavailable`.
 */
export async function openPlace(
  { name, dataDir, backends }: PlaceOptions,
  stack: AsyncDisposableStack,
): Promise<Place> {
  await makePrivateFolder(dataDir);
  stack.use(await lockDataFolder(dataDir));
  stack.use(await lockKeyChange(dataDir));
  const store = await openStore({ backends, logger: silentLogger }, stack);
  const own = stack.use(new CoreDb(`${dataDir}/core.db`));
  const isEmpty = own.rows.isEmpty && !await hasOthers(dataDir);
  const place = { name, dataDir, own, isEmpty };
  if (store === undefined) {
    const { jobs, expiries } = await openJobs(dataDir, stack);
    return { ...place, core: own, jobs, expiries, shared: undefined };
  }
  await lockStore(name, store, stack);
  const core = stack.use(new CoreDb(":memory:"));
  const mirror = core.mirror(store.ledger);
  await mirror.load(COMMON);
  const { jobs, expiries } = store;
  return { ...place, core, jobs, expiries, shared: { store, mirror } };
}

/** Opens what needs the key. `embedder` is what another place has opened. */
export async function openRoles(
  place: Place,
  backends: readonly BackendSource[],
  key: RelayerKey,
  { embedder, stack }: {
    readonly embedder: Embedder | undefined;
    readonly stack: AsyncDisposableStack;
  },
): Promise<OpenPlace> {
  const sources = embedder === undefined ? backends : [...backends, { embedder }];
  const surroundings = {
    dataDir: place.dataDir,
    keys: place.core.keys,
    sealer: (purpose: string) => key.sealer(purpose),
    log() {},
  };
  return { ...place, backends: await openBackends(sources, surroundings, stack) };
}

/** Every owner of whom a place may hold something. */
export async function ownersOf({ core, backends }: OpenPlace): Promise<string[]> {
  const accounts = await backends.accounts.admin?.list() ?? [];
  return [...new Set([...accounts.map(({ owner }) => owner), ...core.rows.owners()])].sort();
}

/** Every scope of an owner in which a place may hold something; its part of the ledger is loaded. */
export async function scopesOf({ core, backends }: OpenPlace, owner: string): Promise<Scope[]> {
  const indexed = await backends.vectorStore.scopes(owner);
  const names = new Set([
    ...indexed.map(({ namespace }) => namespace),
    ...core.rows.namespacesOf(owner),
  ]);
  return [...names].sort().map((namespace) => ({ owner, namespace }));
}
