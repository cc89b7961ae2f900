import type { Case } from "./case.ts";

const NOT_FOUND = [404, "not_found"] as const;
const NOT_ALLOWED = [405, "method_not_allowed"] as const;
const ID = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";

function unsigned(method: string, target: string, answer: Case["answer"]): Case {
  return { name: "unsigned", method, target, sign: "unsigned", answer };
}

function query(target: string, answer: Case["answer"], field: string): Case {
  return { name: "query", method: "GET", target, answer, field };
}

const RANGE = [400, "invalid_parameter"] as const;

/** Paths, methods, ids and queries; none of the unsigned ones gets as far as authentication. */
export const ROUTE_CASES: readonly Case[] = [
  ...[
    "/",
    "/api",
    "/api/",
    "/nothing",
    "/health/",
    "/Health",
    "/api/remember/",
    "/api/remember//",
    "/API/recall",
    "/api/recall/",
    "/api/recall/other",
    `/api/memories/${ID}/`,
    `/api/remember/${ID}/retry/`,
    "/api%2frecall",
    "/%61pi/recall",
    "/accounts/",
    "/sponsor/",
    "/compat/sui/sui.rpc.v2.LedgerService/GetObject",
  ].map((target) => unsigned("POST", target, NOT_FOUND)),
  ...[
    ["GET", "/api/recall"],
    ["PUT", "/api/remember"],
    ["DELETE", "/api/memories"],
    ["POST", `/api/memories/${ID}`],
    ["POST", `/api/remember/${ID}`],
    ["GET", `/api/remember/${ID}/retry`],
    ["GET", "/api/remember/bulk"],
    ["GET", "/api/remember/manual"],
    ["GET", "/api/remember/bulk/status"],
    ["PATCH", "/api/account"],
    ["POST", "/health"],
    ["DELETE", "/version"],
    ["GET", "/compat/sui"],
    ["GET", "/sponsor"],
    ["GET", "/accounts"],
  ].map(([method = "", target = ""]) => unsigned(method, target, NOT_ALLOWED)),
  unsigned("POST", "/sponsor", [503, "sponsor_disabled"]),
  unsigned("POST", "/sponsor/execute", [503, "sponsor_disabled"]),
  { name: "no id", method: "GET", target: "/api/remember/1", answer: [404, "job_not_found"] },
  { name: "unknown", method: "GET", target: `/api/remember/${ID}`, answer: [404, "job_not_found"] },
  { name: "unknown", target: `/api/remember/${ID}/retry`, answer: [404, "job_not_found"] },
  { name: "no id", method: "GET", target: "/api/memories/1", answer: [404, "memory_not_found"] },
  {
    name: "unknown",
    method: "GET",
    target: `/api/memories/${ID}`,
    answer: [404, "memory_not_found"],
  },
  {
    name: "unknown",
    method: "DELETE",
    target: `/api/memories/${ID}`,
    answer: [404, "memory_not_found"],
  },
  query("/api/memories?limit=0", RANGE, "limit"),
  query("/api/memories?limit=201", RANGE, "limit"),
  query("/api/memories?limit=1e2", RANGE, "limit"),
  query("/api/memories?limit=-1", RANGE, "limit"),
  query("/api/memories?order=random", RANGE, "order"),
  query("/api/memories?text=no", RANGE, "text"),
  query("/api/memories?namespace=%00", [400, "invalid_namespace"], "namespace"),
  query("/api/memories?namespace=%E9", [400, "invalid_namespace"], "namespace"),
  query("/api/memories?namespace=a%C3b", [400, "invalid_namespace"], "namespace"),
  query("/api/memories?namespace=%ED%A0%80", [400, "invalid_namespace"], "namespace"),
  query("/api/memories?namespace=%C0%AF&limit=1", [400, "invalid_namespace"], "namespace"),
  query("/api/memories?limit=1%FF", RANGE, "limit"),
  query("/api/memories?order=newest%FF", RANGE, "order"),
  query("/api/memories?cursor=%FF", [400, "invalid_cursor"], "cursor"),
  query("/api/namespaces?cursor=%FF", [400, "invalid_cursor"], "cursor"),
  query("/api/memories?cursor=nothing", [400, "invalid_cursor"], "cursor"),
  query("/api/namespaces?limit=1001", RANGE, "limit"),
  query("/api/namespaces?cursor=%2a", [400, "invalid_cursor"], "cursor"),
];
