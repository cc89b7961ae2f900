import type { BackendHealth } from "../interfaces/mod.ts";
import type { Domain } from "../memory/domain.ts";
import { reembeddingOf } from "../memory/reembedding.ts";

/** State of one dependency. */
export interface DependencyHealth {
  /** Whether it works; `disabled` = not configured. */
  readonly status: "ok" | "degraded" | "down" | "disabled";
  /** More about it, never addresses. */
  readonly [detail: string]: unknown;
}

/** Probes are answered from memory for this long. */
const FRESH_MS = 1_000;
const PROBE_TIMEOUT_MS = 400;
const ASK_TIMEOUT_MS = 10_000;

/** Asks whether a sidecar of ours answers; see `src/sidecar`. */
export type SidecarProbe = (signal: AbortSignal) => Promise<boolean>;

/** Looks after what the relayer depends on. */
export class Health {
  readonly #domain: Domain;
  readonly #kv: Deno.Kv;
  readonly #sidecar: SidecarProbe | undefined;
  #asking: Promise<unknown> | undefined;
  #probed: { at: number; result: Promise<Record<string, DependencyHealth>> } | undefined;

  /** Probes nothing by itself. */
  constructor(domain: Domain, kv: Deno.Kv, sidecar: SidecarProbe | undefined) {
    this.#domain = domain;
    this.#kv = kv;
    this.#sidecar = sidecar;
  }

  /** States by name, as in PROTOCOL section 9. */
  async dependencies(): Promise<Record<string, DependencyHealth>> {
    const now = this.#domain.now();
    if (this.#probed === undefined || now - this.#probed.at > FRESH_MS) {
      this.#probed = { at: now, result: this.#probe() };
    }
    return { ...await this.#probed.result, queue: await this.#queue() };
  }

  async #queue(): Promise<DependencyHealth> {
    const { jobs, now, config } = this.#domain;
    const oldest = jobs.oldest;
    const full = jobs.size >= config.maxPendingJobs;
    const details = {
      pending: jobs.size,
      oldest_seconds: oldest === undefined ? 0 : Math.max(0, Math.round((now() - oldest) / 1000)),
    };
    if (full) return { status: "down", ...details };
    return { status: await answers(this.#kv.get(["health"])) ? "ok" : "down", ...details };
  }

  async #probe(): Promise<Record<string, DependencyHealth>> {
    const { vectorStore, blobStore, cipher, languageModel, sponsor } = this.#domain;
    const owner = `0x${"0".repeat(64)}`;
    const scope = { owner, namespace: "default" };
    const [database, embedder, blobs, chain] = await Promise.all([
      up(vectorStore.scopes(owner)),
      this.#embedderState(),
      blobStore.health?.() ?? up(blobStore.get("health", scope)),
      this.#chainState(owner),
    ]);
    return {
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
      sidecar: await this.#sidecarState(),
      sponsor: { status: sponsor === undefined ? "disabled" : "ok" },
    };
  }

  /**
   * A server that worked last is not asked again, because each call may cost money; one that did
   * not is, as soon as it may be.
   */
  async #embedderState(): Promise<DependencyHealth> {
    const { embedder, queries } = this.#domain;
    let health: BackendHealth | undefined = embedder.health?.();
    if (health === undefined) {
      health = { status: await answers(queries.get("health")) ? "ok" : "down" };
    } else if (health.status !== "ok") {
      await answers(this.#askEmbedder());
      health = embedder.health?.() ?? health;
    }
    const reembedding = reembeddingOf(this.#domain);
    const progress = reembedding?.progress;
    if (progress === undefined || health.status === "down") return { ...health };
    return {
      ...health,
      ...(reembedding?.active ? { status: "degraded" } : {}),
      reembedding: { ...progress },
    };
  }

  /** A chain that worked last is not asked again; one that did not is, so that it recovers. */
  async #chainState(owner: string): Promise<DependencyHealth> {
    const { accounts } = this.#domain;
    if (accounts.admin !== undefined) return { status: "disabled" };
    const known = accounts.health?.();
    if (known?.status === "ok") return { ...known };
    const asked = await up(accounts.get(owner));
    return { ...accounts.health?.() ?? asked };
  }

  /** One question at a time: a server that loads its model needs longer than a probe waits. */
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

/** Whether a call succeeds in time. */
async function answers(call: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), PROBE_TIMEOUT_MS);
  const done = call.then(() => true, () => false);
  const ok = await Promise.race([done, late.promise]);
  clearTimeout(timer);
  return ok;
}
