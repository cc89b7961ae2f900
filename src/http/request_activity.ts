import type { Domain } from "../memory/domain.ts";
import { HEADER } from "../wire/headers.ts";
import { errorsOf } from "../wire/routes.ts";
import type { RouteName } from "../wire/route_types.ts";
import type { Authorization } from "./account_cache.ts";
import type { RequestContext } from "./request.ts";

type Entry = Parameters<Domain["activity"]["note"]>[0];

/** A request of a key, answered. */
interface AnsweredRequest {
  readonly authorization: Authorization;
  readonly context: RequestContext;
  /** Those that it names. */
  readonly namespaces: ReadonlySet<string>;
  /** `ok`, or the code of the error. */
  readonly outcome: string;
}

/** Notes a request for the owner of its account, once for each namespace that it names. */
export function noteRequest(
  { activity }: Pick<Domain, "activity">,
  { authorization: { account, key }, context, namespaces, outcome }: AnsweredRequest,
  what: Pick<Entry, "action" | "from">,
): void {
  const { accountId, owner } = account;
  const entry = { ...what, accountId, key: key.publicKey, via: viaOf(context), outcome };
  if (namespaces.size === 0) activity.note(entry, owner);
  for (const namespace of namespaces) activity.note({ ...entry, namespace }, owner);
}

function viaOf({ isInternal, request }: RequestContext): Entry["via"] {
  if (!isInternal) return "http";
  // The MCP sidecar says whom it asks for; the program itself is nobody's.
  return request.headers.has(HEADER.clientIp) ? "mcp" : "program";
}

/** Namespaces that a checked body or query names, those of its items or memories too. */
export function namespacesIn(...given: unknown[]): string[] {
  return given.flatMap((value): string[] => {
    if (typeof value !== "object" || value === null) return [];
    if ("namespace" in value && typeof value.namespace === "string") return [value.namespace];
    const several = "items" in value ? value.items : "memories" in value ? value.memories : [];
    return Array.isArray(several) ? namespacesIn(...several) : [];
  });
}

/** Ids of memories and jobs that a checked request names. */
export function idsIn({ id, body }: { readonly id: string; readonly body: unknown }): string[] {
  const named = typeof body === "object" && body !== null ? body : {};
  const jobs = "job_ids" in named && Array.isArray(named.job_ids) ? named.job_ids : [];
  const memory = "memory_id" in named ? [named.memory_id] : [];
  return [id, ...jobs, ...memory].map((one) => String(one).toLowerCase()).filter(Boolean);
}

/** Whether requests of a route read what may wait, or ask for jobs. */
export function opensWaiting(name: RouteName): boolean {
  if (name === "POST /api/session-token") return false;
  return errorsOf(name).includes("decrypt_credential_required") ||
    name.includes("/remember/:id") || name === "POST /api/remember/bulk/status";
}
