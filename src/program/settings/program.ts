import { checked, choice, flag, httpUrl, optional, optionalText } from "../../interfaces/fields.ts";
import { words } from "./parsers.ts";

export const COMPATIBILITY = {
  deduplicate: flag(
    "SVC_DEDUPLICATE",
    true,
    "Stores a text once, and keeps other wordings and echoes of it behind it",
  ),
  requireNonce: flag("SVC_REQUIRE_NONCE", false, "Refuses the 4-field signature with 426"),
  requireHostBound: flag(
    "SVC_REQUIRE_HOST_BOUND",
    false,
    "Refuses signatures that do not name this relayer with 426",
  ),
  compatAliases: flag("SVC_COMPAT_ALIASES", true, "Answers to the names of older clients"),
  compatSuiRpcUrl: optional(
    httpUrl("SVC_COMPAT_SUI_RPC_URL", "", "`suiRpcUrl` in /config"),
    "{base_url}/compat/sui",
  ),
};

const oneLine = (value: string | undefined) =>
  /^[\x20-\x7e]{1,128}$/.test(value ?? "") ? undefined : "must be at most 128 ASCII characters";

export const PROGRAM = {
  logLevel: choice(
    "SVC_LOG_LEVEL",
    "info",
    ["debug", "info", "warn", "error"],
    "Least important lines that are logged",
  ),
  logFormat: choice("SVC_LOG_FORMAT", "text", ["text", "json"], "Format of log lines"),
  buildCommit: checked(optionalText("SVC_BUILD_COMMIT", "`build.commit` in /version"), oneLine),
  buildTimestamp: checked(
    optionalText("SVC_BUILD_TIMESTAMP", "`build.buildTimestamp` in /version"),
    oneLine,
  ),
};

/** For tests of the relayer itself. */
export const TESTING = {
  test: flag("SVC_TEST", false, "Allows the other settings of this section"),
  failpoint: checked(
    optionalText("SVC_FAILPOINT", "Named point at which the relayer kills itself"),
    (name) => /^[\w.:-]{1,64}$/.test(name ?? "") ? undefined : "must be the name of a failpoint",
  ),
  mcpFixtures: optionalText(
    "SVC_MCP_FIXTURES",
    "Path of a module that adds the fixtures of MCP conformance kits to the MCP server",
  ),
  testDispatch: words(
    "SVC_TEST_DISPATCH",
    ["process", "queue", "sweeper"],
    "Ways jobs are started, comma-separated",
  ),
};
