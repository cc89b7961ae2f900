import type { Case } from "./case.ts";

const REMEMBER = "/api/remember";
const RECALL = "/api/recall";
const SHAPE = [422, "invalid_request"] as const;
const RANGE = [400, "invalid_parameter"] as const;

function on(
  target: string,
  lines: readonly (readonly [
    name: string,
    body: unknown,
    answer: Case["answer"],
    field?: string,
  ])[],
): Case[] {
  return lines.map(([name, body, answer, field]) => ({
    name,
    target,
    body,
    answer,
    ...(field === undefined ? {} : { field }),
  }));
}

const weights = (value: unknown) => ({ query: "tea", scoring_weights: value });
const BAD_WEIGHTS = [400, "invalid_scoring_weights"] as const;
const BAD_METADATA = [400, "invalid_metadata"] as const;
const TOO_MANY_IDS = [400, "too_many_job_ids"] as const;
const BAD_NAMESPACE = [400, "invalid_namespace"] as const;

/** Well-formed JSON that breaks a rule of a route's body. */
export const SHAPE_CASES: readonly Case[] = [
  ...on(REMEMBER, [
    ["a list", [], SHAPE],
    ["null", "null", SHAPE],
    ["a string", '"text"', SHAPE],
    ["no text", {}, SHAPE, "text"],
    ["text null", { text: null }, SHAPE, "text"],
    ["text of another type", { text: 1 }, SHAPE, "text"],
    ["empty text", { text: "" }, [400, "empty_text"], "text"],
    ["blank text", { text: " \n\t\u00a0" }, [400, "empty_text"], "text"],
    ["a lone surrogate", '{"text":"a\\ud800"}', SHAPE, "text"],
    ["namespace of another type", { text: "a", namespace: 1 }, SHAPE, "namespace"],
    ["a control character", { text: "a", namespace: "a\u0000" }, BAD_NAMESPACE, "namespace"],
    ["DEL", { text: "a", namespace: "\u007f" }, BAD_NAMESPACE, "namespace"],
    ["a C1 control", { text: "a", namespace: "a\u009f" }, BAD_NAMESPACE, "namespace"],
    ["a surrogate there", '{"text":"a","namespace":"\\udc00"}', BAD_NAMESPACE, "namespace"],
    ["metadata a list", { text: "a", metadata: [1] }, BAD_METADATA, "metadata"],
    ["metadata a string", { text: "a", metadata: "a" }, BAD_METADATA, "metadata"],
    ["nested metadata", { text: "a", metadata: { b: { c: 1 } } }, BAD_METADATA, "metadata"],
    ["a list in metadata", { text: "a", metadata: { b: [] } }, BAD_METADATA, "metadata"],
    ["an infinite number", '{"text":"a","metadata":{"b":1e400}}', BAD_METADATA, "metadata"],
    ["importance too small", { text: "a", importance: -0.01 }, RANGE, "importance"],
    ["importance too large", { text: "a", importance: 1.01 }, RANGE, "importance"],
    ["importance infinite", '{"text":"a","importance":1e400}', SHAPE, "importance"],
    ["importance a string", { text: "a", importance: "0.5" }, SHAPE, "importance"],
    ["a date without time", { text: "a", occurred_at: "2026-01-01" }, SHAPE, "occurred_at"],
    ["no such month", { text: "a", occurred_at: "2026-13-01T00:00:00Z" }, SHAPE, "occurred_at"],
    ["no such day", { text: "a", occurred_at: "2026-02-30T00:00:00Z" }, SHAPE, "occurred_at"],
    ["no zone", { text: "a", occurred_at: "2026-01-01T00:00:00" }, SHAPE, "occurred_at"],
    ["after 9999", { text: "a", occurred_at: "9999-12-31T23:59:59-23:59" }, SHAPE, "occurred_at"],
    ["before 0", { text: "a", occurred_at: "0000-01-01T00:00:00+23:59" }, SHAPE, "occurred_at"],
    [
      "a leap second before 10000",
      { text: "a", expires_at: "9999-12-31T23:59:60Z" },
      SHAPE,
      "expires_at",
    ],
    ["a number as time", { text: "a", occurred_at: 1767225600 }, SHAPE, "occurred_at"],
    ["expired already", { text: "a", expires_at: "2020-01-01T00:00:00Z" }, RANGE, "expires_at"],
  ]),
  ...on("/api/remember/bulk", [
    ["no items", {}, SHAPE, "items"],
    ["items no list", { items: {} }, SHAPE, "items"],
    ["empty items", { items: [] }, [400, "empty_items"], "items"],
    ["a null item", { items: [null] }, SHAPE, "items[0]"],
    ["an item without text", { items: [{ text: "a" }, {}] }, SHAPE, "items[1].text"],
    [
      "an empty item",
      { items: [{ text: "a" }, { text: "" }] },
      [400, "empty_text"],
      "items[1].text",
    ],
    [
      "a namespace in an item",
      { items: [{ text: "a", namespace: "\u0001" }] },
      BAD_NAMESPACE,
      "items[0].namespace",
    ],
    [
      "importance in the fourth item",
      { items: [{ text: "a" }, { text: "b" }, { text: "c" }, { text: "d", importance: 2 }] },
      RANGE,
      "items[3].importance",
    ],
  ]),
  ...on("/api/remember/bulk/status", [
    ["no ids", {}, SHAPE, "job_ids"],
    ["empty ids", { job_ids: [] }, [400, "empty_job_ids"], "job_ids"],
    ["an id of another type", { job_ids: ["a", 1] }, SHAPE, "job_ids[1]"],
    ["too many of another type", { job_ids: Array(21).fill(1) }, TOO_MANY_IDS, "job_ids"],
  ]),
  ...on("/api/remember/manual", [
    ["no vector", { encrypted_data: "AAAA" }, SHAPE, "vector"],
    ["a text as vector", { encrypted_data: "AAAA", vector: "1" }, SHAPE, "vector"],
    ["a text in the vector", { encrypted_data: "AAAA", vector: ["1"] }, SHAPE, "vector"],
    ["an empty vector", { encrypted_data: "AAAA", vector: [] }, [400, "invalid_vector"], "vector"],
    ["zeros", { encrypted_data: "AAAA", vector: [0, 0] }, [400, "invalid_vector"], "vector"],
    ["no finite number", '{"encrypted_data":"AAAA","vector":[1e400]}', [
      400,
      "invalid_vector",
    ], "vector"],
    ["no finite float", { encrypted_data: "AAAA", vector: [1e39] }, [
      400,
      "invalid_vector",
    ], "vector"],
    ["a short vector", { encrypted_data: "AAAA", vector: [1, 2] }, [
      400,
      "dimension_mismatch",
    ], "vector"],
    ["neither data nor blob", { vector: [1] }, SHAPE, "encrypted_data"],
    ["no base64", { encrypted_data: "*", vector: [1] }, [
      400,
      "invalid_encrypted_data",
    ], "encrypted_data"],
    ["empty data", { encrypted_data: "", vector: [1] }, [
      400,
      "invalid_encrypted_data",
    ], "encrypted_data"],
  ]),
  ...on(RECALL, [
    ["no query", {}, SHAPE, "query"],
    ["empty query", { query: "" }, [400, "empty_query"], "query"],
    ["blank query", { query: "  " }, [400, "empty_query"], "query"],
    ["a negative limit", { query: "a", limit: -1 }, SHAPE, "limit"],
    ["a fractional limit", { query: "a", limit: 1.5 }, SHAPE, "limit"],
    ["a text as limit", { query: "a", limit: "5" }, SHAPE, "limit"],
    ["an unknown mode", { query: "a", mode: "fuzzy" }, RANGE, "mode"],
    ["an infinite distance", '{"query":"a","max_distance":1e400}', SHAPE, "max_distance"],
    ["a score of another type", { query: "a", min_score: "1" }, SHAPE, "min_score"],
    ["a confidence of another type", { query: "a", min_confidence: "1" }, SHAPE, "min_confidence"],
    ["a confidence above 1", { query: "a", min_confidence: 1.01 }, RANGE, "min_confidence"],
    ["a confidence below 0", { query: "a", min_confidence: -0.1 }, RANGE, "min_confidence"],
    ["weights of another type", weights(1), SHAPE, "scoring_weights"],
    ["a negative weight", weights({ semantic: -1 }), BAD_WEIGHTS, "scoring_weights.semantic"],
    ["a weight above 100", weights({ recency: 100.1 }), BAD_WEIGHTS, "scoring_weights.recency"],
    [
      "importance above 100",
      weights({ importance: 101 }),
      BAD_WEIGHTS,
      "scoring_weights.importance",
    ],
    [
      "no half-life",
      weights({ recency_half_life_days: 0 }),
      BAD_WEIGHTS,
      "scoring_weights.recency_half_life_days",
    ],
    ["a bad date", { query: "a", occurred_after: "yesterday" }, SHAPE, "occurred_after"],
    ["another bad date", { query: "a", occurred_before: "2026" }, SHAPE, "occurred_before"],
    ["a bad namespace", { query: "a", namespace: "\n" }, BAD_NAMESPACE, "namespace"],
  ]),
  ...on("/api/recall/manual", [
    ["no vector", {}, SHAPE, "vector"],
    ["a short vector", { vector: [1] }, [400, "dimension_mismatch"], "vector"],
    ["a negative limit", { vector: [1], limit: -1 }, SHAPE, "limit"],
  ]),
  ...on("/api/analyze", [
    ["no text", {}, SHAPE, "text"],
    ["blank text", { text: " \n" }, [400, "empty_text"], "text"],
    ["a list", { text: ["a"] }, SHAPE, "text"],
    ["a bad date", { text: "a", occurred_at: "yesterday" }, SHAPE, "occurred_at"],
    ["a bad namespace", { text: "a", namespace: "\n" }, BAD_NAMESPACE, "namespace"],
  ]),
  ...on("/api/ask", [
    ["no question", {}, SHAPE, "question"],
    ["blank question", { question: " " }, [400, "empty_question"], "question"],
    ["a negative limit", { question: "a", limit: -1 }, SHAPE, "limit"],
    ["an unknown mode", { question: "a", mode: "fuzzy" }, RANGE, "mode"],
    [
      "a negative weight",
      { question: "a", scoring_weights: { recency: -1 } },
      BAD_WEIGHTS,
      "scoring_weights.recency",
    ],
    ["a bad date", { question: "a", occurred_after: "2026" }, SHAPE, "occurred_after"],
    ["a bad namespace", { question: "a", namespace: "\n" }, BAD_NAMESPACE, "namespace"],
  ]),
  ...on("/api/embed", [
    ["no text", {}, SHAPE, "text"],
    ["blank text", { text: " " }, [400, "empty_text"], "text"],
  ]),
  ...["/api/restore", "/api/forget"].flatMap((target) =>
    on(target, [
      ["no namespace", {}, SHAPE, "namespace"],
      ["namespace null", { namespace: null }, SHAPE, "namespace"],
      ["empty namespace", { namespace: "" }, [400, "empty_namespace"], "namespace"],
      ["a bad namespace", { namespace: "\t" }, BAD_NAMESPACE, "namespace"],
    ])
  ),
  ...on("/api/restore", [["a negative limit", { namespace: "a", limit: -1 }, SHAPE, "limit"]]),
  ...on("/api/stats", [["a bad namespace", { namespace: "\t" }, BAD_NAMESPACE, "namespace"]]),
];
