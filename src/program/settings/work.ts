import { choice, integer, optionalText } from "../../interfaces/fields.ts";

export const DATA = {
  dataDir: {
    ...optionalText("SVC_DATA_DIR", "Databases, queue and cache; one running relayer each"),
    fallbackText: "~/.svc/relayer",
  },
  keyFile: {
    ...optionalText(
      "SVC_RELAYER_KEY_FILE",
      "0600 file with the relayer key, outside SVC_DATA_DIR; made at first start",
    ),
    fallbackText: "~/.svc/relayer.key",
  },
  keyPassphraseFile: optionalText(
    "SVC_RELAYER_KEY_PASSPHRASE_FILE",
    "File with a passphrase (its first line) the relayer key is derived from by scrypt",
  ),
  keyCommand: optionalText(
    "SVC_RELAYER_KEY_COMMAND",
    "Command, without a shell, whose first output line is the relayer key (64 hex characters)",
  ),
  indexMemoryMb: integer(
    "SVC_INDEX_MEMORY_MB",
    512,
    16,
    1_048_576,
    "RAM budget of the scope index, MiB; namespaces above it are searched on disk, see recall.md",
  ),
  shutdownSeconds: integer(
    "SVC_SHUTDOWN_SECONDS",
    10,
    0,
    600,
    "Longest time to finish work at SIGTERM, seconds",
  ),
  drainSeconds: integer(
    "SVC_DRAIN_SECONDS",
    0,
    0,
    600,
    "Before that: time in which /health answers 503 and all else as ever, so that balancers look elsewhere, seconds",
  ),
};

export const WORK = {
  recallWaitMs: integer(
    "SVC_RECALL_WAIT_MS",
    2000,
    0,
    60_000,
    "Longest wait of a recall for the caller's own pending jobs, milliseconds",
  ),
  manualWaitMs: integer(
    "SVC_MANUAL_WAIT_MS",
    30_000,
    0,
    120_000,
    "Longest wait of a manual remember for its blob, milliseconds",
  ),
  jobConcurrency: integer("SVC_JOB_CONCURRENCY", 32, 1, 256, "Jobs worked on at once"),
  jobMaxAttempts: integer("SVC_JOB_MAX_ATTEMPTS", 20, 1, 1000, "Tries of one job"),
  jobRetentionDays: integer(
    "SVC_JOB_RETENTION_DAYS",
    7,
    1,
    365,
    "How long the record of an ended job is kept, days",
  ),
  maxPendingJobs: integer(
    "SVC_MAX_PENDING_JOBS",
    10_000,
    1,
    1_000_000,
    "Unfinished jobs above which nothing more is accepted",
  ),
  llmCalls: integer(
    "SVC_MAX_LLM_CALLS",
    8,
    1,
    256,
    "Calls of the language model under way at once",
  ),
  idempotencyHours: integer(
    "SVC_IDEMPOTENCY_HOURS",
    24,
    1,
    720,
    "How long an idempotency key is remembered, hours",
  ),
  secrets: choice(
    "SVC_SECRETS",
    "refuse",
    ["refuse", "redact", "allow"],
    "Memories with passwords, keys, seed phrases or card numbers: `refuse`, `redact` or `allow`; " +
      "see writing.md",
  ),
  conflicts: choice(
    "SVC_CONFLICTS",
    "suggest",
    ["suggest", "auto", "off"],
    "Memories that say something else than an older one: `suggest` links them, `auto` lets the newer " +
      "take the older one's place, `off` does not look; see writing.md",
  ),
  embeddingCacheTtlSeconds: integer(
    "SVC_EMBEDDING_CACHE_TTL_SECONDS",
    600,
    0,
    86_400,
    "How long an embedded query is kept in RAM, seconds; 0 = not at all",
  ),
};
