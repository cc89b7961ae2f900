import { DEFERRED, type Line, type Rule, rules } from "./rule.ts";

const { mcp, tools } = DEFERRED;

/** Numbers the texts; those that are not tested are deferred. */
function all(reason: string, texts: readonly string[], tested: readonly number[] = []): Line[] {
  return texts.map((text, index) =>
    tested.includes(index + 1) ? [index + 1, text] : [index + 1, text, reason]
  );
}

/** Rules of sections 11 and 12, MCP. */
export const SECTION_11: readonly Rule[] = [
  ...rules(
    "11",
    all(mcp, [
      "the five MCP routes exist on the relayer and are forwarded to the sidecar",
      "a bearer delegate key and x-svc-account-id sign a session in",
      "missing, malformed or foreign credentials answer 401 with www-authenticate and -32001",
      "an unreachable chain answers 503",
      "later requests carry the same credentials, others get 403",
      "a removed key closes its session",
      "session ids are random hex of at least 128 bits",
      "a foreign Origin answers 403 origin_not_allowed",
      "a foreign Host answers 403 host_not_allowed",
      "OPTIONS answers 204",
      "session limits: in all, per address, new per address and minute, in that order",
      "a refused session names its cap and has Retry-After",
      "idle Streamable sessions are closed",
      "an SSE session lives as long as its connection",
      "event streams end lines with LF, one data line per event",
      "the first SSE event is the endpoint",
      "keep-alive comments come within 1 s and then at the interval",
      "messages without credentials come from the stream's own address only",
      "messages: accepted 202, malformed session 400, unknown session 404",
      "an SSE session serves requests without initialize",
      "Streamable requests answer as in the table",
      "all listed protocol revisions are served on one endpoint",
      "tools/list never depends on the connection",
      "initialize answers capabilities and serverInfo",
      "ping is served; resources and prompts answer -32601",
      "notifications/cancelled ends the wait, not an accepted write",
      "x-svc-namespace is the session's default namespace",
    ], [1, 8, 9, 10, 14, 22]),
  ),
  ...rules(
    "12",
    all(tools, [
      "six tools with the parameters, bounds, titles and hints of the table",
      "schemas have additionalProperties false",
      "descriptions say what the list demands",
      "the namespace of a call: its own, the session's, none",
      "restore without any namespace is invalid",
      "svc_remember: text and structured content, when recallable or after 30 s",
      "svc_recall: one line per hit with its score",
      "svc_analyze: one line per fact and counts",
      "svc_restore: counts only",
      "svc_login: the URL and the steps",
      "svc_logout: confirmation, the on-chain key remains",
      "a failure is isError with message and code",
      "invalid arguments start with MCP error -32602; an unknown tool is a JSON-RPC error",
      "progress is notified when a token was sent",
      "svc/idempotency-key is passed on",
    ]),
  ),
];
