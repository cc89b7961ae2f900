import { integer, optionalText } from "../../interfaces/fields.ts";

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
};
