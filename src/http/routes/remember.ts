import { SvcError } from "../../errors.ts";
import { type AcceptedJob, JOB_ERRORS, type JobView } from "../../jobs/job.ts";
import { Deadline } from "../../deadline.ts";
import { type Caller, checkOpenTo, isOpenTo, mayRead, scopeOf } from "../../memory/caller.ts";
import type { Domain } from "../../memory/domain.ts";
import { textPayload } from "../../memory/waiting/job_contents.ts";
import { doubtAfter } from "../../memory/owners/owners.ts";
import { unlockJobs } from "../../memory/waiting/unlock.ts";
import { type Folded, foldedOf } from "../../memory/links/folded.ts";
import { twinOf, twinsOf } from "../../memory/links/twins.ts";
import { entriesFor } from "../../memory/open.ts";
import { timeText } from "../../memory/record.ts";
import { accept, type NewMemory } from "../../memory/remember.ts";
import type { Redacted } from "../../memory/secrets.ts";
import { writtenStanding } from "../../memory/standing.ts";
import { isUuid } from "../../wire/keys.ts";
import type { Received } from "../../wire/routes.ts";
import type { AnswerOf } from "../../wire/route_types.ts";
import type { Answer, Call, SignedHandlers } from "../route.ts";
import { checkDimensions } from "./recall.ts";

type SentMemory = Received<"POST /api/remember/bulk", "body">["items"][number];

function newMemory(
  item: SentMemory,
  { secrets, deduplicate }: Pick<
    Received<"POST /api/remember", "body">,
    "secrets" | "deduplicate"
  >,
): NewMemory {
  const { namespace, importance, occurred_at, expires_at } = item;
  return {
    namespace,
    payload: textPayload(item),
    importance,
    occurredAt: occurred_at,
    expiresAt: expires_at,
    standing: writtenStanding(item),
    secrets,
    deduplicate,
  };
}

function acceptedAnswer(
  domain: Domain,
  caller: Caller,
  namespace: string,
  id: string,
): Answer<"POST /api/remember"> {
  return {
    status: 202,
    body: {
      job_id: id,
      status: domain.worker.free ? "running" : "pending",
      memory_id: id,
      id,
      blob_id: "",
      owner: caller.account.owner,
      namespace,
      recallable: false,
    },
  };
}

function foldedBody(folded: Folded | undefined) {
  return folded && { memory_id: folded.memoryId, reason: folded.reason };
}

/** A job record as answered. */
function jobBody(job: JobView, folded?: Folded): AnswerOf<"GET /api/remember/:id"> {
  return {
    job_id: job.id,
    status: job.state,
    owner: job.owner,
    namespace: job.namespace,
    memory_id: job.memoryId,
    recallable: job.recallable,
    attempts: job.attempts,
    created_at: timeText(job.acceptedAt),
    updated_at: timeText(job.updatedAt),
    blob_id: job.blobId,
    folded: foldedBody(folded),
    waits_for: waitsFor(job),
    error: errorText(job),
    error_code: job.errorCode,
  };
}

/** What would be known of the job of a memory that is stored, and was named instead of a second one. */
async function storedView(
  domain: Domain,
  caller: Caller,
  id: string,
): Promise<JobView | undefined> {
  const { owner, accountId } = caller.account;
  const [entry] = await entriesFor(domain, caller, [id]);
  if (entry === undefined || domain.tombstones.isDeleted(entry, id)) return undefined;
  const { namespace, version, source, createdAt, updatedAt, importance, bytes, blobId } = entry;
  const spec = { owner, namespace, version, source, createdAt, importance, bytes, accountId };
  return {
    ...spec,
    id,
    memoryId: id,
    acceptedAt: updatedAt,
    updatedAt,
    blobId,
    state: "done",
    recallable: true,
    attempts: 1,
    errorCode: undefined,
  };
}

/** A job that is there for the caller: without `read` only those of its own key. */
async function jobOf(domain: Domain, caller: Caller, id: string): Promise<JobView | undefined> {
  const found = await domain.jobs.get(id, caller.account.owner);
  const job = found !== undefined && isOpenTo(caller, found.namespace) ? found : undefined;
  if (job === undefined && mayRead(caller)) return await storedView(domain, caller, id);
  if (job === undefined || mayRead(caller)) return job;
  // Only who sent it was told the id of one of an earlier version, which noted no key.
  return job.publicKey === undefined || job.publicKey === caller.key?.publicKey ? job : undefined;
}

function waitsFor({ isLocked }: JobView): "credential" | undefined {
  return isLocked ? "credential" : undefined;
}

function errorText({ errorCode }: JobView): string | undefined {
  return errorCode && JOB_ERRORS[errorCode];
}

type ManualCall = Call<"POST /api/remember/manual">;

/** The bytes a manual remember registers, and the blob that has them already. */
async function manualData(
  { blobStore }: Domain,
  { body, caller }: ManualCall,
): Promise<{ readonly data: Uint8Array; readonly blobId?: string }> {
  if (body.encrypted_data !== undefined) return { data: body.encrypted_data };
  const blobId = body.blob_id ?? "";
  // A client that stored it by itself has marked it as nobody's.
  const own = mayRead(caller)
    ? await blobStore.get(blobId, scopeOf(caller, body.namespace))
    : undefined;
  const data = own ?? await blobStore.getForeign?.(blobId);
  if (data === undefined) throw new SvcError("blob_not_found");
  return { data, blobId };
}

async function manual(
  domain: Domain,
  call: ManualCall,
): Promise<Answer<"POST /api/remember/manual">> {
  const { body, caller } = call;
  const { namespace } = body;
  checkOpenTo(caller, namespace);
  checkDimensions(domain, body.vector);
  const memory: NewMemory = {
    namespace,
    payload: {
      kind: "manual",
      vector: unit(body.vector),
      model: domain.embedder.model,
      ...await manualData(domain, call),
      ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
    },
    importance: body.importance,
    occurredAt: body.occurred_at,
    expiresAt: body.expires_at,
  };
  const { answer, jobs: [live] } = await accept(
    domain,
    caller,
    "manual",
    [memory],
    ([job]) => call.keep(acceptedAnswer(domain, caller, namespace, job?.id ?? "")),
  );
  if (live === undefined) throw new SvcError("internal_error");
  const { config, worker } = domain;
  using deadline = new Deadline(config.manualWaitMs, worker.stopped);
  // A job that is not done in time, or put down by a stop, is done later all the same.
  await deadline.wait(live.ended).catch(() => {});
  if (live.blobId === undefined) return answer;
  const id = live.job.id;
  const { owner } = caller.account;
  return {
    status: 200,
    body: { id, blob_id: live.blobId, owner, namespace, memory_id: id, job_id: id },
  };
}

/** Scaled to unit length, as every vector of the index is. */
function unit(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const scale = 1 / Math.sqrt(sum);
  return vector.map((value) => value * scale);
}

async function bulk(
  domain: Domain,
  call: Call<"POST /api/remember/bulk">,
): Promise<Answer<"POST /api/remember/bulk">> {
  const { caller, body: { items } } = call;
  const memories = items.map((item, place) => ({ ...newMemory(item, call.body), place }));
  const twins = await twinsOf(domain, caller, memories);
  const answering = (jobs: readonly AcceptedJob[], redacted?: readonly Redacted[]) => {
    const stored = jobs.values();
    const ids: string[] = [];
    for (const twin of twins) {
      if (twin === undefined) ids.push(stored.next().value!.id);
      else ids.push("id" in twin ? twin.id : ids[twin.place]!);
    }
    const deduplicated = twins.flatMap((twin, place) => twin === undefined ? [] : [place]);
    const also = deduplicated.length === 0 ? {} : { deduplicated };
    const body = { job_ids: ids, total: ids.length, status: "running" as const, ...also, redacted };
    return { status: 202 as const, body };
  };
  const rest = memories.filter((_, place) => twins[place] === undefined);
  if (rest.length === 0) {
    const answer = answering([]);
    noteCopies(domain, caller, answer.body);
    return answer;
  }
  domain.unreadLanguages.note(caller.account.owner, items.map(({ text }) => text));
  const { answer } = await accept(
    domain,
    caller,
    "bulk",
    rest,
    (jobs, redacted) => call.keep(answering(jobs, redacted)),
  );
  noteCopies(domain, caller, answer.body);
  return answer;
}

/** Counts what was not stored because it is there. */
function noteCopies(
  { copies, now }: Domain,
  { account: { owner } }: Caller,
  { job_ids: ids, deduplicated = [] }: AnswerOf<"POST /api/remember/bulk">,
): void {
  for (const place of deduplicated) copies.note(owner, ids[place]!, now());
}

/**
 * The language of a text that the embedder does not read, said once. A key that may not read
 * everything is told by itself: that it was said before would tell what others wrote.
 */
function tellLanguage(
  { unreadLanguages }: Domain,
  caller: Caller,
  text: string,
): string | undefined {
  const { account: { owner }, key } = caller;
  const isWhole = mayRead(caller) && key?.namespaces === undefined;
  return unreadLanguages.tell(owner, text, isWhole ? owner : key?.publicKey);
}

/** Remember, bulk, manual, and the jobs they start. */
export const rememberHandlers = {
  "POST /api/remember": async (domain, call): Promise<Answer<"POST /api/remember">> => {
    const { caller } = call;
    const memory = newMemory(call.body, call.body);
    const twin = await twinOf(domain, caller, memory);
    if (twin !== undefined) {
      domain.copies.note(caller.account.owner, twin.id, domain.now());
      const { status, body } = acceptedAnswer(domain, caller, memory.namespace, twin.id);
      return { status, body: { ...body, recallable: true, deduplicated: true } };
    }
    const { answer } = await accept(
      domain,
      caller,
      "remember",
      [memory],
      ([job], redacted) => {
        const { status, body } = acceptedAnswer(domain, caller, memory.namespace, job?.id ?? "");
        const unread = tellLanguage(domain, caller, call.body.text);
        return call.keep({ status, body: { ...body, redacted, unread_language: unread } });
      },
    );
    return answer;
  },
  "POST /api/remember/bulk": bulk,
  "POST /api/remember/bulk/status": async (domain, call) => {
    const { job_ids: ids } = call.body;
    const jobs = await Promise.all(ids.map(async (id) =>
      // Anything else is no job's id, and may be too long for a key of the job table.
      isUuid(id) ? await jobOf(domain, call.caller, id.toLowerCase()) : undefined
    ));
    const known = jobs.filter((job) => job !== undefined);
    const folded = await foldedOf(domain, call.caller, known);
    const results = ids.map((id, i) => {
      const job = jobs[i];
      if (job === undefined) return { job_id: id, status: "not_found" as const };
      return {
        job_id: id,
        status: job.state,
        recallable: job.recallable,
        memory_id: job.memoryId,
        attempts: job.attempts,
        blob_id: job.blobId,
        folded: foldedBody(folded.get(job.id)),
        waits_for: waitsFor(job),
        error: errorText(job),
        error_code: job.errorCode,
      };
    });
    return { status: 200, body: { results } };
  },
  "POST /api/remember/manual": manual,
  "GET /api/remember/:id": async (domain, call) => {
    const job = await jobOf(domain, call.caller, call.id);
    if (job === undefined) throw new SvcError("job_not_found");
    const folded = await foldedOf(domain, call.caller, [job]);
    return { status: 200, body: jobBody(job, folded.get(job.id)) };
  },
  "POST /api/remember/:id/retry": async (domain, call) => {
    const { owner } = call.caller.account;
    const job = await jobOf(domain, call.caller, call.id);
    if (job === undefined) throw new SvcError("job_not_found");
    if (domain.tombstones.isGone(job, job.memoryId, job.acceptedAt)) {
      throw new SvcError("job_not_retryable");
    }
    const retrying = domain.jobs.retry(
      call.id,
      owner,
      (pending) => call.keep({ status: 202, body: jobBody(pending) }),
    );
    const { answer, live } = await retrying.catch((error) => {
      doubtAfter(domain.owners, owner, error);
      throw error;
    });
    domain.worker.notify([live]);
    await unlockJobs(domain, call.caller, { namespaces: new Set(), ids: [call.id] });
    return answer;
  },
} satisfies Partial<SignedHandlers>;
