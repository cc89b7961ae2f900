import { type Rule, rules } from "./rule.ts";

/** Rules of section 12, MCP tools. */
export const SECTION_12: readonly Rule[] = rules("12", [
  [1, "the memory tools have the parameters, bounds, titles and hints of the table"],
  [2, "schemas have additionalProperties false"],
  [3, "descriptions say what the list demands"],
  [4, "the namespace of a call: its own, the session's, none"],
  [5, "restore without any namespace is invalid, else the configured default is used"],
  [6, "svc_remember answers when recallable, not when its blob is stored"],
  [7, "svc_recall: one line per hit with its score, three decimals, or none found"],
  [8, "svc_analyze: one line per fact and counts; with no facts the first line only"],
  [9, "svc_restore: counts only"],
  [10, "svc_login: the URL and the steps"],
  [11, "svc_logout: confirmation, the on-chain key remains"],
  [12, "a failure is isError with message and code"],
  [13, "invalid arguments start with MCP error -32602; an unknown tool is a JSON-RPC error"],
  [14, "progress is notified at each step when a token was sent, and only then"],
  [15, "svc/idempotency-key of remember and analyze is passed on"],
  [16, "svc_login and svc_logout have the parameters, titles and hints"],
  [17, "results are one text and structured content that fits the outputSchema"],
  [18, "svc_remember answers after 30 s all the same, with a second line; blob_id null, pending"],
  [19, "svc_recall: score 1 - distance without one; lines tell of dropped and pending memories"],
  [20, "svc_analyze counts a recallable fact as done, waits 180 s, and timeouts as failed"],
  [21, "progress is notified at least every 10 s"],
  [22, "limits and namespaces have the defaults of the table"],
]);
