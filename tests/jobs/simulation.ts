import assert from "node:assert/strict";
import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { DEFAULT_CONFIG } from "../../src/interfaces/config.ts";
import type { IndexEntry } from "../../src/interfaces/mod.ts";
import { WordsFiles } from "../../src/storage/words_files.ts";
import { type ErrorCode, SvcError } from "../../src/errors.ts";
import { ScopeIndex } from "../../src/index/scope_index.ts";
import type { AcceptedJob, EndedJob, JobState } from "../../src/jobs/job.ts";
import { ALL_OWNERS } from "../../src/memory/owners/owners.ts";
import { Expiries } from "../../src/jobs/expiries.ts";
import { KvWriter, Staging } from "../../src/jobs/staging.ts";
import { Jobs } from "../../src/jobs/jobs.ts";
import { KvJobStore } from "../../src/jobs/kv_job_store.ts";
import { JobWorker } from "../../src/jobs/worker.ts";
import { silentLogger } from "../../src/log.ts";
import { type Domain, openDomain } from "../../src/memory/domain.ts";
import { processMemory } from "../../src/memory/process.ts";
import { accept } from "../../src/memory/remember.ts";
import { forget } from "../../src/memory/remove/forget.ts";
import { deleteMemory } from "../../src/memory/remove/remove.ts";
import { replayTombstones } from "../../src/memory/remove/replay.ts";
import { textPayload } from "../../src/memory/waiting/job_contents.ts";
import { PayloadKeys } from "../../src/memory/waiting/payload_keys.ts";
import { unlockJobs } from "../../src/memory/waiting/unlock.ts";
import { writtenStanding } from "../../src/memory/standing.ts";
import { replaceMemory } from "../../src/memory/versions/replace.ts";
import { memoryAccounts } from "../../plugins/memory/accounts.ts";
import { RelayerReceiptKey } from "../../src/sealing/receipt_key.ts";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { fakeKv } from "./fake_kv.ts";
import { NOTHING_SAID, type Said, SaidLinks } from "./simulated_links.ts";
import {
  CALLER,
  checkPresent,
  exportAll,
  getOne,
  importSome,
  listAll,
  type Reading,
  recallAll,
  restoreSome,
} from "./simulated_reads.ts";
import {
  backendsOf,
  isOf,
  type Model,
  NAMESPACES,
  OWNER,
  Process,
  randomFrom,
  World,
} from "./simulated_world.ts";
import { Clients } from "./told.ts";

/** How often a call is done before its answer arrives, of the calls. */
const LATE = 0.2;
const BEGIN = 1_700_000_000_000;
const ACCOUNTS = memoryAccounts(() => BEGIN);
const DATA_KEY = {
  keyId: "00".repeat(16),
  accountId: OWNER.accountId,
  owner: OWNER.owner,
  namespace: "",
  generation: 1,
  wrapped: Uint8Array.of(1),
  createdAt: BEGIN,
};
const KEY = new RelayerKey(new Uint8Array(32).fill(7));
const MAX_ATTEMPTS = 4;
const CHAOS_STEPS = 400;
const CALM_STEPS = 12_000;
/** How often a client does something, of the steps. */
const ACTS = 0.12;
const CALM: Chaos = { crash: 0, temporary: 0, permanent: 0, lostAnswer: 0 };
/** What a client may be refused with although nothing failed. */
const REFUSALS: readonly ErrorCode[] = [
  "memory_not_found",
  "version_conflict",
  "overloaded",
  "job_not_found",
  "job_not_retryable",
];
/** With what those are refused besides who say whose place a memory takes. */
const LINK_REFUSALS: readonly ErrorCode[] = [...REFUSALS, "invalid_parameter"];

/** How often what goes wrong, each of [0, 1]. */
export interface Chaos {
  readonly crash: number;
  readonly temporary: number;
  readonly permanent: number;
  /** The call is done, but its answer is lost. */
  readonly lostAnswer: number;
}

/** How often clients do what, and the process ends. */
const WEIGHTS = {
  remember: 30,
  replace: 12,
  delete: 6,
  forget: 2,
  retry: 4,
  recall: 16,
  list: 6,
  get: 4,
  export: 6,
  import: 6,
  restore: 5,
  restart: 2,
  lose: 2,
};

/** Whether nothing fails but by a crash. */
function isSound({ temporary, permanent, lostAnswer }: Chaos): boolean {
  return temporary + permanent + lostAnswer === 0;
}

/** One seeded history of accepting, reading, working, deleting, retrying and crashing. */
export class Simulation {
  readonly #random: () => number;
  readonly #chaos: Chaos;
  readonly #world: World;
  readonly #clients: Clients;
  /** Whether the index loses rows now and then. */
  readonly #loses: boolean;
  /** Bytes of RAM for the index: all of it fits, or next to nothing. */
  readonly #budgetBytes: number;
  #now = BEGIN;
  #model: Model = 0;
  #process = new Process();
  #domain: Domain;
  #booting = true;
  #acting = true;
  /** Calls of clients of the present process that are not answered. */
  #asked = 0;
  /** Namespaces that lose their rows when the process has ended. */
  readonly #losing: string[] = [];
  #made = 0;
  readonly #exports: Awaited<ReturnType<typeof exportAll>>[] = [];
  /** What is done first when a process has started. */
  #started = () => {};
  /** The first thing that must not be. */
  #fault: { readonly error: unknown } | undefined;
  /** What happened, in order. */
  readonly trace: string[] = [];

  constructor(seed: number, chaos: Chaos) {
    this.#random = randomFrom(seed);
    this.#chaos = chaos;
    const needsCredential = seed % 7 === 5;
    this.#world = new World({ erases: seed % 3 !== 0, needsCredential }, () => this.#now);
    // In half of the histories clients say what takes whose place, and until when.
    const said = Math.floor(seed / 4) % 2 === 1 ? new SaidLinks(this.#random) : undefined;
    this.#clients = new Clients(this.#world, said);
    this.#loses = seed % 4 === 0;
    this.#budgetBytes = seed % 5 === 0 ? 1_000 : 1e6;
    this.#domain = this.#boot();
  }

  /** Plays the history to its end and checks what is left. */
  async run(): Promise<void> {
    // Nothing may depend on how long this machine takes.
    Object.defineProperty(performance, "now", {
      configurable: true,
      value: () => this.#now - BEGIN,
    });
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      await this.#play();
    } finally {
      mock.timers.reset();
      Reflect.deleteProperty(performance, "now");
    }
  }

  async #play(): Promise<void> {
    for (let i = 0; i < CHAOS_STEPS; i++) await this.#step(this.#chaos);
    await this.#rest();
    // Deletions that failed half-way are finished by the next start.
    await this.#crash();
    await this.#rest();
    await this.#check(false);
    for (const namespace of NAMESPACES) await this.#calmly(() => this.#restore(namespace));
    await this.#check(true);
    for (const namespace of NAMESPACES) await this.#readAll(namespace);
  }

  /** Whatever can be read of a namespace has all that is there. */
  async #readAll(namespace: string): Promise<void> {
    const reading = this.#reading(CALM);
    await this.#calmly(() => {
      for (let i = 0; i < 3; i++) this.#ask(CALM, () => recallAll(reading, namespace));
      this.#ask(CALM, () => listAll(reading, namespace));
      this.#ask(CALM, () => exportAll(reading, namespace));
      for (const { id } of this.#clients.all) this.#ask(CALM, () => getOne(reading, id));
    });
    // Nothing else may change what counts meanwhile.
    if (this.#clients.said) {
      await this.#calmly(() => this.#ask(CALM, () => checkPresent(reading, namespace)));
    }
  }

  #restore(namespace: string): void {
    const all = { ...this.#reading(CALM), random: () => 0.9 };
    this.#ask(CALM, () => restoreSome(all, namespace));
  }

  async #calmly(act: () => void): Promise<void> {
    act();
    await this.#rest();
  }

  async #rest(): Promise<void> {
    this.#acting = false;
    for (let i = 0; i < CALM_STEPS && !this.#atRest(); i++) {
      const isLocked = this.#domain.jobs.locked.of(OWNER.owner).length > 0;
      if (isLocked && this.#asked === 0) this.#ask(CALM, () => Promise.resolve());
      await this.#step(CALM);
    }
    assert.ok(this.#atRest(), "something is left although nothing fails any more");
  }

  #atRest(): boolean {
    const { jobs, reembedding } = this.#domain;
    const isIdle = this.#asked === 0 && this.#process.waiting.length === 0;
    return !this.#booting && isIdle && jobs.size === 0 && !reembedding.active;
  }

  #boot(): Domain {
    const world = this.#world;
    const process = this.#process = new Process();
    const now = () => this.#now;
    const kv = fakeKv(world.table, process.gate);
    const backends = backendsOf(world, process, this.#model);
    const writer = new KvWriter(kv, { wakeUps: true, now });
    const staging = new Staging(kv, writer, now);
    const payloadKeys = new PayloadKeys({
      cipher: backends.cipher,
      sealerOf: (bytes) => new RelayerKey(bytes).sealer("payload"),
      now,
    });
    const isOpen = (job: AcceptedJob) => payloadKeys.isOpen(job);
    const jobs = new Jobs(new KvJobStore(kv, writer, staging), { maxPending: 100, isOpen, now });
    // The same in each run of a history.
    jobs.newId = () => `00000000-0000-4000-8000-${String(++this.#made).padStart(12, "0")}`;
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
    const index = new ScopeIndex({ vectorStore, dimensions: 2, budgetBytes: this.#budgetBytes });
    const domain = openDomain({
      ...backends,
      accounts: ACCOUNTS,
      config: DEFAULT_CONFIG,
      index,
      savedWords: new WordsFiles(undefined, () => new Uint8Array()),
      jobs,
      worker,
      expiries: new Expiries(kv, writer),
      staging,
      payloadKeys,
      tombstones: process.table(world.tombstones),
      tombstoneBlobs: process.table(world.tombstoneBlobs),
      versions: process.table(world.versions),
      copies: { note() {}, of: () => undefined, remove() {}, flush() {} },
      policies: {
        conflictsIn: () => undefined,
        deduplicatesIn: () => undefined,
        countOf: () => 0,
        setConflicts() {},
        setDeduplicates() {},
        reread() {},
      },
      owners: ALL_OWNERS,
      importedId: KEY.hmac("imported id"),
      sameText: KEY.hmac("same text"),
      receipts: new RelayerReceiptKey(KEY),
      scrubJobs: () => Promise.resolve(),
      keyUse: { touch() {}, lastUsed: () => undefined },
      activity: { note() {}, page: () => Promise.resolve({ entries: [] }) },
      keys: { get: () => DATA_KEY },
      sealer: (purpose) => KEY.sealer(purpose),
      logger: silentLogger,
      now,
    });
    this.#booting = true;
    const started = async () => {
      await jobs.recover(domain.embedder.model);
      await replayTombstones(domain);
      worker.start();
      await domain.reembedding.start();
      this.#booting = false;
      this.#started();
      this.#started = () => {};
    };
    started().catch((error) => {
      if (process !== this.#process) return;
      // A start that fails ends the process; whoever supervises it starts the next.
      this.#restart();
      if (!(error instanceof SvcError)) this.#fault ??= { error };
    });
    return domain;
  }

  #restart(): void {
    this.trace.push(`crash, then model ${this.#model}`);
    this.#process.kill();
    this.#clients.crashed();
    this.#asked = 0;
    this.#domain = this.#boot();
  }

  async #crash(): Promise<void> {
    this.#process.kill();
    for (const namespace of this.#losing.splice(0)) {
      this.trace.push(`${namespace} is lost`);
      await this.#world.lose(namespace);
      this.#clients.lost(namespace);
    }
    // Callers of every namespace would have to come before its memories have other vectors.
    const mayChange = !this.#world.needsCredential;
    if (mayChange && this.#random() < 0.3) this.#model = this.#model === 0 ? 1 : 0;
    this.#restart();
  }

  async #step(chaos: Chaos): Promise<void> {
    // Everything that can go on without one of the waiting calls has gone on after this.
    await setImmediate();
    if (this.#fault !== undefined) throw this.#fault.error;
    if (this.#random() < chaos.crash) {
      const [lost] = this.#process.waiting.splice(0);
      if (lost !== undefined && this.#random() < 0.5) {
        this.trace.push(`${lost.name}, unanswered`);
        await lost.run(false);
      }
      return await this.#crash();
    }
    if (this.#acting && !this.#booting && this.#random() < ACTS) return await this.#act(chaos);
    const { waiting } = this.#process;
    const [call] = waiting.splice(Math.floor(this.#random() * waiting.length), 1);
    if (call === undefined) {
      const passed = 100 + Math.floor(this.#random() * 600_000);
      this.#now += passed;
      this.trace.push("sweep");
      mock.timers.tick(passed);
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
      this.#clients.refused++;
      call.fail(new SvcError(code, undefined, { retryable: false }));
    } else if (this.#random() < LATE) {
      this.trace.push("  answered later");
      await call.run(true, true);
    } else await call.run(true);
  }

  /** A call of a client, who does not wait for the answer. */
  #ask(chaos: Chaos, call: () => Promise<unknown>, over = () => {}): void {
    const process = this.#process;
    const refusals = [
      ...this.#clients.said === undefined ? REFUSALS : LINK_REFUSALS,
      ...this.#world.needsCredential ? ["decrypt_credential_required" as const] : [],
    ];
    this.#asked++;
    const asked = this.#world.needsCredential ? this.#unlocked(chaos, call) : call();
    asked.then(() => {}, (error) => {
      if (process !== this.#process) return;
      const isRefusal = error instanceof SvcError && refusals.includes(error.code);
      const isFailure = error instanceof SvcError && !isSound(chaos);
      if (!isRefusal && !isFailure) this.#fault ??= { error };
    }).finally(() => {
      if (process !== this.#process) return;
      this.#asked--;
      over();
    });
  }

  /** A call behind what a request opens; not each caller may open what waits. */
  async #unlocked(chaos: Chaos, call: () => Promise<unknown>): Promise<void> {
    const all = { namespaces: new Set<string>(), ids: [] };
    if (chaos === CALM || this.#random() < 0.7) await unlockJobs(this.#domain, CALLER, all);
    await call();
  }

  #reading(chaos: Chaos): Reading {
    return {
      domain: this.#domain,
      clients: this.#clients,
      random: this.#random,
      trace: (line) => this.trace.push(line),
      isSound: isSound(chaos),
      mayRefuse: this.#chaos.permanent > 0 && chaos !== CALM,
    };
  }

  /** Something a client does. */
  async #act(chaos: Chaos): Promise<void> {
    const { ids } = this.#clients;
    const some = ids[Math.floor(this.#random() * ids.length)];
    const namespace = NAMESPACES[Math.floor(this.#random() * NAMESPACES.length)]!;
    const exported = this.#exports[Math.floor(this.#random() * this.#exports.length)] ?? [];
    const reading = this.#reading(chaos);
    if (some === undefined) return this.#ask(chaos, () => this.#remember());
    const acts: Record<keyof typeof WEIGHTS, () => void | Promise<void>> = {
      remember: () => this.#ask(chaos, () => this.#remember()),
      replace: () => this.#ask(chaos, () => this.#replace(some)),
      delete: () => this.#ask(chaos, () => this.#delete(some)),
      forget: () => this.#forget(chaos, namespace),
      retry: () => this.#ask(chaos, () => this.#retry(some)),
      recall: () => this.#ask(chaos, () => recallAll(reading, namespace)),
      list: () => this.#ask(chaos, () => listAll(reading, namespace)),
      get: () => this.#ask(chaos, () => getOne(reading, some)),
      export: () => this.#ask(chaos, () => this.#export(reading, namespace)),
      import: () => this.#ask(chaos, () => importSome(reading, exported)),
      restore: () => this.#ask(chaos, () => restoreSome(reading, namespace)),
      restart: () => this.#crash(),
      lose: () => this.#lose(chaos, namespace),
    };
    await acts[this.#choose()]();
  }

  #choose(): keyof typeof WEIGHTS {
    const sum = Object.values(WEIGHTS).reduce((one, other) => one + other);
    let left = this.#random() * sum;
    for (const [name, weight] of Object.entries(WEIGHTS)) {
      left -= weight;
      if (left < 0) return name as keyof typeof WEIGHTS;
    }
    return "remember";
  }

  /** The index of a namespace is lost, and restored beside whatever else is done. */
  async #lose(chaos: Chaos, namespace: string): Promise<void> {
    if (this.#loses) this.#losing.push(namespace);
    await this.#crash();
    if (!this.#loses) return;
    const isForgotten = this.#random() < 0.3;
    this.#started = () => {
      this.#ask(chaos, () => restoreSome(this.#reading(chaos), namespace));
      if (isForgotten) this.#forget(chaos, namespace);
    };
  }

  /** What is accepted, and then what to do when its answer arrived. */
  #accepting() {
    const answers: (() => void)[] = [];
    const answering = (jobs: readonly AcceptedJob[]) => {
      for (const job of jobs) {
        this.trace.push(`accepting ${job.id} version ${job.version} of ${job.memoryId}`);
        answers.push(this.#clients.accepting(job));
      }
      return { answer: undefined, mutations: [] };
    };
    return { answering, answered: () => answers.forEach((answered) => answered()) };
  }

  async #remember(): Promise<void> {
    const namespace = NAMESPACES[Math.floor(this.#random() * NAMESPACES.length)]!;
    this.trace.push(`remember in ${namespace}`);
    const { text, occurredAt } = this.#clients.newText(this.#random() < 0.3);
    const { answering, answered } = this.#accepting();
    const { key, validTo, supersedes } = this.#say(text);
    const standing = writtenStanding({
      valid_to: validTo ?? undefined,
      supersedes: supersedes ?? undefined,
    });
    const payload = textPayload({ text, key: key ?? undefined });
    const memory = { namespace, payload, occurredAt, standing };
    await accept(this.#domain, CALLER, "remember", [memory], answering);
    answered();
  }

  /** What a client says of a text's standing. */
  #say(text: string): Said {
    const { ids, said } = this.#clients;
    return said?.say(text, ids, this.#now) ?? NOTHING_SAID;
  }

  /** A client corrects a memory, and is told the version that it gets. */
  async #replace(memory: string): Promise<void> {
    this.trace.push(`replace ${memory}`);
    const text = this.#clients.newText(this.#random() < 0.3);
    const expectedVersion = this.#random() < 0.5 ? this.#clients.newestOf(memory) : undefined;
    const change = {
      ...text,
      ...this.#say(text.text),
      ...(expectedVersion === undefined ? {} : { expectedVersion }),
    };
    const { answering, answered } = this.#accepting();
    await replaceMemory(this.#domain, CALLER, memory, change, (job) => answering([job]));
    if (expectedVersion !== undefined) this.#clients.changed(memory, expectedVersion);
    answered();
  }

  async #delete(memory: string): Promise<void> {
    this.trace.push(`delete ${memory}`);
    const deleted = this.#clients.deleting(memory);
    const expectedVersion = this.#random() < 0.3 ? this.#clients.newestOf(memory) : undefined;
    await deleteMemory(this.#domain, CALLER, memory, expectedVersion);
    if (expectedVersion !== undefined) this.#clients.deletedAt(memory, expectedVersion);
    this.trace.push(`deleted ${memory}`);
    deleted();
  }

  #forget(chaos: Chaos, namespace: string): void {
    this.trace.push(`forget ${namespace}`);
    const { done, over } = this.#clients.forgetting(namespace);
    const call = async () => {
      await forget(this.#domain, CALLER, namespace);
      this.trace.push(`forgot ${namespace}`);
      done();
    };
    this.#ask(chaos, call, over);
  }

  async #retry(memory: string): Promise<void> {
    const { jobs, tombstones } = this.#domain;
    const { namespace, writings } = this.#clients.of(memory)!;
    const { job } = writings[Math.floor(this.#random() * writings.length)]!;
    if (tombstones.isDeleted({ owner: OWNER.owner, namespace }, memory)) return;
    this.trace.push(`retry ${job}`);
    await jobs.retry(job, OWNER.owner, () => ({ answer: undefined, mutations: [] }));
  }

  async #export(reading: Reading, namespace: string): Promise<void> {
    const one = this.#random() < 0.5 ? namespace : undefined;
    this.#exports.push(await exportAll(reading, one));
  }

  /** @param restored Whether what the index lost was restored. */
  async #check(restored: boolean): Promise<void> {
    const { table, tombstones } = this.#world;
    const entries = (await Promise.all(NAMESPACES.map((name) => this.#world.entries(name)))).flat();
    for (const { id, writings } of this.#clients.all) {
      for (const { job, version, answered } of writings) {
        const ended = table.rows.get(JSON.stringify(["job", job]))?.value as EndedJob | undefined;
        assert.ok(ended !== undefined || !answered, `version ${version} of ${id} was lost`);
        if (ended !== undefined) this.#checkJob(ended, entries, restored);
      }
    }
    for (const entry of entries) {
      assert.ok(this.#clients.of(entry.id) !== undefined, "a row of no job");
      const isGone = tombstones.isGone(entry, entry.id, entry.updatedAt);
      assert.ok(!isGone, `forgotten ${entry.id} has a row`);
      assert.ok(isOf(this.#model, entry), `${entry.id} has vectors of another model`);
      const { writings } = this.#clients.of(entry.id)!;
      const texts = writings.filter((one) => one.version === entry.version).map(({ text }) => text);
      this.#clients.said?.checkRow(entry, texts);
    }
    this.#clients.checkNumbers();
    assert.deepEqual(table.keys("live"), []);
    assert.deepEqual(table.keys("progress"), []);
    assert.deepEqual(table.keys("step"), []);
    await this.#checkChunks();
    assert.deepEqual(tombstones.unapplied(), []);
    for (const [key, bytes] of this.#world.puts) assert.equal(bytes.size, 1, `${key} sealed twice`);
  }

  /** No accepted version is lost or doubled, and none of a deleted memory is left. */
  #checkJob(job: EndedJob, entries: readonly IndexEntry[], restored: boolean): void {
    const { id, memoryId: memory, version, namespace } = job;
    const states: JobState[] = ["done", "failed"];
    assert.ok(states.includes(job.state), `job ${id} is ${job.state}`);
    const { versions, tombstones } = this.#world;
    const scope = { owner: OWNER.owner, namespace };
    const rows = entries.filter((entry) => entry.id === memory && entry.namespace === namespace);
    const [row] = rows;
    assert.ok(rows.length <= 1, `${memory} has ${rows.length} rows`);
    const { lost } = this.#clients.of(memory)!;
    const isLost = lost && !restored;
    if (tombstones.isGone(scope, memory, job.changedAt ?? job.acceptedAt)) {
      if (tombstones.isDeleted(scope, memory)) {
        assert.equal(row, undefined, `deleted ${memory} has a row`);
        assert.deepEqual(versions.of(scope, memory, true), [], `deleted ${memory} has versions`);
      }
      this.#checkErased(job);
    } else if (job.state === "done") {
      assert.equal(job.payload, undefined);
      if (isLost) return;
      assert.ok(row !== undefined && row.version >= version, `${memory} ${version} is not there`);
      const blobs = this.#blobsOf(memory, version);
      assert.ok(blobs.length > 0, `${memory} ${version} has no blob`);
      const known = versions.of(scope, memory).find((one) => one.version === version);
      const named = row.version === version ? row.blobId : known?.blobId;
      assert.ok(blobs.includes(named ?? "") || lost, `${memory} ${version} is in ${named}`);
    } else {
      assert.ok(job.errorCode !== undefined, `failed ${id} has no reason`);
      assert.ok(job.payload !== undefined, `failed ${id} cannot be retried`);
      if (job.recallable && !lost) assert.ok(row !== undefined && row.version >= version);
    }
  }

  /** Blobs that hold a version of a memory: an import may have written one again. */
  #blobsOf(memory: string, version: number): string[] {
    const jobs = new Set(
      this.#clients.of(memory)!.writings.filter((one) => one.version === version)
        .map(({ job }) => job),
    );
    return [...this.#world.blobs].filter(([, { key }]) => jobs.has(key)).map(([id]) => id);
  }

  #checkErased({ id, memoryId }: EndedJob): void {
    // A store that is down cannot be asked for the blob of an attempt that was cut off.
    const { temporary, lostAnswer } = this.#chaos;
    if (temporary + lostAnswer > 0 || !this.#world.erases || this.#loses) return;
    const left = [...this.#world.blobs.values()].some(({ key }) => key === id);
    assert.ok(!left, `deleted ${memoryId} has a blob`);
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

const CHAOS = {
  crashes: { crash: 0.04, temporary: 0, permanent: 0, lostAnswer: 0 },
  faults: { crash: 0, temporary: 0.1, permanent: 0.01, lostAnswer: 0 },
  "lost answers": { crash: 0, temporary: 0.02, permanent: 0, lostAnswer: 0.05 },
  both: { crash: 0.02, temporary: 0.05, permanent: 0.01, lostAnswer: 0.02 },
};

type Kind = keyof typeof CHAOS;

/** Kinds of histories. */
export const KINDS = Object.keys(CHAOS) as readonly Kind[];

/**
 * Plays so many histories of a kind.
 * @throws {Error} with the seed and all that happened, when something is there that must not be.
 */
export async function play(kind: Kind, first: number, seeds: number): Promise<void> {
  for (let seed = first; seed < first + seeds; seed++) {
    const simulation = new Simulation(seed, CHAOS[kind]);
    try {
      await simulation.run();
    } catch (cause) {
      throw new Error(`${kind}, seed ${seed}: ${simulation.trace.join(" · ")}`, { cause });
    }
  }
}
