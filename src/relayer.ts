import { errorResponse, SvcError } from "./errors.ts";
import { AccountCache } from "./http/account_cache.ts";
import { BodyReader } from "./http/body_reader.ts";
import { requestIdOf } from "./http/request.ts";
import { isAddress } from "./wire/ip_addresses.ts";
import { Health } from "./http/health.ts";
import { McpProxy } from "./http/mcp_proxy.ts";
import { Grants } from "./http/oauth/grants.ts";
import { OwnAddress } from "./http/own_address.ts";
import { HttpMetrics } from "./http/metrics.ts";
import { TOKEN_PURPOSE } from "./http/session_tokens.ts";
import { type Counts, countsOf } from "./http/limits/counts.ts";
import { Router } from "./http/router.ts";
import { ScopeIndex } from "./index/scope_index.ts";
import type { Backends } from "./interfaces/mod.ts";
import type { Replay } from "./jobs/replay.ts";
import { type JobTables, openJobTables, openSharedTables } from "./jobs/tables.ts";
import { type Attempt, JobWorker } from "./jobs/worker.ts";
import { type Domain, openDomain } from "./memory/domain.ts";
import { processMemory } from "./memory/process.ts";
import { LeasedOwners } from "./memory/owners/leased_owners.ts";
import { ownersOf } from "./memory/owners/owner_state.ts";
import type { Owners } from "./memory/owners/owners.ts";
import { bounded, startBackground } from "./memory/upkeep/background.ts";
import { replayTombstones } from "./memory/remove/replay.ts";
import { NAMING_MS } from "./memory/store_blob.ts";
import { PayloadKeys } from "./memory/waiting/payload_keys.ts";
import { HEADER } from "./wire/headers.ts";
import { withJobsFile } from "./jobs/jobs_file.ts";
import { type CallNote, measured, measuredBackends, measuredStore } from "./embed/measured.ts";
import { type Ground, openGround } from "./embed/ground.ts";
import { openBackends, openStore } from "./embed/open_backends.ts";
import type { Relayer, RelayerOptions } from "./embed/relayer_options.ts";
import { RelayerReceiptKey } from "./sealing/receipt_key.ts";
import { RelayerKey } from "./sealing/relayer_key.ts";
import { isSidecar, sidecarConnections } from "./http1/sidecar_connections.ts";
import type { CoreDb } from "./storage/core_db.ts";
import { SharedWords } from "./storage/shared_words.ts";
import { WordsFiles } from "./storage/words_files.ts";
import { sponsorHandlers } from "./sponsor/open_sponsor.ts";
import { SidecarSponsor } from "./sponsor/sidecar_sponsor.ts";

export type { Relayer, RelayerOptions };

const UPKEEP_MS = 600_000;
const DAY_MS = 86_400_000;
const LOCAL = "127.0.0.1";

function jobTables(
  { file, shared, key, config, now }: Ground,
  payloadKeys: PayloadKeys,
  stack: AsyncDisposableStack,
): JobTables {
  const hmac = key.hmac("replay");
  const sealer = (secret?: string) =>
    key.sealer(secret === undefined ? "kept answer" : `kept answer ${secret}`);
  const ground = { config, hmac, sealer, payloadKeys, now };
  const tables = shared === undefined
    ? openJobTables({ ...ground, kv: file!.kv })
    : openSharedTables({ ...ground, store: shared.store });
  stack.use(tables.replay);
  return tables;
}

/** A worker; `work` does what one attempt of a job needs. */
function workerOf(
  { file, config, logger, now }: Ground,
  { jobs, isBursting }: JobTables,
  metrics: HttpMetrics,
  { owners, work }: {
    readonly owners: Owners;
    readonly work: (attempt: Attempt) => Promise<void>;
  },
): JobWorker {
  return new JobWorker(jobs, {
    process: async (attempt) => {
      await work(attempt);
      const { state, job } = attempt.live;
      metrics.jobs.observe({ state }, (now() - job.acceptedAt) / 1000);
    },
    concurrency: config.jobConcurrency,
    maxAttempts: config.jobMaxAttempts,
    dispatch: config.dispatch,
    now,
    random: Math.random,
    logger,
    hold: (owner) => owners.holdForJob(owner),
    busy: isBursting,
    ...(config.dispatch.queue && file !== undefined
      ? { wakeAfter: (delay: number) => file.kv.enqueue({ wake: true }, { delay }).then(() => {}) }
      : {}),
  });
}

/** What of core.db the operations on memories work with. */
function tablesOf({ tombstones, tombstoneBlobs, versions, copies, policies, keys }: CoreDb) {
  return { tombstones, tombstoneBlobs, versions, copies, policies, keys };
}

/** Everything the operations on memories work with. */
function domainOf(
  { dataDir, key, core, file, shared, config, logger, now }: Ground,
  { hold, staging, jobs, expiries }: JobTables,
  backends: Backends,
  working: Pick<Domain, "worker" | "owners" | "keyUse" | "activity" | "payloadKeys">,
  stack: AsyncDisposableStack,
): Domain {
  const { vectorStore, embedder: { dimensions } } = backends;
  const index = new ScopeIndex({ vectorStore, dimensions, budgetBytes: config.indexMemoryBytes });
  stack.use(bounded(index));
  return openDomain({
    ...backends,
    config,
    index,
    savedWords: stack.use(
      shared ? new SharedWords(shared.store) : new WordsFiles(dataDir, key.hmac("words")),
    ),
    ...working,
    jobs,
    expiries,
    staging,
    scrubJobs: () => hold(async () => await file?.scrub.run()),
    ...tablesOf(core),
    sealer: (purpose) => key.sealer(purpose),
    importedId: key.hmac("imported id"),
    sameText: key.hmac("same text"),
    receipts: new RelayerReceiptKey(key),
    logger,
    now,
  });
}

/** Takes up the jobs of an earlier relayer, and starts working. */
async function start(
  ground: Ground,
  { replay, jobs, woken }: JobTables,
  domain: Domain,
  owners: Owners,
  stack: AsyncDisposableStack,
): Promise<void> {
  const { worker } = domain;
  const { file, config } = ground;
  // Jobs of a shared store come with their owners.
  const waiting = file === undefined ? [] : await withJobsFile(async () => {
    await replay.open();
    return await jobs.recover(domain.embedder.model);
  });
  await replayTombstones(domain);
  if (config.dispatch.queue && file !== undefined) {
    file.queue.listening = file.kv.listenQueue(() => {
      woken();
      return worker.sweep();
    }).catch(() => {});
  }
  stack.defer(() => worker.stop(0)); // also where the rest of the start fails
  worker.start();
  worker.resume(waiting);
  if (owners instanceof LeasedOwners) await owners.start();
  stack.use(await startBackground(domain));
}

/** The apps that were let in by OAuth. */
function grantsOf(
  { core: { grants: table }, shared, key, now }: Ground,
  { accounts: { admin }, sealer }: Domain,
): Grants {
  const mirror = shared?.mirror;
  return new Grants({ table, mirror, sealer, mac: key.hmac("refresh token"), admin, now });
}

/** What a running relayer is made of. */
interface Parts {
  readonly ground: Ground;
  readonly tables: JobTables;
  readonly backends: Backends;
  readonly domain: Domain;
  readonly metrics: HttpMetrics;
  readonly counts: Counts;
  readonly options: Pick<RelayerOptions, "sidecar" | "publicNetwork">;
}

/** Everything a relayer consists of, opened in order and disposed of in reverse. */
class RunningRelayer implements Relayer {
  readonly backends: Backends;
  readonly #domain: Domain;
  readonly #router: Router;
  readonly #address: OwnAddress;
  readonly #bodies: BodyReader;
  readonly #mcp: McpProxy;
  readonly #grants: Grants;
  readonly #replay: Replay;
  readonly #stack: AsyncDisposableStack;
  readonly #upkeep: ReturnType<typeof setInterval>;
  readonly #seedOf: (name: string) => Uint8Array;
  #leaving = false;
  #closing = false;
  #drained = false;

  constructor(parts: Parts, stack: AsyncDisposableStack) {
    const { ground, tables, domain, metrics, counts, options: { sidecar } } = parts;
    const { config, logger, now } = ground;
    const { limiter, newLimiter } = counts;
    const { replay } = tables;
    const { accounts, cipher } = domain;
    // What is kept open for an account that changed is dropped.
    if (cipher.accountChanged !== undefined) {
      const both = [cipher, domain.payloadKeys];
      stack.use(accounts.watch?.((id) => both.forEach((one) => one.accountChanged?.(id))));
    }
    const bodies = this.#bodies = new BodyReader(
      config.unverifiedBodyBytes,
      config.bodyTimeoutMs,
      now,
    );
    this.backends = parts.backends;
    this.#domain = domain;
    this.#replay = replay;
    this.#seedOf = ground.key.hmac("account by name");
    const proved = sidecar && stack.use(sidecarConnections(sidecar));
    const failures = metrics.sidecarFailures;
    const address = this.#address = new OwnAddress(config);
    const grants = this.#grants = grantsOf(ground, domain);
    const tokens = domain.sealer(TOKEN_PURPOSE);
    const known = stack.use(new AccountCache(accounts, config, newLimiter(), now));
    const letIn = { tokens, grants, accounts: known, now };
    this.#mcp = stack.use(
      new McpProxy({ config, address, ...letIn, bodies, failures, sidecar: proved }),
    );
    const sponsoring = { ...ground, sharing: grants, limiter: newLimiter() };
    const probe = sidecar &&
      ((signal: AbortSignal) => isSidecar(sidecar.url, sidecar.token, { signal }));
    this.#router = new Router({
      domain,
      accounts: known,
      bodies,
      limiter,
      newLimiter,
      replay,
      sponsor: sponsorHandlers(domain.sponsor, sponsoring),
      metrics,
      health: new Health(domain, tables.answers, probe),
      mcp: this.#mcp,
      store: ground.shared?.store,
      address,
      grants,
      network: parts.options.publicNetwork,
      logger,
      leaving: () => this.#leaving,
      closing: () => this.#closing,
    });
    this.#upkeep = setInterval(() => void this.#maintain(), UPKEEP_MS);
    this.#stack = stack.move(); // until here the caller disposes of it
  }

  // Both are handed to servers, which call them without `this`.
  readonly fetch: Relayer["fetch"] = (request, info) => {
    const address = info?.remoteAddr;
    const peer = address !== undefined && "hostname" in address ? address.hostname : LOCAL;
    return this.#router.fetch(request, peer, info?.target);
  };

  readonly fetchInternal: Relayer["fetchInternal"] = async (request, info) => {
    if (info?.isProven !== true) {
      await request.body?.cancel();
      return errorResponse(new SvcError("not_found"), requestIdOf(request.headers));
    }
    const client = request.headers.get(HEADER.clientIp) ?? "";
    return this.#router.fetch(request, isAddress(client) ? client : LOCAL, info?.target, true);
  };

  readonly isKnownNetwork: Relayer["isKnownNetwork"] = (network) => this.#bodies.isKnown(network);

  readonly listensAt: Relayer["listensAt"] = (url) => this.#address.listensAt(url);

  readonly account: Relayer["account"] = async (name) => {
    const { accounts, now } = this.#domain;
    // Loaded here: a relayer that only serves needs no client.
    const { openAccount } = await import("./embed/account.ts");
    const fetch = (request: Request) => this.#router.fetch(request, LOCAL, undefined, true);
    return await openAccount(name, { accounts, seedOf: this.#seedOf, fetch, now });
  };

  idle(): Promise<void> {
    return this.#domain.worker.idle();
  }

  leave(): void {
    this.#leaving = true;
  }

  async drain(graceMs: number): Promise<void> {
    this.#closing = true;
    if (this.#drained) return;
    this.#drained = true;
    clearInterval(this.#upkeep);
    this.#mcp.closeListening();
    const { worker, cipher } = this.#domain;
    await worker.stop(graceMs, cipher.needsCredential);
    await this.#replay.close().catch((error) => {
      this.#domain.logger.warn("replay_not_saved", { reason: SvcError.from(error).code });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain(0);
    await this.#domain.worker.putDown();
    await this.#stack.disposeAsync();
  }

  async #maintain(): Promise<void> {
    const { jobs, staging, payloadKeys, config, now, logger } = this.#domain;
    try {
      payloadKeys.forget(jobs.payloadKeys());
      await jobs.forget(now() - config.jobRetentionDays * DAY_MS);
      await staging.sweep();
      await this.#replay.sweep();
      await replayTombstones(this.#domain, NAMING_MS.upkeep);
      await this.#grants.sweep();
    } catch (error) {
      logger.warn("upkeep_failed", { reason: SvcError.from(error).code });
    }
  }
}

/**
 * Wires backends into a relayer, takes up the jobs of an earlier one, and starts working.
 *
 * @example A relayer that keeps what it is told
 * ```ts ignore
 * import { createRelayer, keyFile } from "@svc/relayer";
 * import { local } from "@svc/relayer/plugins/local";
 * import { useLite } from "@svc/relayer/plugins/use-lite";
 * import { myStore } from "./my_store.ts";
 *
 * await using relayer = await createRelayer({
 *   dataDir: "./data",
 *   relayerKey: await keyFile("./relayer.key"),
 *   backends: [local(), useLite(), { vectorStore: myStore() }], // last wins
 * });
 * const ada = await relayer.account("ada"); // in process, no signing, same permissions and walls
 * await ada.remember("I am allergic to peanuts");
 * const { results } = await ada.recall("what should I not cook?");
 * console.log(results[0]?.text);
 *
 * await Deno.serve(relayer.fetch).finished;
 * ```
 *
 * @example A relayer that keeps nothing
 * ```ts
 * import { createRelayer } from "./relayer.ts";
 * import { memoryBackends } from "../plugins/memory/mod.ts";
 *
 * await using relayer = await createRelayer({ backends: memoryBackends() });
 * const response = await relayer.fetch(new Request("http://localhost/version"));
 * if (response.status !== 200) throw new Error("unexpected");
 * await response.body?.cancel();
 * ```
 *
 * @throws {SvcError} `invalid_parameter` when the KV flag or the key is missing, a number of the
 * configuration is out of range, or the folder is in use or belongs to another relayer key;
 * `storage_unavailable` when a file cannot be used.
 */
export async function createRelayer(options: RelayerOptions): Promise<Relayer> {
  await using stack = new AsyncDisposableStack();
  const metrics = new HttpMetrics();
  const note: CallNote = (call) => metrics.noteCall(call);
  const opened = await openStore(options, stack);
  const store = opened && measuredStore(opened, note);
  const ground = await openGround(options, store, stack);
  const { core, dataDir, key, logger } = ground;
  const backends = await openBackends(options.backends, {
    dataDir,
    keys: core.keys,
    sealer: (purpose) => key.sealer(purpose),
    log: (level, message) => logger[level](message),
  }, stack);
  const unreachable = () => metrics.sidecarFailures.add({ reason: "unreachable" });
  const noted = measuredBackends(backends, note);
  const sealerOf = (bytes: Uint8Array) => new RelayerKey(bytes).sealer("payload");
  const payloadKeys = new PayloadKeys({ cipher: noted.cipher, sealerOf, now: ground.now });
  const tables = jobTables(ground, payloadKeys, stack);
  const counts = countsOf(ground);
  const owners = ownersOf(ground.shared, counts.ofOwners, () => domain);
  const work = (attempt: Attempt) => processMemory(domain, attempt);
  const worker = workerOf(ground, tables, metrics, { owners, work });
  const { keyUse, activity } = counts;
  const working = { worker, owners, keyUse, activity: stack.use(activity), payloadKeys };
  const domain = {
    ...(options.sidecarSponsors
      ? { sponsor: measured("sponsor", stack.use(new SidecarSponsor(options, unreachable)), note) }
      : {}),
    ...domainOf(ground, tables, noted, working, stack),
  };
  if (owners instanceof LeasedOwners) stack.use(owners);
  await start(ground, tables, domain, owners, stack);
  return new RunningRelayer(
    { ground, tables, backends, domain, metrics, counts, options },
    stack,
  );
}
