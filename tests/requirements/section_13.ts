import { DEFERRED, type Rule, rules } from "./rule.ts";

const { exportImport } = DEFERRED;

/** Rules of sections 13 and 14, the stdio package, credentials and login. */
export const SECTION_13: readonly Rule[] = [
  ...rules("13", [
    [1, "svc-mcp needs only command and args"],
    [2, "stdout has JSON-RPC lines only, stderr one JSON log line per event"],
    [3, "SVC_MCP_DEBUG=1 adds verbose logging without secrets"],
  ]),
  ...rules("13.1", [
    [1, "flags beat environment variables; both spellings of a value work"],
    [2, "an unknown flag is reported and ignored"],
    [3, "presets set both addresses; explicit ones override in any order"],
    [4, "precedence of relayer and dashboard addresses"],
    [5, "another relayer than the saved one is announced and never rewrites the file"],
    [6, "plain http to a host that is not loopback is announced"],
  ]),
  ...rules("13.2", [
    [1, "help and logout act and exit 0"],
    [2, "login runs in the foreground on a terminal"],
    [3, "under a host nothing missing ends the process"],
    [4, "auth-required mode lists the memory tools and svc_login"],
    [5, "a completed login is used at once and announced"],
    [6, "logout takes effect at once"],
    [7, "a 401 of the relayer keeps mode and file and explains itself"],
    [8, "a file changed by another process is reloaded"],
    [9, "initialize and ping are answered locally"],
    [10, "an unreachable relayer is named and tried again"],
  ]),
  ...rules("13.3", [
    [1, "auto tries Streamable HTTP and falls back to SSE on 404, 405, 501"],
    [2, "precedence of the default namespace"],
    [3, "login and logout never reach the relayer"],
    [4, "reconnects back off with jitter, at most 15 s apart"],
    [5, "a failed POST answers the waiting call"],
    [6, "writes carry an idempotency key and are never repeated without one"],
    [7, "the SSE reader takes LF and CRLF, and endpoints of the own origin only"],
    [8, "closed stdin ends the session and the process"],
  ]),
  ...rules("13.4", [
    [1, "login, logout and status"],
    [2, "remember, recall and namespaces"],
    [3, "export and import", exportImport],
    [4, "install writes a host's configuration, asks, keeps a backup, writes no secret"],
    [5, "--json gives machine output"],
    [6, "exit codes: 0, 1, 2, 3, 4"],
  ]),
  ...rules("14.1", [
    [1, "the directory is 0700 and the file 0600"],
    [2, "it is two-space JSON, written to a temporary file and renamed"],
    [3, "the keys of the table, with their forms"],
    [4, "an invalid or unreadable file is treated as absent and never deleted"],
    [5, "looser permissions are tightened with a warning"],
    [6, "unknown keys are kept"],
  ]),
  ...rules("14.2", [
    [1, "a new key, a loopback listener, a random state; old credentials stay until success"],
    [2, "the URL has port, publicKey, delegateAddress, label, relayer and state"],
    [3, "the dashboard checks the parameters and refuses a foreign relayer"],
    [4, "a proof of possession is made for registries that want one"],
    [5, "the callback writes the file, answers Connected and closes the listener"],
    [6, "the checks of the listener, in order"],
    [7, "a failed check leaves listener and credentials"],
    [8, "a URL works once; at most three are open"],
  ]),
];
