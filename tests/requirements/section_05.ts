import { type Rule, rules } from "./rule.ts";

/** Rules of section 5, errors. */
export const SECTION_5: readonly Rule[] = rules("5", [
  [1, "an error body is application/json with error, code and request_id"],
  [2, "code is stable snake_case out of the closed list"],
  [3, "request_id equals the header"],
  [4, "retry_after_seconds comes with the header Retry-After"],
  [5, "field is a path such as items[3].text"],
  [6, "a 429 has layer and limit"],
  [7, "an error body never has a member named status"],
  [8, "malformed_json: the body is not JSON"],
  [9, "required values that are empty answer empty_…"],
  [10, "texts over the limits answer text_too_long and query_too_long"],
  [11, "lists over the limits answer too_many_items and too_many_job_ids"],
  [12, "invalid_metadata, invalid_namespace and invalid_scoring_weights name their rules"],
  [13, "any other value out of range answers invalid_parameter; field names it"],
  [14, "a wrong shape answers 422 invalid_request with field"],
  [15, "a quota that is used up answers 402 quota_exceeded"],
  [16, "objects of other owners answer 404"],
  [17, "internal_error says nothing else"],
  [18, "a dependency that is down answers 503 with Retry-After"],
  [19, "a relayer that shuts down answers 503 shutting_down with Retry-After"],
  [20, "job error codes are those of the closed list"],
  [21, "error bodies quote nothing a caller sent"],
  [22, "MCP errors are JSON-RPC errors whose data has code and request_id"],
  [23, "sponsor routes have codes of their own"],
  [24, "every code has the status of the table"],
]);
