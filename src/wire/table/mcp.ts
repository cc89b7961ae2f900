import { z } from "zod";
import { text } from "../answer_members.ts";
import { SIGNED_BODY_BYTES } from "../limits.ts";
import type { RouteRows } from "../route.ts";

const events = () => ({
  "text/event-stream": text("One message of JSON-RPC an event", "event: message\ndata: {}\n\n"),
});

const message = z.unknown().meta({
  description: "A message of JSON-RPC, or a list of them",
  examples: [{ jsonrpc: "2.0", id: 1, method: "tools/list" }],
});

/** Checked by the sidecar, which knows the tools. */
const query = z.object({
  tools: z.enum(["search"]).optional().describe("`search`: the tools of research alone"),
});

const ERRORS = [
  "invalid_parameter",
  "session_required",
  "session_mismatch",
  "session_not_found",
  "session_limit",
  "unsupported_protocol_version",
  "not_acceptable",
] as const;
const POSTS = { access: "mcp", bodyBytes: SIGNED_BODY_BYTES, body: message } as const;

/** What hosts of MCP connect to; the sidecar answers, and errors are errors of JSON-RPC. */
export const MCP = {
  "GET /api/mcp/sse": {
    access: "mcp",
    query,
    summary: "Open a session of HTTP with SSE",
    answers: () => ({ 200: events() }),
    errors: ERRORS,
  },
  "POST /api/mcp/messages": {
    ...POSTS,
    summary: "Messages of a session of HTTP with SSE",
    answers: () => ({ 202: {} }),
    errors: ERRORS,
  },
  "GET /api/mcp": {
    access: "mcp",
    summary: "Messages of the server in a session of Streamable HTTP",
    answers: () => ({ 200: events() }),
    errors: ERRORS,
  },
  "POST /api/mcp": {
    ...POSTS,
    query,
    summary: "Messages of Streamable HTTP, with a session or without",
    answers: () => ({
      200: { "application/json": z.looseObject({ jsonrpc: z.literal("2.0") }), ...events() },
      202: {},
    }),
    errors: [...ERRORS, "already_initialized"],
  },
  "DELETE /api/mcp": {
    access: "mcp",
    summary: "End a session of Streamable HTTP",
    answers: () => ({ 200: {} }),
    errors: ERRORS,
  },
  "GET /api/mcp/connect": {
    access: "mcp",
    query,
    summary: "The same as of /api/mcp, for apps that were let in by OAuth",
    answers: () => ({ 200: events() }),
    errors: ERRORS,
  },
  "POST /api/mcp/connect": {
    ...POSTS,
    query,
    summary: "Messages of Streamable HTTP of apps that were let in by OAuth",
    answers: () => ({
      200: { "application/json": z.looseObject({ jsonrpc: z.literal("2.0") }), ...events() },
      202: {},
    }),
    errors: [...ERRORS, "already_initialized"],
  },
  "DELETE /api/mcp/connect": {
    access: "mcp",
    summary: "End a session of such an app",
    answers: () => ({ 200: {} }),
    errors: ERRORS,
  },
} as const satisfies RouteRows;
