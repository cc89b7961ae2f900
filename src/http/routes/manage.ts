import { SvcError } from "../../errors.ts";
import { timeText } from "../../memory/record.ts";
import { getMemory, listMemories } from "../../memory/list.ts";
import { deleteMemory, forget } from "../../memory/remove/remove.ts";
import { usedBytes } from "../../memory/quota.ts";
import { namespaces, stats } from "../../memory/usage.ts";
import { MEMORY_PAGE_DEFAULT, MEMORY_PAGE_MAX, NAMESPACE_PAGE_MAX } from "../../wire/limits.ts";
import { checkNamespace, ForgetBody, StatsBody } from "../../wire/schemas.ts";
import { keyBody } from "../account_body.ts";
import { type SignedRoute, signedRoute } from "../route.ts";

function invalid(field: string, rule: string): SvcError {
  return new SvcError("invalid_parameter", `${field}: ${rule}`, { field });
}

function limitOf(query: ReadonlyMap<string, string>, fallback: number, max: number): number {
  const raw = query.get("limit");
  if (raw === undefined || raw === "") return fallback;
  const value = /^\d{1,6}$/.test(raw) ? Number(raw) : 0;
  if (value < 1 || value > max) throw invalid("limit", `must be from 1 to ${max}`);
  return value;
}

function wordOf<const T extends string>(
  query: ReadonlyMap<string, string>,
  name: string,
  words: readonly T[],
  fallback: NoInfer<T>,
): T {
  const raw = query.get(name);
  if (raw === undefined || raw === "") return fallback;
  const word = words.find((item) => item === raw);
  if (word === undefined) throw invalid(name, `must be ${words.join(" or ")}`);
  return word;
}

function namespaceCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined || cursor === "") return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true })
      .decode(Uint8Array.fromBase64(cursor, { alphabet: "base64url" }));
  } catch {
    throw new SvcError("invalid_cursor", undefined, { field: "cursor" });
  }
}

/** Memories, namespaces, stats, forget and account (docs/protocol.md#10.9 and #10.10). */
export const manageRoutes: readonly SignedRoute[] = [
  signedRoute({
    method: "GET",
    path: "/api/memories",
    permissions: ["read"],
    weight: 0,
    takesQuery: true,
    summary: "List memories of a namespace",
    handle: async (domain, call) => {
      const page = await listMemories(domain, call.caller, {
        namespace: checkNamespace(call.query.get("namespace") ?? ""),
        limit: limitOf(call.query, MEMORY_PAGE_DEFAULT, MEMORY_PAGE_MAX),
        order: wordOf(call.query, "order", ["newest", "oldest"], "newest"),
        text: wordOf(call.query, "text", ["true", "false"], "true") === "true",
        cursor: call.query.get("cursor") || undefined,
      });
      const { memories, total, nextCursor } = page;
      return {
        status: 200,
        body: {
          memories,
          total,
          ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
        },
      };
    },
  }),
  signedRoute({
    method: "GET",
    path: "/api/memories/:id",
    permissions: ["read"],
    weight: 0,
    summary: "One memory with its versions",
    handle: async (domain, call) => ({
      status: 200,
      body: await getMemory(domain, call.caller, call.id),
    }),
  }),
  signedRoute({
    method: "DELETE",
    path: "/api/memories/:id",
    permissions: ["write"],
    writes: true,
    summary: "Delete a memory with all its versions",
    handle: async (domain, call) => ({
      status: 200,
      body: {
        memory_id: call.id,
        deleted: true,
        blob: await deleteMemory(domain, call.caller, call.id),
      },
    }),
  }),
  signedRoute({
    method: "GET",
    path: "/api/namespaces",
    permissions: ["read"],
    weight: 0,
    takesQuery: true,
    summary: "List namespaces with counts",
    handle: async (domain, call) => {
      const limit = limitOf(call.query, NAMESPACE_PAGE_MAX, NAMESPACE_PAGE_MAX);
      const after = namespaceCursor(call.query.get("cursor"));
      const page = await namespaces(domain, call.caller, limit, after);
      const last = page.namespaces.at(-1)?.namespace ?? "";
      const cursor = new TextEncoder().encode(last)
        .toBase64({ alphabet: "base64url", omitPadding: true });
      return {
        status: 200,
        body: {
          namespaces: page.namespaces,
          total: page.total,
          ...(page.more ? { next_cursor: cursor } : {}),
        },
      };
    },
  }),
  signedRoute({
    method: "POST",
    path: "/api/stats",
    permissions: ["read"],
    schema: StatsBody,
    summary: "Counts of a namespace",
    handle: async (domain, call) => {
      const { namespace } = call.body;
      const { memoryCount, storageBytes, pending } = await stats(domain, call.caller, namespace);
      return {
        status: 200,
        body: {
          memory_count: memoryCount,
          storage_bytes: storageBytes,
          pending,
          namespace,
          owner: call.caller.account.owner,
        },
      };
    },
  }),
  signedRoute({
    method: "POST",
    path: "/api/forget",
    permissions: ["write"],
    writes: true,
    schema: ForgetBody,
    summary: "Delete every memory of a namespace",
    handle: async (domain, call) => {
      const { namespace } = call.body;
      const deleted = await forget(domain, call.caller, namespace);
      return { status: 200, body: { deleted, namespace, owner: call.caller.account.owner } };
    },
  }),
  signedRoute({
    method: "GET",
    path: "/api/account",
    weight: 0,
    summary: "The caller's account, key and quota",
    handle: async (domain, call) => {
      const { account } = call.caller;
      const { key } = call;
      return {
        status: 200,
        body: {
          owner: account.owner,
          account_id: account.accountId,
          package_id: domain.config.packageId,
          active: account.active,
          key: keyBody(key),
          quota: {
            used_bytes: await usedBytes(domain, account.owner),
            limit_bytes: domain.config.quotaBytes || null,
          },
        },
      };
    },
  }),
  signedRoute({
    method: "GET",
    path: "/api/account/keys",
    permissions: ["read"],
    weight: 0,
    summary: "The account's keys and when each was used last",
    handle: ({ keyUse }, { caller }) => {
      const keys = caller.account.keys.map((key) => {
        const used = keyUse.lastUsed(key.publicKey);
        return { ...keyBody(key), ...(used === undefined ? {} : { last_used_at: timeText(used) }) };
      });
      return Promise.resolve({ status: 200, body: { keys } });
    },
  }),
];
