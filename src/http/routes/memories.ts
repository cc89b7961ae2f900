import type { Answer, SignedHandlers } from "../route.ts";
import type { AcceptedJob } from "../../jobs/job.ts";
import type { Account, DelegateKey } from "../../interfaces/mod.ts";
import { SvcError } from "../../errors.ts";
import { type Caller, labelOf, mayRead, scopeOf } from "../../memory/caller.ts";
import type { Domain } from "../../memory/domain.ts";
import { conflictPolicy, deduplicates } from "../../memory/links/policy.ts";
import { getMemory, listMemories, type MemoryView } from "../../memory/list.ts";
import { timeText } from "../../memory/record.ts";
import { bytesFor } from "../../memory/remember.ts";
import { receiptFor } from "../../memory/remove/receipts.ts";
import { forget } from "../../memory/remove/forget.ts";
import { deleteMemory } from "../../memory/remove/remove.ts";
import { replaceMemory } from "../../memory/versions/replace.ts";
import { namespaces, stats } from "../../memory/usage.ts";
import type { AnswerOf } from "../../wire/route_types.ts";

/** A delegate key as answers show it. */
function keyBody(key: DelegateKey): AnswerOf<"GET /api/account">["key"] {
  return {
    public_key: key.publicKey,
    address: key.address,
    label: key.label,
    permissions: key.permissions,
    created_at: timeText(key.createdAt),
    expires_at: timeText(key.expiresAt),
    namespaces: key.namespaces,
  };
}

/** An account as the owner routes answer it. */
export function accountBody(account: Account): AnswerOf<"POST /accounts"> {
  return {
    account_id: account.accountId,
    owner: account.owner,
    active: account.active,
    keys: account.keys.map(keyBody),
  };
}

/** A memory as listed to a caller. */
export function memoryBody(
  domain: Pick<Domain, "copies">,
  caller: Caller,
  memory: MemoryView,
): AnswerOf<"GET /api/memories">["memories"][number] {
  return {
    memory_id: memory.memoryId,
    namespace: memory.namespace,
    text: memory.text,
    text_error: memory.textError,
    blob_id: memory.blobId ?? "",
    status: memory.state,
    recallable: memory.recallable,
    version: memory.version,
    importance: memory.importance,
    metadata: memory.metadata,
    occurred_at: timeText(memory.occurredAt),
    expires_at: timeText(memory.expiresAt),
    created_at: timeText(memory.createdAt),
    updated_at: timeText(memory.updatedAt),
    size_bytes: memory.bytes,
    source: memory.source,
    ...standingBody(domain, caller, memory),
  };
}

/** The answer to whatever writes a new version of a memory. */
export function acceptedVersionBody(
  { worker }: Pick<Domain, "worker">,
  job: AcceptedJob,
  redacted: AnswerOf<"PUT /api/memories/:id">["redacted"],
): AnswerOf<"PUT /api/memories/:id"> {
  return {
    job_id: job.id,
    memory_id: job.memoryId,
    version: job.version,
    status: worker.free ? "running" : "pending",
    namespace: job.namespace,
    redacted,
  };
}

/** What a caller is told of a memory besides its text: when it is true, how it stands, who wrote it. */
export function standingBody(
  { copies }: Pick<Domain, "copies">,
  caller: Caller,
  { memoryId, standing, key, session, position, writtenBy, relations, namespace }: Pick<
    MemoryView,
    | "memoryId"
    | "standing"
    | "key"
    | "session"
    | "position"
    | "writtenBy"
    | "relations"
    | "namespace"
  >,
) {
  const copied = copies.of(caller.account.owner, memoryId);
  return {
    valid_from: timeText(standing?.validFrom),
    valid_to: timeText(standing?.validTo),
    key,
    session,
    position,
    trust: standing?.trust,
    written_by: writtenBy,
    written_by_label: labelOf(caller, writtenBy, namespace),
    superseded_by: relations?.supersededBy,
    supersedes: relations?.supersedes,
    conflicts_with: relations?.conflictsWith,
    restates: relations?.restates,
    restated: relations?.restated,
    restated_at: timeText(relations?.restatedAt),
    restatements: relations?.restatements && [...relations.restatements],
    copies: copied?.count,
    copied_at: timeText(copied?.lastAt),
  };
}

/** Longest wait of a deletion until its bytes are overwritten, milliseconds. */
const ERASURE_MS = 3_000;

type ListedKey = AnswerOf<"GET /api/account/keys">["keys"][number];

/** Memories, namespaces, and the caller's account. */
export const memoryHandlers = {
  "GET /api/memories": async (
    domain,
    { caller, query },
  ): Promise<Answer<"GET /api/memories">> => {
    const { memories, total, history, nextCursor } = await listMemories(domain, caller, {
      ...query,
      cursor: query.cursor || undefined,
    });
    return {
      status: 200,
      body: {
        memories: memories.map((memory) => memoryBody(domain, caller, memory)),
        total,
        history_count: history || undefined,
        next_cursor: nextCursor,
      },
    };
  },
  "GET /api/memories/:id": async (domain, { caller, id, query }) => {
    const { memory, versions, links } = await getMemory(domain, caller, id, query.version);
    return {
      status: 200,
      body: {
        ...memoryBody(domain, caller, memory),
        links: links?.map(({ id: memory_id, kind, by, score }) => ({ memory_id, kind, by, score })),
        versions: versions.map(({ version, blobId, acceptedAt }) => ({
          version,
          blob_id: blobId ?? "",
          created_at: timeText(acceptedAt),
        })),
      },
    };
  },
  "PUT /api/memories/:id": async (domain, call): Promise<Answer<"PUT /api/memories/:id">> => {
    const { caller, id, body } = call;
    const change = {
      text: body.text,
      metadata: body.metadata,
      importance: body.importance,
      occurredAt: body.occurred_at,
      expiresAt: body.expires_at,
      validFrom: body.valid_from,
      validTo: body.valid_to,
      supersedes: body.supersedes,
      key: body.key,
      trust: body.trust,
      secrets: body.secrets,
      fromVersion: body.from_version,
      expectedVersion: body.expected_version,
    };
    const { answer } = await replaceMemory(
      domain,
      caller,
      id,
      change,
      (job, redacted) =>
        call.keep({ status: 202, body: acceptedVersionBody(domain, job, redacted) }),
    );
    return answer;
  },
  "DELETE /api/memories/:id": async (
    domain,
    { caller, id, query: { expected_version: expected } },
  ): Promise<Answer<"DELETE /api/memories/:id">> => {
    const reads = mayRead(caller);
    // The answer would tell which version there is.
    if (!reads && expected !== undefined) throw new SvcError("permission_denied");
    const deleted = await deleteMemory(domain, caller, id, expected).catch((error) => {
      if (reads || SvcError.from(error).code !== "memory_not_found") throw error;
      return undefined;
    });
    const body = { memory_id: id, deleted: true } as const;
    if (!reads || deleted === undefined) return { status: 200, body };
    await domain.erasure.hurry(ERASURE_MS);
    const { namespace, blob, restatements } = deleted;
    const issued = receiptFor(domain, caller, namespace, [id, ...restatements]);
    const also = restatements.length === 0 ? {} : { restatements };
    return { status: 200, body: { ...body, blob, ...also, ...issued } };
  },
  "GET /api/namespaces": async (
    domain,
    { caller, query },
  ): Promise<Answer<"GET /api/namespaces">> => {
    const page = await namespaces(domain, caller, query.limit, query.cursor);
    const last = page.namespaces.at(-1)?.namespace ?? "";
    const cursor = new TextEncoder().encode(last)
      .toBase64({ alphabet: "base64url", omitPadding: true });
    return {
      status: 200,
      body: {
        namespaces: page.namespaces.map((item) => ({
          namespace: item.namespace,
          memory_count: item.memoryCount,
          storage_bytes: item.storageBytes,
          last_write_at: timeText(item.lastWriteAt),
          conflicts: conflictPolicy(domain, scopeOf(caller, item.namespace)),
          deduplicate: deduplicates(domain, scopeOf(caller, item.namespace)),
        })),
        total: page.total,
        next_cursor: page.more ? cursor : undefined,
      },
    };
  },
  "POST /api/stats": async (domain, { caller, body: { namespace } }) => {
    const { memoryCount, storageBytes, pending } = await stats(domain, caller, namespace);
    return {
      status: 200,
      body: {
        memory_count: memoryCount,
        storage_bytes: storageBytes,
        pending,
        namespace,
        owner: caller.account.owner,
      },
    };
  },
  "POST /api/forget": async (
    domain,
    { caller, body: { namespace } },
  ): Promise<Answer<"POST /api/forget">> => {
    const ids = await forget(domain, caller, namespace);
    const body = { namespace, owner: caller.account.owner };
    if (!mayRead(caller)) return { status: 200, body };
    if (ids.length === 0) return { status: 200, body: { ...body, deleted: 0 } };
    await domain.erasure.hurry(ERASURE_MS);
    const issued = receiptFor(domain, caller, namespace, ids);
    return { status: 200, body: { ...body, deleted: ids.length, ...issued } };
  },
  "POST /api/receipts": (domain, { caller, body: { namespace, memory_ids } }) => {
    const ids = memory_ids.map((id) => id.toLowerCase());
    return { status: 200, body: receiptFor(domain, caller, namespace, ids) };
  },
  "GET /api/account": async (
    domain,
    { caller, key, token },
  ): Promise<Answer<"GET /api/account">> => {
    const { packageId = "", quotaBytes } = domain.config;
    const { account } = caller;
    return {
      status: 200,
      body: {
        owner: account.owner,
        account_id: account.accountId,
        package_id: packageId,
        active: account.active,
        key: keyBody(key),
        token: token && {
          expires_at: timeText(token.expiresAt),
          namespace: token.grant.namespace,
        },
        quota: {
          used_bytes: mayRead(caller) ? await bytesFor(domain, caller) : undefined,
          limit_bytes: quotaBytes || null,
        },
        // They say something of every namespace.
        unread_languages: mayRead(caller) && key.namespaces === undefined
          ? domain.unreadLanguages.of(account.owner)
          : undefined,
      },
    };
  },
  "GET /api/account/keys": ({ keyUse }, { caller, key: own }) => {
    // What other keys are for tells of namespaces that are not there for this one.
    const shown = own.namespaces === undefined ? caller.account.keys : [own];
    const keys = shown.map((key): ListedKey => ({
      ...keyBody(key),
      last_used_at: timeText(keyUse.lastUsed(key.publicKey)),
    }));
    return { status: 200, body: { keys } };
  },
  "GET /api/account/activity": async ({ activity }, { caller, key, query }) => {
    const asked = query.key?.toLowerCase() || undefined;
    const own = key.namespaces === undefined ? undefined : key.publicKey;
    const isOthers = own !== undefined && asked !== undefined && asked !== own;
    const { entries, nextCursor } = await activity.page(caller.account.accountId, {
      limit: query.limit,
      cursor: query.cursor || undefined,
      // A bound key is shown what it did itself; of other keys there is nothing.
      key: isOthers ? "none" : own ?? asked,
    });
    return {
      status: 200,
      body: {
        entries: entries.map(({ firstAt, lastAt, ...entry }) => ({
          ...entry,
          first_at: timeText(firstAt),
          last_at: timeText(lastAt),
        })),
        next_cursor: nextCursor,
      },
    };
  },
} satisfies Partial<SignedHandlers>;
