import { within } from "../deadline.ts";
import type { BackendHealth, Sponsor } from "../interfaces/mod.ts";
import type { JobTables } from "../jobs/tables.ts";
import type { Domain } from "../memory/domain.ts";

/** State of one dependency. */
export interface DependencyHealth {
  /** Whether it works; `disabled` = not configured. */
  readonly status: "ok" | "degraded" | "down" | "disabled";
  /** More about it, never addresses. */
  readonly [detail: string]: unknown;
}

/** How long the result of a probe is reused, in milliseconds. */
const FRESH_MS = 1_000;
const PROBE_TIMEOUT_MS = 400;
const ASK_TIMEOUT_MS = 10_000;

/** Asks whether the sidecar answers. */
type SidecarProbe = (signal: AbortSignal) => Promise<boolean>;

/** Finds out whether the relayer's dependencies work. */
export class Health {
  readonly #domain: Domain;
  readonly #answers: JobTables["answers"];
  readonly #sidecar: SidecarProbe | undefined;
  #asking: Promise<unknown> | undefined;
  #probed: { at: number; result: Promise<Record<string, DependencyHealth>> } | undefined;

  constructor(
    domain: Domain,
    answers: JobTables["answers"],
    sidecar: SidecarProbe | undefined,
  ) {
    this.#domain = domain;
    this.#answers = answers;
    this.#sidecar = sidecar;
  }

  /** States by name, as in docs/protocol.md#9. */
  async dependencies(): Promise<Record<string, DependencyHealth>> {
    const now = this.#domain.now();
    if (this.#probed === undefined || now - this.#probed.at > FRESH_MS) {
      this.#probed = { at: now, result: this.#probe() };
    }
    const states = await this.#probed.result;
    return { ...states, queue: this.#queue(states.queue!) };
  }

  #queue(table: DependencyHealth): DependencyHealth {
    const { jobs, now, config } = this.#domain;
    const oldest = jobs.oldest;
    const full = jobs.openCount >= config.maxPendingJobs;
    const details = {
      pending: jobs.size,
      oldest_seconds: oldest === undefined ? 0 : Math.max(0, Math.round((now() - oldest) / 1000)),
    };
    return { status: full ? "down" : table.status, ...details };
  }

  async #tableState(): Promise<DependencyHealth> {
    return { status: await this.#answers(PROBE_TIMEOUT_MS) ? "ok" : "down" };
  }

  async #probe(): Promise<Record<string, DependencyHealth>> {
    const { vectorStore, blobStore, cipher, languageModel, sponsor } = this.#domain;
    const owner = `0x${"0".repeat(64)}`;
    const scope = { owner, namespace: "default" };
    const [queue, database, embedder, blobs, chain] = await Promise.all([
      this.#tableState(),
      up(vectorStore.scopes(owner)),
      this.#embedderState(),
      blobStore.health?.() ?? up(blobStore.get("health", scope)),
      this.#chainState(owner),
    ]);
    const sidecar = await this.#sidecarState();
    return {
      queue,
      database,
      embedder,
      llm: languageModel === undefined
        ? { status: "disabled" }
        : { status: "ok", ...languageModel.health?.() },
      key_service: cipher.needsCredential
        ? { status: "ok", ...cipher.health?.() }
        : { status: "disabled" },
      blob_store: { ...blobs },
      chain,
      sidecar,
      sponsor: sponsorState(sponsor, sidecar),
    };
  }

  /**
   * A server that worked last is not asked again, because each call may cost money; one that did
   * not is, as soon as it may be.
   */
  async #embedderState(): Promise<DependencyHealth> {
    const { embedder, queries, reembedding } = this.#domain;
    let health: BackendHealth | undefined = embedder.health?.();
    if (health === undefined) {
      health = { status: await answers(queries.get("health")) ? "ok" : "down" };
    } else if (health.status !== "ok") {
      await answers(this.#askEmbedder());
      health = embedder.health?.() ?? health;
    }
    const { progress } = reembedding;
    if (progress === undefined || health.status === "down") return { ...health };
    return {
      ...health,
      ...(reembedding.active ? { status: "degraded" } : {}),
      reembedding: { ...progress },
    };
  }

  /** Asks the chain only after a failure, so that its state recovers. */
  async #chainState(owner: string): Promise<DependencyHealth> {
    const { accounts } = this.#domain;
    if (accounts.admin !== undefined) return { status: "disabled" };
    const known = accounts.health?.();
    if (known?.status === "ok") return { ...known };
    const ok = await answers(accounts.get(owner));
    return { ...accounts.health?.() ?? { status: ok ? "ok" : "down" } };
  }

  /** Asks the embedder, once at a time: a server that loads its model outlasts a probe. */
  #askEmbedder(): Promise<unknown> {
    const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
    this.#asking ??= this.#domain.embedder.embed(["health"], { purpose: "query", signal })
      .finally(() => this.#asking = undefined);
    return this.#asking;
  }

  async #sidecarState(): Promise<DependencyHealth> {
    if (this.#sidecar === undefined) return { status: "disabled" };
    const probe = this.#sidecar(AbortSignal.timeout(PROBE_TIMEOUT_MS));
    return { status: await probe.catch(() => false) ? "ok" : "down" };
  }
}

/** A dependency that is asked whether it works. */
async function up(call: Promise<unknown>): Promise<DependencyHealth> {
  return { status: await answers(call) ? "ok" : "down" };
}

function sponsorState(sponsor: Sponsor | undefined, sidecar: DependencyHealth): DependencyHealth {
  if (sponsor === undefined) return { status: "disabled" };
  if (sponsor.needsSidecar && sidecar.status !== "ok") return { status: "down" };
  return { status: "ok", ...sponsor.health?.() };
}

/** Whether a call succeeds in time. */
async function answers(call: Promise<unknown>): Promise<boolean> {
  const done = call.then(() => true, () => false);
  return await within(PROBE_TIMEOUT_MS, done) ?? false;
}
