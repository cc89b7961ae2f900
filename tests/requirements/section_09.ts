import { DEFERRED, type Rule, rules } from "./rule.ts";

const routes = rules("9", [
  [1, "GET /health is 200 when a write can be accepted, 503 when not"],
  [2, "/health has status, version, mode production, prompt_versions and dependencies"],
  [3, "/health has all members of /version"],
  [4, "dependencies name database, queue, embedder, llm, key_service, blob_store, chain and more"],
  [5, "queue adds pending and oldest_seconds"],
  [6, "degraded is still 200"],
  [7, "a dependency that is not configured does not degrade"],
  [8, "GET /version has the members of the table, apiVersion 1.0.0"],
  [9, "deprecations is a list"],
  [10, "GET /config has the members of the table"],
  [11, "packageId is 0x and 64 hex; an embedded relayer makes one and keeps it"],
  [12, "suiRpcUrl is absolute"],
  [13, "GET /openapi.json describes every route in OpenAPI 3.1"],
  [14, "GET /metrics is Prometheus text for loopback peers without forwarding headers"],
  [15, "others get 403 metrics_forbidden unless SVC_METRICS_PUBLIC"],
  [16, "feature flags are boolean and report only what is built"],
  [17, "auth.legacySignature is false when nonces are required"],
  [18, "the metrics of the list are there"],
  [19, "metric labels never hold keys, owners or namespaces"],
  [20, "metrics of external requests and database queries", DEFERRED.models],
  [21, "svc_mcp_sessions: open MCP sessions by transport, none while the sidecar does not tell"],
]);

const sponsor = rules("9.1", [
  [1, "no sponsor configured: 503 sponsor_disabled"],
  [2, "sponsor routes proxy to the sidecar"],
  [3, "request fields have the forms of the table"],
  [4, "only the account functions of the package are sponsored"],
  [
    5,
    "a digest comes from an answer of the last 10 minutes and is executed once",
  ],
  [6, "checks and limits are made in the order given"],
  [7, "upstream failures become 502, 503 or 400; bodies are never passed on"],
]);

const owner = rules("9.2", [
  [1, "a challenge is valid 5 minutes"],
  [2, "a challenge is used once"],
  [3, "a challenge is bound to base_url, action and params"],
  [4, "POST /accounts creates the owner's account: 201"],
  [5, "keys are added, with label, permissions and an optional expiry"],
  [6, "keys are removed"],
  [7, "an account is deactivated and reactivated"],
  [8, "the signature is a Sui personal-message signature: Ed25519 and secp256k1"],
  [9, "the signer must be the owner"],
  [10, "a failed proof answers 401 owner_proof_invalid"],
  [11, "Origin must be that of web_url, else 403 origin_not_allowed"],
  [
    12,
    "Host is an IP literal, localhost, the public host or an allowed one, else host_not_allowed",
  ],
  [13, "bodies are JSON of at most 16 KiB"],
  [14, "10 calls per minute and address, then 429"],
  [15, "accounts are created from loopback peers only, else 403 registration_closed"],
  [16, "SVC_OPEN_REGISTRATION lets others create accounts"],
  [17, "a second account of an owner answers 409 account_exists"],
  [18, "a key that an account lists answers 409 key_exists"],
  [19, "where accounts are not managed here the routes answer 404"],
  [20, "POST /accounts/open answers the proven owner's account: 200, or 201 when it was made"],
  [21, "a proof of possession that is sent must be the new key's, for this account"],
]);

/** Rules of section 9, public routes. */
export const SECTION_9: readonly Rule[] = [...routes, ...sponsor, ...owner];
