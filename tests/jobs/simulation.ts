import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { DEFAULT_CONFIG } from "../../src/interfaces/config.ts";
import type { IndexEntry } from "../../src/interfaces/mod.ts";
import { WordsFiles } from "../../src/storage/words_files.ts";
import { SvcError } from "../../src/errors.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import type { AcceptedJob, EndedJob, JobState } from "../../src/jobs/job.ts";
import { Expiries } from "../../src/jobs/expiries.ts";
import { KvWriter, Staging } from "../../src/jobs/staging.ts";
import { JobStore } from "../../src/jobs/store.ts";
import { JobWorker } from "../../src/jobs/worker.ts";
import { silentLogger } from "../../src/log.ts";
import { type Domain, openDomain } from "../../src/memory/domain.ts";
import { processMemory } from "../../src/memory/process.ts";
import { forget } from "../../src/memory/remove/forget.ts";
import { deleteMemory, replayTombstones } from "../../src/memory/remove/remove.ts";
import { replaceMemory } from "../../src/memory/versions/replace.ts";
import { memoryAccounts } from "../../plugins/memory/accounts.ts";
import { RelayerReceiptKey } from "../../src/sealing/receipt_key.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { fakeKv } from "./fake_kv.ts";
import { jobOf } from "./setup.ts";
import { backendsOf, OWNER, Process, randomFrom, World } from "./simulated_world.ts";

const KEY = new RelayerKey(new Uint8Array(32).fill(7));
const CALLER = { account: OWNER };
const NAMESPACES = ["default", "other"];
const MAX_ATTEMPTS = 4;
const CHAOS_STEPS = 250;
const CALM_STEPS = 4_000;
const LARGE = "x".repeat(20_000);

/** How often what goes wrong, each of [0, 1]. */
export interface Chaos {
  readonly crash: number;
  readonly temporary: number;
  readonly permanent: number;
  /** The call is done, but its answer is lost. */
  readonly lostAnswer: number;
}

/** One seeded history of accepting, working, deleting, retrying and crashing. */
export class Simulation {
  readonly #random: () => number;
  readonly #chaos: Chaos;
  readonly #world = new World();
  #now = 1_700_000_000_000;
  #process = new Process();
  #domain: Domain;
  #booting = true;
  #acting = true;
  #accepted = new Set<string>();
  /** Accepted replacements: job, memory, and the version it was given. */
  readonly #replaced: {
    readonly job: string;
    readonly memory: string;
    readonly version: number;
  }[] = [];
  #offered = 0;
  /** What happened, in order. */
  readonly trace: string[] = [];

  constructor(seed: number, chaos: Chaos) {
    this.#random = randomFrom(seed);
    this.#chaos = chaos;
    this.#domain = this.#boot();
  }

  /** Plays the history to its end and checks what is left. */
  async run(): Promise<void> {
    for (let i = 0; i < CHAOS_STEPS; i++) await this.#step(this.#chaos);
    await this.#rest();
    // Deletions that failed half-way are finished by the next start.
    this.#crash();
    await this.#rest();
    await this.#check();
  }

  async #rest(): Promise<void> {
    const calm = { crash: 0, temporary: 0, permanent: 0, lostAnswer: 0 };
    this.#acting = false;
    for (let i = 0; i < CALM_STEPS && !this.#atRest(); i++) await this.#step(calm);
    assert.ok(this.#atRest(), "jobs are left although nothing fails any more");
  }

  #atRest(): boolean {
    return !this.#booting && this.#process.waiting.length === 0 && this.#domain.jobs.size === 0;
  }

  #boot(): Domain {
    const world = this.#world;
    const process = this.#process = new Process();
    const now = () => this.#now;
    const kv = fakeKv(world.table, process.gate);
    const backends = backendsOf(world, process);
    const writer = new KvWriter(kv, { wakeUps: true, now });
    const staging = new Staging(kv, writer, now);
    const jobs = new JobStore(kv, writer, staging, { maxPending: 100, now });
    const worker = new JobWorker(jobs, {
      process: (attempt) => processMemory(domain, attempt),
      concurrency: 2,
      maxAttempts: MAX_ATTEMPTS,
      dispatch: { process: false, queue: true, sweeper: false },
      now,
      random: this.#random,
      logger: silentLogger,
    });
    const { vectorStore } = backends;
    const index = new ScopeIndex({ vectorStore, dimensions: 2, budgetBytes: 1e6 });
    const domain = openDomain({
      ...backends,
      accounts: memoryAccounts(now),
      config: DEFAULT_CONFIG,
      index,
      wordsFiles: new WordsFiles(undefined, () => new Uint8Array()),
      jobs,
      worker,
      expiries: new Expiries(kv, writer),
      staging,
      tombstones: process.table(world.tombstones),
      // The simulated store erases.
      tombstoneBlobs: {
        add() {},
        remove() {},
        unsent: () => [],
        sent() {},
        isTombstone: () => false,
      },
      versions: process.table(world.versions),
      importedId: KEY.hmac("imported id"),
      sameText: KEY.hmac("same text"),
      receipts: new RelayerReceiptKey(KEY),
      scrubJobs: () => Promise.resolve(),
      keyUse: { touch() {}, lastUsed: () => undefined },
      activity: { note() {}, page: () => ({ entries: [] }) },
      keys: { get: () => undefined },
      sealer: (purpose) => KEY.sealer(purpose),
      logger: silentLogger,
      now,
    });
    this.#booting = true;
    const started = async () => {
      await jobs.recover();
      await replayTombstones(domain);
      worker.start();
      this.#booting = false;
    };
    started().catch((error) => {
      // A start that fails ends the process; whoever supervises it starts the next.
      if (process === this.#process) this.#crash();
      assert.ok(error instanceof SvcError, String(error));
    });
    return domain;
  }

  #crash(): void {
    this.trace.push("crash");
    this.#process.kill();
    this.#domain = this.#boot();
  }

  async #step(chaos: Chaos): Promise<void> {
    // Everything that can go on without one of the waiting calls has gone on after this.
    await setImmediate();
    if (this.#random() < chaos.crash) {
      const [lost] = this.#process.waiting.splice(0);
      if (lost !== undefined && this.#random() < 0.5) {
        this.trace.push(`${lost.name}, unanswered`);
        await lost.run(false);
      }
      return this.#crash();
    }
    if (this.#acting && !this.#booting && this.#random() < 0.08) return this.#act();
    const { waiting } = this.#process;
    const [call] = waiting.splice(Math.floor(this.#random() * waiting.length), 1);
    if (call === undefined) {
      this.#now += 100 + Math.floor(this.#random() * 600_000);
      this.trace.push("sweep");
      this.#domain.worker.sweep();
      return;
    }
    const fate = this.#random();
    const { temporary, permanent, lostAnswer } = chaos;
    const table = call.name.startsWith("kv.");
    const code = table ? "storage_unavailable" : "embedding_unavailable";
    const failure = permanent + temporary + lostAnswer;
    this.trace.push(fate < failure ? `${call.name} fails` : call.name);
    if (fate < temporary) call.fail(new SvcError(code));
    else if (fate < temporary + lostAnswer) {
      await call.run(false);
      call.fail(new SvcError("storage_unavailable"));
    } else if (!table && fate < temporary + lostAnswer + permanent) {
      call.fail(new SvcError(code, undefined, { retryable: false }));
    } else await call.run(true);
  }

  /** Something a client does; it does not wait for the answer. */
  #act(): void {
    const ids = [...this.#accepted];
    const some = ids[Math.floor(this.#random() * ids.length)];
    const kind = this.#random();
    if (kind < 0.6 || some === undefined) this.#remember();
    else if (kind < 0.75) this.#replace(some);
    else if (kind < 0.85) {
      this.trace.push(`delete ${some}`);
      deleteMemory(this.#domain, CALLER, some).catch(() => {});
    } else if (kind < 0.88) {
      const namespace = NAMESPACES[Math.floor(this.#random() * NAMESPACES.length)]!;
      this.trace.push(`forget ${namespace}`);
      forget(this.#domain, CALLER, namespace).catch(() => {});
    } else {
      const { jobs, tombstones } = this.#domain;
      const deleted = NAMESPACES.some((namespace) =>
        tombstones.isDeleted({ owner: OWNER.owner, namespace }, some)
      );
      this.trace.push(`retry ${some}`);
      const nothing = { answer: undefined, mutations: [] };
      if (!deleted) jobs.retry(some, OWNER.owner, () => nothing).catch(() => {});
    }
  }

  /** A client corrects a memory, and is told the version that it gets. */
  #replace(memory: string): void {
    this.trace.push(`replace ${memory}`);
    const text = this.#random() < 0.3 ? LARGE : `memory ${memory} again`;
    let job: AcceptedJob | undefined;
    replaceMemory(this.#domain, CALLER, memory, { text }, (accepted) => {
      job = accepted;
      return { answer: undefined, mutations: [] };
    }).then(() => {
      const { id, version } = job!;
      this.trace.push(`accepted ${id} version ${version} of ${memory}`);
      this.#replaced.push({ job: id, memory, version });
    }, (error) => assert.ok(error instanceof SvcError, String(error)));
  }

  #remember(): void {
    const id = `00000000-0000-4000-8000-${String(++this.#offered).padStart(12, "0")}`;
    this.trace.push(`remember ${id}`);
    const namespace = NAMESPACES[this.#offered % NAMESPACES.length]!;
    const { jobs, contents } = this.#domain;
    const text = this.#random() < 0.3 ? LARGE : `memory ${this.#offered}`;
    const remember = async () => {
      const payload = await contents.stage(id, { kind: "text", text });
      const { accountId, owner } = OWNER;
      // As `accept` does it: what comes after a forget is later than it.
      const forgottenAt = this.#world.tombstones.forgottenAt({ owner, namespace }) ?? -Infinity;
      const acceptedAt = Math.max(this.#now, forgottenAt + 1);
      const job = jobOf({ id, namespace, payload, accountId, owner, acceptedAt });
      await jobs.accept([job], []);
      this.#accepted.add(id);
    };
    remember().catch(() => {});
  }

  async #check(): Promise<void> {
    const { table, tombstones } = this.#world;
    const entries = (await Promise.all(NAMESPACES.map((name) => this.#world.entries(name)))).flat();
    for (const { key: [kind, id], value } of table.rows.values()) {
      const job = value as EndedJob;
      if (kind === "job" && job.id === job.memoryId) this.#checkJob(String(id), job, entries);
    }
    for (const accepted of this.#replaced) this.#checkReplacement(accepted, entries);
    for (const id of this.#accepted) {
      assert.ok(table.rows.has(JSON.stringify(["job", id])), `job ${id} was lost`);
    }
    for (const entry of entries) {
      assert.ok(table.rows.has(JSON.stringify(["job", entry.id])), "a row of no job");
    }
    assert.deepEqual(table.keys("live"), []);
    assert.deepEqual(table.keys("progress"), []);
    assert.deepEqual(table.keys("step"), []);
    await this.#checkChunks();
    assert.deepEqual(tombstones.unapplied(), []);
    for (const [key, bytes] of this.#world.puts) assert.equal(bytes.size, 1, `${key} sealed twice`);
  }

  /** No accepted version is lost or doubled, and none of a deleted memory is left. */
  #checkReplacement(
    { job: jobId, memory, version }: { job: string; memory: string; version: number },
    entries: readonly IndexEntry[],
  ): void {
    const { versions, tombstones, table, blobs } = this.#world;
    const job = table.rows.get(JSON.stringify(["job", jobId]))?.value as EndedJob | undefined;
    assert.ok(job !== undefined, `version ${version} of ${memory} was lost`);
    const twins = this.#replaced.filter((other) =>
      other.memory === memory && other.version === version
    );
    assert.equal(twins.length, 1, `version ${version} of ${memory} was given twice`);
    const scope = { owner: OWNER.owner, namespace: job.namespace };
    const [row] = entries.filter((entry) => entry.id === memory);
    const blob = [...blobs].find(([, { key }]) => key === jobId)?.[0];
    if (tombstones.isGone(scope, memory, job.acceptedAt)) {
      assert.equal(row, undefined, `deleted ${memory} has a row`);
      assert.deepEqual(versions.of(scope, memory, true), [], `deleted ${memory} has versions`);
      const { temporary, lostAnswer } = this.#chaos;
      if (temporary + lostAnswer === 0) assert.equal(blob, undefined, `${memory} has a blob`);
    } else if (job.state === "done") {
      assert.ok(row !== undefined && row.version >= version, `version ${version} is not there`);
      const known = versions.of(scope, memory).find((one) => one.version === version);
      assert.ok(blob !== undefined && known !== undefined, `version ${version} has no blob`);
      assert.equal(row.version === version ? row.blobId : known.blobId, blob);
    }
  }

  #checkJob(id: string, job: EndedJob, entries: readonly IndexEntry[]): void {
    const rows = entries.filter((entry) => entry.id === id);
    const blobs = [...this.#world.blobs].filter(([, blob]) => blob.key === id);
    const states: JobState[] = ["done", "failed"];
    assert.ok(states.includes(job.state), `job ${id} is ${job.state}`);
    const scope = { owner: OWNER.owner, namespace: job.namespace };
    // A write whose answer was lost may be found by the next start, and be older than a forget.
    const deleted = this.#world.tombstones.isGone(scope, id, job.acceptedAt);
    if (deleted) {
      assert.equal(rows.length, 0, `deleted ${id} has a row`);
      // A store that is down cannot be asked for the blob of an attempt that was cut off.
      const { temporary, lostAnswer } = this.#chaos;
      if (temporary + lostAnswer === 0) assert.equal(blobs.length, 0, `deleted ${id} has a blob`);
    } else if (job.state === "done") {
      assert.equal(rows.length, 1, `done ${id} has ${rows.length} rows`);
      assert.equal(blobs.length, 1, `done ${id} has ${blobs.length} blobs`);
      if (rows[0]?.version === 1) assert.equal(rows[0].blobId, blobs[0]?.[0]);
      else {
        const [first] = this.#world.versions.of(scope, id).slice(-1);
        assert.equal(first?.blobId, blobs[0]?.[0], `the first version of ${id} is lost`);
      }
      assert.equal(job.payload, undefined);
    } else {
      assert.ok(job.errorCode !== undefined, `failed ${id} has no reason`);
      assert.ok(job.payload !== undefined, `failed ${id} cannot be retried`);
      if (job.recallable) assert.equal(rows.length, 1);
    }
  }

  /** Staged chunks belong to a failed job, or go with the next sweep. */
  async #checkChunks(): Promise<void> {
    const { table } = this.#world;
    this.#now += 4_000_000;
    const swept = this.#domain.staging.sweep();
    let over = false;
    swept.finally(() => over = true);
    while (!over) {
      await setImmediate();
      await this.#process.waiting.shift()?.run(true);
    }
    const named = new Set<string>();
    for (const { value } of table.rows.values()) {
      const job = value as EndedJob | null;
      for (const stored of [job?.payload, job?.step]) {
        if (stored !== undefined && "stage" in stored) named.add(stored.stage);
      }
    }
    // A commit and then the look at what became of it may both have lost their answer.
    if (this.#chaos.lostAnswer > 0) return;
    for (const key of table.keys("chunk")) {
      assert.ok(named.has(String(key[1])), "a chunk that nothing refers to");
    }
  }
}
