import { DEFERRED, type Rule, rules } from "./rule.ts";

const general = rules("10", [
  [1, "write routes need the permission write"],
  [2, "read routes need the permission read"],
  [3, "restore needs read and write"],
  [4, "job, bulk status, account and embed routes take any key"],
  [5, "remember, bulk and job retry answer 202"],
  [6, "manual, forget and DELETE of a memory answer 200"],
  [7, "recall, manual recall, stats, memories, namespaces and restore answer 200"],
  [8, "analyze needs write and answers 202"],
  [9, "import needs write and answers 202", DEFERRED.exportImport],
  [10, "PUT of a memory needs write and answers 202", DEFERRED.put],
  [11, "ask needs read and answers 200"],
  [12, "export needs read and answers 200", DEFERRED.exportImport],
  [13, "GET /api/memories and /api/namespaces take a query, in the 6-field form only"],
]);

const remember = rules("10.1", [
  [1, "text is required, 1 byte to 1 MiB of UTF-8"],
  [2, "text is stored exactly as sent"],
  [3, "a text that is empty or only white space answers empty_text"],
  [4, "namespace is optional and defaults to default"],
  [5, "metadata is a flat object of strings, numbers, booleans and null, at most 4 KiB as JSON"],
  [6, "importance is 0 to 1 and defaults to 0.5"],
  [7, "occurred_at is RFC 3339"],
  [8, "expires_at is RFC 3339 and in the future"],
  [9, "202 has job_id, status, memory_id, id, blob_id, owner, namespace and recallable"],
  [10, "id and memory_id equal job_id; blob_id is the empty string"],
  [11, "status is running, or pending while no worker is free"],
]);

const jobs = rules("10.2", [
  [1, "GET of a job answers its record"],
  [2, "an unknown, expired or another owner's id answers 404 job_not_found"],
  [3, "bulk and manual are not ids: 405"],
  [4, "retry takes no body or {} and answers 202 with the record, pending, attempts reset"],
  [5, "retry of a job that has not failed answers 409 job_not_retryable"],
  [6, "retry of a job whose memory is deleted answers 409 job_not_retryable"],
]);

const bulk = rules("10.3", [
  [1, "bulk takes 1 to 20 items with the members of remember"],
  [2, "no items: empty_items; more than 20: too_many_items"],
  [3, "one invalid item refuses the whole request, field names it, nothing is accepted"],
  [4, "202 has job_ids, total and status running; job_ids[i] belongs to items[i]"],
  [5, "bulk status takes 1 to 20 ids; none: empty_job_ids; more: too_many_job_ids"],
  [6, "bulk status answers in request order, duplicates kept"],
  [
    7,
    "a result has job_id, status, recallable, memory_id, attempts, and blob_id and errors if known",
  ],
  [8, "an unknown or foreign id gives {job_id, status: not_found}"],
]);

const manual = rules("10.4", [
  [1, "manual stores the client's bytes and vector: 200 once the blob is stored"],
  [2, "200 has id, blob_id, owner, namespace, memory_id and job_id"],
  [3, "taking longer than SVC_MANUAL_WAIT_MS it answers 202 as remember does"],
  [4, "the vector must have the configured dimension, else dimension_mismatch stating it"],
  [5, "the vector must be non-empty and finite, else invalid_vector"],
  [6, "encrypted_data must be non-empty base64, else invalid_encrypted_data"],
  [7, "blob_id may stand for encrypted_data; an unreadable one answers 404 blob_not_found"],
  [8, "if both are sent blob_id is ignored"],
  [9, "without both: 422 invalid_request"],
  [10, "plain recall returns a manual memory only if the relayer can decrypt it"],
  [11, "namespace, metadata, importance, occurred_at and expires_at are taken as in remember"],
]);

const analyze = rules("10.5", [
  [1, "text is 1 byte to 64 KiB"],
  [2, "up to 20 facts are extracted, each becomes a job"],
  [3, "what is already stored is skipped"],
  [4, "relative dates are resolved against occurred_at"],
  [5, "202 has job_ids, facts, fact_count, total, status pending and owner"],
  [6, "no facts: the same shape, empty"],
  [7, "a failing model answers 503 llm_unavailable"],
  [8, "without a model sentences are facts and method is rules"],
  [9, "SVC_ANALYZE_REQUIRES_LLM answers 503 llm_disabled without a model"],
  [10, "the text is data for the model, never instructions"],
  [11, "the same text again stores nothing new, also when both come at once"],
  [12, "facts are 0.9, 0.5 or 0.2 important, and happened at occurred_at"],
]);

const recall = rules("10.6", [
  [1, "query is required and at most 64 KiB; empty: empty_query; longer: query_too_long"],
  [2, "limit defaults to 10; above 100 is treated as 100; 0 gives an empty result"],
  [3, "a negative or fractional limit answers 422"],
  [4, "mode is hybrid, semantic or keyword; anything else answers invalid_parameter"],
  [5, "keyword mode searches by words, without the embedder; distance is 1 - score"],
  [6, "hybrid mode fuses words and meaning; the score is clipped to 0..1, the order is not"],
  [7, "max_distance keeps hits with distance < value"],
  [8, "min_score keeps hits with score >= value"],
  [9, "scoring_weights have defaults and bounds; outside: invalid_scoring_weights"],
  [10, "occurred_after <= t < occurred_before, t = occurred_at, else created_at"],
  [11, "200 has results and total"],
  [12, "a hit has blob_id, text, distance, score, memory_id, namespace and created_at always"],
  [13, "a hit has importance, occurred_at and metadata when set"],
  [14, "blob_id of a hit is the empty string until stored"],
  [15, "distance is the cosine distance, 0 to 2"],
  [16, "results are ordered by score, descending; ties: newer first, then memory_id"],
  [17, "without weights score is max(0, 1 - distance) in semantic search"],
  [18, "with recency and importance both 0 the weights do not change the score"],
  [19, "weighted score = semantic r + recency 2^(-age/half-life) + importance value"],
  [20, "weights surface recent or important memories from outside the top limit"],
  [21, "expired memories are never returned"],
  [22, "deleted memories are never returned"],
  [23, "superseded memories are never returned", DEFERRED.put],
  [24, "other owners' memories are never returned"],
  [25, "other namespaces' memories are never returned"],
  [26, "a recall that starts after a 202 sees that memory"],
  [27, "it waits at most SVC_RECALL_WAIT_MS, then answers with pending: n"],
  [28, "failed jobs do not count as pending"],
  [29, "an empty result has total 0 and the message No matching memories found"],
  [30, "a hit that cannot be decrypted is left out and counted in dropped_count"],
  [31, "its index entry is kept"],
  [32, "if every hit was dropped for a temporary reason: 503"],
  [33, "a recall with SVC_RECALL_WAIT_MS 0 does not wait"],
]);

const manualRecall = rules("10.7", [
  [
    1,
    "manual recall answers blob_id, distance, created_at, importance, memory_id, namespace, score",
  ],
  [2, "it answers no text"],
  [3, "its vector must have the exact dimension"],
  [4, "its limit rules are those of recall"],
  [5, "it returns only memories whose blob is stored"],
  [6, "it does not wait for jobs"],
  [7, "ask answers from the memories it recalled, with the context used"],
  [8, "ask: question at most 64 KiB, limit default 5"],
  [9, "ask: an empty completion says No response from LLM"],
  [10, "ask: without a model it quotes, answer_mode quotes"],
  [11, "ask: hits are escaped and marked as data"],
  [12, "embed answers vector, dimensions and model; nothing is stored"],
  [13, "embed's text follows the rules of remember"],
  [14, "ask takes the members of recall, waits as it does, and says what is pending or dropped"],
  [15, "ask: a failing model answers 503 llm_unavailable"],
  [16, "calls of the model under way at once are bounded; beyond: 503 overloaded with Retry-After"],
  [17, "embed answers the vector a memory of that text has"],
]);

const restore = rules("10.8", [
  [1, "namespace is required: missing 422, empty 400 empty_namespace"],
  [2, "limit defaults to 50; above 500 counts as 500; 0 counts only"],
  [3, "only entries missing from the index are indexed"],
  [4, "entries are restored newest first"],
  [5, "200 has restored, skipped, total, failed, remaining, namespace and owner"],
  [6, "total = restored + skipped + failed + remaining"],
  [7, "ids, times and importance come back"],
  [8, "blobs that cannot be downloaded or decrypted are counted as failed"],
  [9, "deleted memories do not come back"],
  [10, "superseded versions do not come back", DEFERRED.put],
  [11, "repeating it is harmless"],
]);

const memories = rules("10.9", [
  [1, "GET /api/memories lists one namespace: memories, total, next_cursor"],
  [2, "limit is 1 to 200, default 50"],
  [3, "order is newest (default) or oldest"],
  [4, "text=false leaves texts out"],
  [5, "cursors survive inserts: each memory once"],
  [6, "an unknown cursor answers 400 invalid_cursor"],
  [7, "GET of a memory answers it with versions"],
  [8, "an unknown or foreign id answers 404 memory_not_found"],
  [9, "PUT writes a new version by a job; omitted members keep their value", DEFERRED.put],
  [10, "PUT: the old version is recalled until the new one is recallable", DEFERRED.put],
  [11, "PUT: expected_version not current answers 409 version_conflict", DEFERRED.put],
  [12, "PUT: job_id differs from memory_id", DEFERRED.put],
  [13, "DELETE removes index row, cached ciphertext and, where it can, the blob"],
  [14, "DELETE answers memory_id, deleted true, and what became of the blob"],
  [15, "a patch of a quilt stays retained until its quilt is rewritten"],
  [16, "a listed memory has the fields of section 2"],
  [17, "a sealed tombstone keeps a deleted memory from coming back by a restore elsewhere"],
]);

const rest = rules("10.10", [
  [1, "GET /api/namespaces answers namespace, memory_count, storage_bytes and last_write_at each"],
  [2, "its limit is at most 1000, default 1000; pages go on with next_cursor"],
  [3, "stats answers memory_count, storage_bytes, pending, namespace and owner"],
  [4, "forget deletes every memory of the namespace and answers deleted, namespace, owner"],
  [5, "forget cancels pending jobs of the namespace"],
  [6, "forget leaves other namespaces alone"],
  [7, "GET /api/account answers owner, account_id, package_id, active, key and quota"],
  [8, "limit_bytes is null when unlimited"],
  [9, "forget requires its namespace: missing 422, empty 400 empty_namespace"],
  [10, "GET /api/account/keys lists the account's keys, with last_used_at once they were used"],
]);

const transfer = rules("10.11", [
  [1, "export streams a header, memories and an end line", DEFERRED.exportImport],
  [2, "export without the end line is incomplete", DEFERRED.exportImport],
  [3, "import takes at most 200 memory lines and 32 MiB", DEFERRED.exportImport],
  [4, "import keeps ids and times when the id is free", DEFERRED.exportImport],
  [5, "import skips a line whose id exists with the same text", DEFERRED.exportImport],
  [6, "import answers accepted, skipped, failed, job_ids, errors, status", DEFERRED.exportImport],
]);

/** Rules of section 10, signed routes. */
export const SECTION_10: readonly Rule[] = [
  ...general,
  ...remember,
  ...jobs,
  ...bulk,
  ...manual,
  ...analyze,
  ...recall,
  ...manualRecall,
  ...restore,
  ...memories,
  ...rest,
  ...transfer,
];
