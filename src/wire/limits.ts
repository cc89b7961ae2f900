// Every number of docs/protocol.md#16, and the body limits of #3. Byte counts of text are
// counts of UTF-8 bytes.

/** Longest text of a memory, also of an embed call: 1 MiB. */
export const TEXT_BYTES = 1_048_576;
/** Longest text for analyze: 64 KiB. */
export const ANALYZE_TEXT_BYTES = 65_536;
/** Longest query of a recall: 64 KiB. */
export const QUERY_BYTES = 65_536;
/** Longest question for ask: 64 KiB. */
export const QUESTION_BYTES = 65_536;
export const ANALYZE_FACTS = 20;

export const BULK_ITEMS = 20;
export const BULK_STATUS_IDS = 20;
/** Most ids of a receipt that is asked for. */
export const RECEIPT_IDS = 1000;
/** Most memory lines of an import. */
export const IMPORT_MEMORIES = 200;
/** Most lines of an import, of any kind. */
export const IMPORT_LINES = 1000;
/** Largest version that an import may bring along. */
export const IMPORT_VERSION = 1_000_000_000;

/** Largest effective limit of a recall; above it counts as this. */
export const RECALL_LIMIT_MAX = 100;
/** Limit of a recall that names none. */
export const RECALL_LIMIT_DEFAULT = 10;
/** Largest effective limit of an ask; above it counts as this. */
export const ASK_LIMIT_MAX = 100;
/** Limit of an ask that names none. */
export const ASK_LIMIT_DEFAULT = 5;
/** Largest effective limit of a restore; above it counts as this. */
export const RESTORE_LIMIT_MAX = 500;
/** Limit of a restore at the route that names none. */
export const RESTORE_LIMIT_DEFAULT = 50;
/** Limit of a restore by the MCP tool that names none. */
export const RESTORE_TOOL_LIMIT_DEFAULT = 10;
/** Most memories that the MCP tool lists at once. */
export const LIST_TOOL_LIMIT_MAX = 50;
/** Memories that it lists when no limit is named. */
export const LIST_TOOL_LIMIT_DEFAULT = 20;
/** Memories that the MCP tool `search` names. */
export const SEARCH_TOOL_LIMIT = 20;
/** Most memories of one page. */
export const MEMORY_PAGE_MAX = 200;
/** Memories of a page whose limit is not named. */
export const MEMORY_PAGE_DEFAULT = 50;
/** Most namespaces of one page, and their number when no limit is named. */
export const NAMESPACE_PAGE_MAX = 1000;
/** Entries of activity per page. */
export const ACTIVITY_PAGE_MAX = 500;
/** Entries per page of activity when nothing is asked for. */
export const ACTIVITY_PAGE_DEFAULT = 100;

/** Bytes of an answer that a request's weight covers; each further so many weigh 1 more: 256 KiB. */
export const WEIGHED_BYTES = 262_144;

/** Namespace of a call that names none. */
export const DEFAULT_NAMESPACE = "default";
export const NAMESPACE_BYTES = 256;
/** Largest metadata, in bytes of JSON: 4 KiB. */
export const METADATA_BYTES = 4096;
/** Longest key of a memory, in bytes of UTF-8. */
export const KEY_BYTES = 256;
/** Longest name of a session, in bytes of UTF-8. */
export const SESSION_BYTES = 256;
/** Largest place of a memory in its session. */
export const POSITION = 1_000_000_000;
/** Most memories that one takes the place of. */
export const SUPERSEDED_IDS = 20;
/** Most links of one memory to others. */
export const LINKS = 40;
/** Longest idempotency key, in visible ASCII characters. */
export const IDEMPOTENCY_KEY_CHARACTERS = 128;
/** Longest request id taken over from a caller, in characters. */
export const REQUEST_ID_CHARACTERS = 128;
/** Longest label of a delegate key, in bytes. */
export const LABEL_BYTES = 64;

/** Largest difference between a request's timestamp and the relayer's clock, in seconds. */
export const TIMESTAMP_WINDOW_SECONDS = 300;
/** How long a nonce stays used, in seconds. */
export const NONCE_MEMORY_SECONDS = 600;
/** How long an idempotency key is kept when nothing else is configured, in hours. */
export const IDEMPOTENCY_HOURS = 24;
/** How long a login address is valid, in seconds. */
export const LOGIN_URL_SECONDS = 300;
/** How long a finished job can be asked for, in days. */
export const JOB_RETENTION_DAYS = 7;

export const MCP_SESSIONS = 1000;
export const MCP_SESSIONS_PER_IP = 16;
export const MCP_NEW_SESSIONS_PER_IP_PER_MINUTE = 30;
/** A Streamable session without request or stream is closed after this time, in seconds. */
export const MCP_SESSION_IDLE_SECONDS = 1800;

/** Largest body of a signed route and of an MCP message: 2 MiB. */
export const SIGNED_BODY_BYTES = 2_097_152;
/** Largest body of an import: 32 MiB. */
export const IMPORT_BODY_BYTES = 33_554_432;
export const SPONSOR_BODY_BYTES = 10_240;
export const SPONSOR_EXECUTE_BODY_BYTES = 4096;
export const SPONSOR_KIND_MIN_BYTES = 10;
export const SPONSOR_KIND_MAX_BYTES = 7000;
export const SPONSOR_SIGNATURE_MIN_BYTES = 65;
export const SPONSOR_SIGNATURE_MAX_BYTES = 2048;
/** How long a sponsored transaction may be executed, milliseconds. */
export const SPONSORSHIP_MS = 600_000;
/** Largest body of `POST /compat/sui`: 64 KiB. */
export const COMPAT_SUI_BODY_BYTES = 65_536;
/** Most objects that one call of `sui_multiGetObjects` there reads, as on a node of Sui. */
export const COMPAT_SUI_OBJECTS = 50;
/** Largest body of any other public route: 16 KiB. */
export const PUBLIC_BODY_BYTES = 16_384;
export const HEADER_BLOCK_BYTES = 16_384;
/** Most bytes of bodies held before their signature is verified: 128 MiB. */
export const UNVERIFIED_BODIES_BYTES = 134_217_728;
/** Longest time a body may take to arrive, in seconds. */
export const BODY_TIMEOUT_SECONDS = 30;
/** How long a token counts when nothing is asked for, in seconds. */
export const SESSION_TOKEN_SECONDS = 3600;
/** Shortest time that a token may be asked for, in seconds. */
export const SESSION_TOKEN_SECONDS_MIN = 60;
/** Longest: 366 days. */
export const SESSION_TOKEN_SECONDS_MAX = 31_622_400;
/** Largest body of a request for a token, which becomes part of it: 2 KiB. */
export const SESSION_TOKEN_BODY_BYTES = 2048;
/** Largest body of the consent page's calls: 32 KiB. */
export const CONSENT_BODY_BYTES = 32_768;
/** How long an access token of OAuth counts, in seconds. */
export const OAUTH_TOKEN_SECONDS = 3600;
/** How long a code of OAuth counts, in seconds. */
export const OAUTH_CODE_SECONDS = 60;
