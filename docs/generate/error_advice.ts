import type { ErrorCode } from "../../src/errors.ts";

/** Why a code is answered, and what whoever gets it can do. */
export type Advice = readonly [cause: string, remedy: string];

const EMPTY = "The member is there, but has nothing in it.";
const FIX = "Correct the request; the same one fails again.";
const RETRY = "Wait for `Retry-After`, then send the request again.";
const SIGN = "Sign the request anew and send it again.";
const SPONSOR_FORM = "Send the form of [9.1](protocol.md#9.1).";
const NEW_SESSION = "Send `initialize` again, without a session; most clients do so by themselves.";

/** Advice for every code. */
export const ADVICE: Readonly<Record<ErrorCode, Advice>> = {
  malformed_json: ["The body cannot be parsed as JSON in UTF-8.", FIX],
  unsigned_query: [
    "The 4-field form does not sign the query.",
    "Send `x-nonce` and sign the 6-field form ([4.2](protocol.md#4.2)).",
  ],
  empty_text: [
    "`text` has nothing but white space, or nothing at all.",
    "Send a text, or leave out the request.",
  ],
  empty_query: ["`query` has nothing but white space, or nothing at all.", "Send a query."],
  empty_question: [
    "`question` has nothing but white space, or nothing at all.",
    "Send a question.",
  ],
  empty_items: [EMPTY, "Send 1 to 20 items."],
  empty_job_ids: [EMPTY, "Send 1 to 20 ids."],
  empty_namespace: [
    "Restore and forget act on a namespace that must be named.",
    "Name it; `default` is written out here.",
  ],
  text_too_long: [
    "A memory has at most 1 MiB, a text to analyze 64 KiB, in UTF-8.",
    "Divide the text.",
  ],
  query_too_long: ["A query or question has at most 64 KiB in UTF-8.", "Shorten it."],
  too_many_items: ["A bulk has at most 20 items.", "Send several requests."],
  too_many_job_ids: ["A bulk status has at most 20 ids.", "Send several requests."],
  invalid_namespace: [
    "A namespace has 1 to 256 bytes of UTF-8, and no control characters.",
    "Choose another name. It is compared byte for byte.",
  ],
  invalid_metadata: [
    "Metadata is one flat object of strings, numbers, booleans and nulls, at most 4 KiB as JSON.",
    "Flatten it, or put long values into the text.",
  ],
  invalid_scoring_weights: [
    "Weights are 0 to 100, and the half-life is at least 1e-6 days.",
    "Correct the weights, or leave them out.",
  ],
  invalid_cursor: [
    "The cursor is not one that this relayer answered for this namespace and order.",
    "Start with the first page.",
  ],
  invalid_idempotency_key: [
    "The key is longer than 128 characters, or has white space or other than ASCII in it.",
    "Use a UUID.",
  ],
  invalid_parameter: ["A value is out of range; `field` and the text say which.", FIX],
  invalid_encrypted_data: ["`encrypted_data` is empty or not base64.", FIX],
  secret_found: [
    "The text holds a password, key, seed phrase, card number or the like; `kind`, `offset` and " +
    "`length` say which and where ([writing.md](writing.md#secrets)).",
    'Leave it out, or send `secrets: "redact"` to have it replaced. The operator\'s setting is ' +
    "`SVC_SECRETS`.",
  ],
  invalid_vector: ["The vector is empty, has no direction, or holds an infinite number.", FIX],
  dimension_mismatch: [
    "The vector has another length than the embedder's.",
    "Embed with the model that `GET /config` names; the text states the length.",
  ],
  decrypt_credential_required: [
    "The relayer's cipher opens texts with the caller's help only, as with `SVC_CIPHER=seal`.",
    "Send `x-seal-session` or `x-delegate-key` ([4.6](protocol.md#4.6)); the signed client does.",
  ],
  decrypt_credential_invalid: [
    "The session has ended, is of another package, or the key is not one of the account.",
    "Make a new session.",
  ],
  invalid_sender: ["`sender` is not `0x` and 64 hex characters.", SPONSOR_FORM],
  invalid_transaction: ["The kind is not base64 of 10 to 7000 bytes, or no kind.", SPONSOR_FORM],
  invalid_digest: ["The digest is not base58 of 43 or 44 characters.", SPONSOR_FORM],
  invalid_sponsor_signature: [
    "The signature is not base64 of 65 to 2048 bytes.",
    SPONSOR_FORM,
  ],
  sponsor_rejected: [
    "The sponsor does not pay for this transaction, for instance because it needs too much gas.",
    "Look at the text. Pay for the transaction from the wallet instead.",
  ],
  session_required: ["An MCP request other than `initialize` names no session.", NEW_SESSION],
  already_initialized: [
    "`initialize` came on a session that has been initialized.",
    "Leave out `mcp-session-id` to open another session.",
  ],
  unsupported_protocol_version: [
    "`mcp-protocol-version` names a revision that is not served here.",
    "Use one that the text names.",
  ],
  owner_proof_invalid: [
    "The wallet's signature does not fit: another address, action or parameters, a challenge that " +
    "was used or is older than 5 minutes.",
    "Ask for a new challenge and sign it.",
  ],
  auth_headers_missing: [
    "A signature header is missing; on MCP routes the bearer, or `x-svc-account-id` beside a key.",
    "Send all of them ([4.1](protocol.md#4.1), [11](protocol.md#11)).",
  ],
  auth_header_invalid: [
    "A header is not in its form, or came twice.",
    "Compare it with [4.1](protocol.md#4.1).",
  ],
  nonce_invalid: ["`x-nonce` is not a UUID.", "Use `crypto.randomUUID()` or its like."],
  timestamp_out_of_range: [
    "The clocks differ by more than 5 minutes, or the relayer was just started after a crash.",
    "Set the clock. After a restart sign anew; the signed client does so by itself.",
  ],
  signature_invalid: [
    "What was signed is not what arrived: often a proxy rewrote path or query, or the body was " +
    "serialized twice.",
    "Sign the bytes that are sent. [4.2](protocol.md#4.2) has test vectors.",
  ],
  nonce_reused: ["A request with this nonce came before.", `${SIGN} Use a new nonce each time.`],
  audience_mismatch: [
    "`x-audience` or `audience` names another origin than the relayer's own, or a token was made " +
    "while the relayer had another address.",
    "Use the relayer under its own address. If it is the right one, its operator sets " +
    "`SVC_PUBLIC_URL`, or `SVC_ALLOWED_HOSTS` for a further name. Make tokens anew.",
  ],
  token_expired: [
    "The token lasted until now; it says itself until when.",
    "Make another: `svc token create`, or sign in anew in the app.",
  ],
  token_revoked: [
    "The key that the token stands for was removed or has ended, or the account is deactivated.",
    "Make another token if it shall go on.",
  ],
  account_not_authorized: [
    "No active account lists the key, the key has expired, or `x-account-id` is another account's.",
    "Look at the account's keys on the dashboard. Sign in anew if the key is gone.",
  ],
  quota_exceeded: [
    "The owner's stored bytes have reached `SVC_QUOTA_BYTES`.",
    "Delete memories or a namespace, or let the operator raise the quota.",
  ],
  permission_denied: [
    "The key may read only, or write only, or it is bound to other namespaces.",
    "Use another key, or add one that may.",
  ],
  key_over_plain_http: [
    "`x-delegate-key`, or a bearer that is no token, came from another machine without TLS: others " +
    "on the network can read it.",
    "Use `https`, or a token (`svc token create`). The key was sent: if the network is not your " +
    "own, replace it. `SVC_ALLOW_KEY_OVER_HTTP` lets it pass.",
  ],
  move_call_not_allowed: [
    "Only calls to the account functions of the configured package are paid for.",
    "Pay for the transaction from the wallet.",
  ],
  metrics_forbidden: [
    "`/metrics` answers this machine only, and nobody where a proxy stands in front.",
    "Ask from the machine itself without a proxy; behind one set `SVC_METRICS_PUBLIC`, and let the " +
    "proxy refuse the path.",
  ],
  origin_not_allowed: [
    "A page of another origin asked.",
    "Add its origin to `SVC_ALLOWED_ORIGINS`; for owner routes, open the dashboard at " +
    "`SVC_WEB_URL`.",
  ],
  host_not_allowed: [
    "The relayer was called by a name it does not know.",
    "Set `SVC_PUBLIC_URL` to the address that clients use, or add the name to " +
    "`SVC_ALLOWED_HOSTS`.",
  ],
  registration_closed: [
    "Accounts are made from the relayer's own machine only, and not through a proxy.",
    "Use the dashboard there, or `account create --owner` in its terminal, or set " +
    "`SVC_OPEN_REGISTRATION`.",
  ],
  session_mismatch: [
    "The MCP session was opened with other credentials.",
    "Send those of the session, or open another.",
  ],
  not_found: [
    "There is no such path. Owner routes are absent where accounts are on chain.",
    "Compare the path with [routes.md](routes.md): there is no trailing slash.",
  ],
  job_not_found: [
    "The job is unknown, another owner's, or ended more than `SVC_JOB_RETENTION_DAYS` ago.",
    "Ask for the memory instead: it outlives its job.",
  ],
  memory_not_found: ["There is none, it is another owner's, deleted or expired.", "Nothing."],
  blob_not_found: ["The blob store does not have it, or cannot read it yet.", "Store it first."],
  sponsorship_not_found: [
    "This relayer did not answer the digest in the last 10 minutes.",
    "Ask `POST /sponsor` again.",
  ],
  session_not_found: [
    "The MCP session has ended: it was idle, closed, or the relayer was restarted.",
    NEW_SESSION,
  ],
  method_not_allowed: ["The path takes other methods.", "Use one of the header `Allow`."],
  not_acceptable: [
    "`Accept` does not have what MCP answers with.",
    "Send `accept: application/json, text/event-stream`.",
  ],
  request_timeout: ["The body did not arrive within 30 s.", "Send it again, or less at a time."],
  idempotency_conflict: [
    "The idempotency key was used with another body.",
    "Use a new key for a new request.",
  ],
  idempotency_in_progress: [
    "The first request with this key or signed text still runs after 30 s.",
    "Ask again later with the same key.",
  ],
  job_not_retryable: [
    "The job has not failed, or its memory was deleted.",
    "Look at its state first.",
  ],
  version_conflict: [
    "The memory has another version than the one expected: it was changed meanwhile.",
    "Read the memory and decide again.",
  ],
  account_exists: ["The owner has an account.", "Use it: `POST /accounts/open` answers it."],
  key_exists: ["An account lists the key already.", "Use it, or make a new key."],
  body_too_large: [
    "The body is above the limit of its route ([16](protocol.md#16)).",
    "Send less at a time.",
  ],
  unsupported_media_type: [
    "The body is not `application/json`, or is compressed.",
    "Set `content-type: application/json` and send it uncompressed.",
  ],
  invalid_request: ["A member is missing or of another type; `field` names it.", FIX],
  upgrade_required: [
    "The operator set `SVC_REQUIRE_NONCE` or `SVC_REQUIRE_HOST_BOUND`, or the route wants a nonce.",
    "Sign the host-bound form ([4.2](protocol.md#4.2)); newer clients do.",
  ],
  rate_limited: [
    "The key, the account or the client's address has used up its weight; `layer` says which.",
    `${RETRY} Send several memories in one bulk, which weighs as much as two.`,
  ],
  session_limit: [
    "There are too many MCP sessions in all or of this address, or too many new ones in a minute; " +
    "the text names the limit.",
    `${RETRY} Close sessions with DELETE, or raise the \`MCP_*\` settings.`,
  ],
  headers_too_large: ["The headers have more than 16 KiB.", "Send less, often fewer cookies."],
  internal_error: [
    "A bug of the relayer. The log has the request under `request_id`.",
    "Report it with the log's line, which holds no text of memories.",
  ],
  sidecar_unavailable: [
    "The process for MCP and sponsors is being restarted, or another program has its port.",
    "Wait a second. If it stays: `GET /health`, and another `SIDECAR_URL`.",
  ],
  sponsor_upstream_error: [
    "The sponsor could not be reached, or refused the relayer's own credentials.",
    "Try again; the operator looks at `sponsor` in `/health`.",
  ],
  chain_unavailable: [
    "The chain's node does not answer, and nothing is known of the key.",
    `${RETRY} The operator looks at \`chain\` in \`/health\`.`,
  ],
  storage_unavailable: [
    "The disk is full or failing, or a store does not answer.",
    `${RETRY} The operator makes room; [operations.md](operations.md) says what happens meanwhile.`,
  ],
  embedding_unavailable: [
    "The embedder's server is down, or its model was pulled anew.",
    `${RETRY} The operator looks at \`embedder\` in \`/health\`; see [models.md](models.md).`,
  ],
  llm_unavailable: [
    "The language model's server is down, or gave no usable answer.",
    `${RETRY} Nothing was stored.`,
  ],
  key_service_unavailable: [
    "Too few key servers answer to open a key.",
    `${RETRY} The operator looks at \`key_service\` in \`/health\`; see [seal.md](seal.md).`,
  ],
  llm_disabled: [
    "`SVC_ANALYZE_REQUIRES_LLM` is set and no language model is.",
    "The operator sets `SVC_LANGUAGE_MODEL`, or takes back the other setting.",
  ],
  sponsor_disabled: [
    "`SVC_SPONSOR` is off.",
    "Pay from the wallet, or let the operator choose a sponsor ([sponsor.md](sponsor.md)).",
  ],
  sponsor_overloaded: ["The sponsor is busy, or refuses for its own limits.", RETRY],
  sponsor_budget_exhausted: [
    "The gas of the day is spent (`SVC_SPONSOR_DAILY_GAS_MIST`).",
    "Wait until 00:00 UTC, or pay from the wallet.",
  ],
  limiter_unavailable: ["Limits cannot be counted. No route of this version answers it.", RETRY],
  overloaded: [
    "Too much at once: unfinished jobs, bodies, calls of the language model, or memory for " +
    "namespaces.",
    `${RETRY} The operator looks at \`queue\` in \`/health\`.`,
  ],
  shutting_down: ["The relayer is being stopped.", `${RETRY} It normally starts again at once.`],
};
