import type { Uses } from "./parts.ts";
import type { JobErrorCode } from "../errors.ts";
import type { IndexEntry, MemoryLink, Scope, Sealed } from "../interfaces/mod.ts";
import type { AcceptedJob, LiveJob } from "../jobs/job.ts";
import { INLINE_BYTES } from "../jobs/staging.ts";
import { StepError } from "../jobs/retries.ts";
import type { Attempt } from "../jobs/worker.ts";
import type { Payload, Step, TextPayload } from "./waiting/job_contents.ts";
import { encodeRecord, timeText } from "./record.ts";
import { type Removing, undoJob } from "./remove/remove.ts";
import { traced } from "../tracing.ts";
import { proposeLinks, type ProposingLinks } from "./links/proposals.ts";
import { type Digesting, standingOf } from "./standing.ts";
import { storeBlob } from "./store_blob.ts";
import { noteBlob, noteReplaced, type Versioning } from "./versions/history.ts";
import { documentVectors } from "./vectors.ts";

/** What a memory's job takes; it also removes a memory that was deleted meanwhile. */
type Storing = Uses<{
  embedder: true;
  cipher: "seal" | "needsCredential";
  contents: true;
  vectorStore: "upsert" | "link";
  index: "apply" | "applyLinks";
  jobs: "payload";
  sameText: true;
  expiries: "note";
  config: "failpoint";
}, Removing & Versioning & ProposingLinks>;

/** A step of a job, which is a span where spans are recorded, and fails with a code of its own. */
async function step<T>(name: string, code: JobErrorCode, work: () => Promise<T>): Promise<T> {
  try {
    return await traced(`job ${name}`, {}, work);
  } catch (cause) {
    throw new StepError(code, cause);
  }
}

/** When a version was written first: what came with an export is as old as it says. */
function changedAt({ changedAt: given, acceptedAt }: AcceptedJob): number {
  return given ?? acceptedAt;
}

/** What a record says beside its text: what it is about, and where it was said. */
function saidOf({ key, session, position }: TextPayload) {
  return {
    ...(key === undefined ? {} : { key }),
    ...(session === undefined ? {} : { session }),
    ...(position === undefined ? {} : { position }),
  };
}

/** Seals the record of a memory; that of a manual one has no text. */
async function sealRecord(
  { cipher }: Pick<Storing, "cipher">,
  job: AcceptedJob,
  payload: Payload,
  links: readonly MemoryLink[],
): Promise<Sealed> {
  const { validFrom, validTo, trust } = job.standing ?? {};
  const record = encodeRecord({
    v: 1,
    id: job.memoryId,
    version: job.version,
    text: payload.kind === "text" ? payload.text : "",
    ...(payload.metadata === undefined ? {} : { metadata: payload.metadata }),
    created_at: timeText(job.createdAt),
    updated_at: timeText(changedAt(job)),
    ...(job.occurredAt === undefined ? {} : { occurred_at: timeText(job.occurredAt) }),
    ...(job.expiresAt === undefined ? {} : { expires_at: timeText(job.expiresAt) }),
    ...(validFrom === undefined ? {} : { valid_from: timeText(validFrom) }),
    ...(validTo === undefined ? {} : { valid_to: timeText(validTo) }),
    ...(payload.kind === "manual" ? {} : saidOf(payload)),
    ...(links.length === 0 ? {} : { links }),
    importance: job.importance,
    source: job.source,
    ...(trust === undefined ? {} : { trust }),
    ...(job.publicKey === undefined ? {} : { written_by: job.publicKey }),
  });
  return await cipher.seal(record, job);
}

/** Window vectors of the present model; none for a vector a client made with another one. */
async function vectorsOf(
  { embedder }: Pick<Storing, "embedder">,
  payload: Payload,
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  if (payload.kind === "manual") {
    const { vector, model = embedder.model } = payload;
    const fits = model === embedder.model && vector.length === embedder.dimensions;
    return fits ? [vector] : [];
  }
  return await step("embed", "embedding_failed", async () => {
    const [vectors] = await documentVectors(embedder, [payload.text], signal);
    return vectors!;
  });
}

/**
 * Embeds and seals once: the result is saved before its first effect. After a change of the
 * embedding model the vectors are made again; the sealed record stays the same.
 */
async function makeStep(
  domain: Storing,
  { live, signal }: Attempt,
  payload: Payload,
): Promise<Step> {
  const { job } = live;
  const { model } = domain.embedder;
  const saved = live.step && await domain.contents.step(live.job.id);
  if (saved?.model === model) return saved;
  const vectors = await vectorsOf(domain, payload, signal);
  domain.config.failpoint("embed");
  const links = saved?.links ?? [
    ...job.standing?.links ?? [],
    ...payload.kind === "text" ? payload.links ?? [] : [],
    ...await proposeLinks(domain, job, payload, vectors),
  ];
  const sealed = saved?.sealed ??
    await step("seal", "encryption_failed", () => sealRecord(domain, job, payload, links));
  const made = { vectors, model, sealed, links };
  await step("save", "storage_failed", () => domain.contents.saveStep(live, made));
  domain.config.failpoint("seal");
  return made;
}

function entryOf(
  domain: Digesting,
  { job, blobId }: LiveJob,
  payload: Payload,
  step: Step,
): IndexEntry {
  const { vectors, sealed, links } = step;
  const { validFrom, validTo, trust } = job.standing ?? {};
  const said = payload.kind === "text" ? payload : { text: "" };
  return {
    owner: job.owner,
    namespace: job.namespace,
    id: job.memoryId,
    version: job.version,
    vectors,
    payload: sealed.record.length <= INLINE_BYTES ? sealed.record : new Uint8Array(),
    keyId: sealed.keyId,
    createdAt: job.createdAt,
    updatedAt: changedAt(job),
    importance: job.importance,
    source: job.source,
    bytes: payload.kind === "manual" ? payload.data.length : sealed.record.length,
    ...(blobId === undefined ? {} : { blobId }),
    ...(job.occurredAt === undefined ? {} : { occurredAt: job.occurredAt }),
    ...(job.expiresAt === undefined ? {} : { expiresAt: job.expiresAt }),
    standing: standingOf(domain, job, { ...said, links }, {
      ...(validFrom === undefined ? {} : { validFrom }),
      ...(validTo === undefined ? {} : { validTo }),
      ...(trust === undefined ? {} : { trust }),
    }),
  };
}

/**
 * The job of one memory: embed, seal, index (recallable), store the blob, link it. Every effect is
 * idempotent under the job's id, so a crash between any two is repaired by running it again.
 *
 * @throws {StepError} naming the step that failed.
 */
export async function processMemory(domain: Storing, attempt: Attempt): Promise<void> {
  const { live, signal, release } = attempt;
  const { job } = live;
  const scope: Scope = { owner: job.owner, namespace: job.namespace };
  const isDeleted = () => domain.tombstones.isGone(scope, job.memoryId, changedAt(job));
  if (isDeleted()) return await undoJob(domain, live);

  const sealed = await step("load", "storage_failed", () => domain.jobs.payload(live));
  const payload = await domain.contents.payload(live, sealed);
  const made = await makeStep(domain, attempt, payload);
  const entry = entryOf(domain, live, payload, made);

  // Before the row, so that a crash between them leaves no memory that never expires.
  await step("note expiry", "storage_failed", () => domain.expiries.note([entry]));
  await step("index", "storage_failed", async () => {
    await noteReplaced(domain, scope, [entry], job.id);
    domain.config.failpoint("history");
    // A data key, or what was replaced, must outlast what stands on it.
    await domain.owners.settled(job.owner);
    live.mayBeIndexed = true;
    await domain.vectorStore.upsert([entry], { signal });
    // Whoever has the owner now does the rest, and knows what was deleted.
    await domain.owners.settled(job.owner);
  });
  // A deletion writes its tombstone first and then removes the row: a later one sees this row.
  if (isDeleted()) return await undoJob(domain, live);
  // Where opening needs a credential, words are indexed only for callers that show one.
  const isOpen = payload.kind === "text" && !domain.cipher.needsCredential;
  domain.index.apply([entry], isOpen ? new Map([[entry.id, payload.text]]) : undefined);
  domain.config.failpoint("index");
  live.markRecallable(made.model);
  release();

  live.mayBeStored = true;
  try {
    live.blobId = await step(
      "store",
      "storage_failed",
      () => storeBlob(domain, job, payload, made, signal),
    );
  } catch (error) {
    // A deletion withdraws uploads that wait in the store.
    if (isDeleted()) return await undoJob(domain, live);
    throw error;
  }
  domain.config.failpoint("blob");
  if (isDeleted()) return await undoJob(domain, live);
  live.state = "uploaded";
  const link = { id: job.memoryId, version: job.version, blobId: live.blobId };
  await step("link", "storage_failed", async () => {
    await domain.vectorStore.link(scope, [link], { signal });
    await noteBlob(domain, scope, { ...entry, blobId: live.blobId }, job.id);
    await domain.owners.settled(job.owner);
  });
  domain.index.applyLinks(scope, [link]);
  await step("end", "storage_failed", () => domain.jobs.end(live, { state: "done" }));
  if (isDeleted()) await undoJob(domain, live);
  domain.config.failpoint("done");
}
