import { IDEMPOTENCY_META, isIdempotencyKey, SESSION_META } from "../../src/wire/mcp.ts";
import type { ToolName } from "../../src/wire/table/tools.ts";
import { TOOL_NAMES, writesTwice } from "../../src/wire/tool_definitions.ts";
import { isMembers, type Members, metaOf } from "./json_rpc.ts";
import type { PreparedCall } from "./remote_call.ts";

export const PREFIX = "svc_";

/** Longest times until an answer, in milliseconds: above what the relayer itself takes. */
const TIMEOUT_MS: Partial<Record<ToolName, number>> = { analyze: 240_000, restore: 240_000 };
/** Of anything else. */
const OTHER_TIMEOUT_MS = 60_000;

/** The memory tool that a host calls so. */
export function memoryTool(name: unknown): ToolName | undefined {
  return TOOL_NAMES.find((tool) => PREFIX + tool === name);
}

/** The arguments with the default namespace when they name none; an empty one names none. */
function withNamespace(given: unknown, namespace: string | undefined): unknown {
  if (!(given === undefined || isMembers(given))) return given;
  const { namespace: own, ...rest } = given ?? {};
  if (own !== undefined && own !== null && own !== "") return given;
  if (namespace !== undefined) return { ...rest, namespace };
  return given === undefined ? undefined : rest;
}

/** What calls say that their host leaves open. */
export interface CallDefaults {
  readonly namespace: string | undefined;
  /** Session that memories are said in: the same on every connection of one bridge. */
  readonly session: string;
}

/** `_meta` without what belongs between host and bridge. */
function passedMeta(params: Members | undefined): Record<string, unknown> {
  const entries = Object.entries(metaOf(params))
    .filter(([key]) => !key.startsWith("io.modelcontextprotocol/"));
  return Object.fromEntries(entries);
}

/**
 * Prepares a request of the host for the relayer: default namespace, session and idempotency key of
 * tool calls; what the host said about its revision is left out, the relayer's session has its own.
 *
 * @param newKey Makes an idempotency key.
 */
export function prepareCall(
  method: string,
  params: Members | undefined,
  { namespace, session }: CallDefaults,
  newKey: () => string,
): PreparedCall {
  const tool = method === "tools/call" ? memoryTool(params?.name) : undefined;
  const meta = passedMeta(params);
  const writes = tool !== undefined && writesTwice(tool);
  // A key of the host's that breaks its rule is left to the relayer, which refuses the call.
  if (writes && meta[IDEMPOTENCY_META] === undefined) meta[IDEMPOTENCY_META] = newKey();
  if (writes) meta[SESSION_META] ??= session;
  const { _meta: _, ...rest } = params ?? {};
  const members: Record<string, unknown> = { ...rest };
  if (Object.keys(meta).length > 0) members._meta = meta;
  if (tool !== undefined) members.arguments = withNamespace(params?.arguments, namespace);
  if (members.arguments === undefined) delete members.arguments;
  const hasKey = isIdempotencyKey(meta[IDEMPOTENCY_META]);
  // Tools that are not known may write.
  const isUnknown = method === "tools/call" && tool === undefined;
  return {
    method,
    ...(Object.keys(members).length === 0 ? {} : { params: members }),
    repeatable: writes && hasKey ? "with key" : writes || isUnknown ? "never" : "always",
    timeoutMs: (tool && TIMEOUT_MS[tool]) ?? OTHER_TIMEOUT_MS,
  };
}
