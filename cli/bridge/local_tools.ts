import { TOOL_DEFINITIONS, TOOL_NAMES } from "../../src/wire/tool_definitions.ts";
import type { Members } from "./json_rpc.ts";
import { PREFIX } from "./tool_calls.ts";

/** Names of the tools that never reach the relayer. */
export const LOCAL_TOOL = { login: "svc_login", logout: "svc_logout" } as const;

/** Schema of an object with exactly these members. */
function exactly(properties: Members): Members {
  const required = Object.keys(properties);
  return { type: "object", properties, required, additionalProperties: false };
}

const MEMORY_TOOLS: readonly Members[] = TOOL_NAMES
  .map((name) => ({ name: PREFIX + name, ...TOOL_DEFINITIONS[name] }));

const LOGIN: Members = {
  name: LOCAL_TOOL.login,
  title: "Sign in",
  description:
    "Opens a browser to sign in, or sign in again, with a blockchain wallet. Returns at " +
    "once with a one-time URL, valid for 5 minutes: show it to the user. Calling it again mints a " +
    "new URL.",
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  },
  inputSchema: exactly({}),
  outputSchema: exactly({ login_url: { type: "string" }, expires_at: { type: "string" } }),
};

const LOGOUT: Members = {
  name: LOCAL_TOOL.logout,
  title: "Sign out",
  description:
    "Deletes the local credentials file. The on-chain key is not revoked: that is done " +
    "on the dashboard.",
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  inputSchema: exactly({}),
  outputSchema: exactly({ removed: { type: "boolean" } }),
};

/** The tools of a mode (docs/protocol.md#13.2). */
export function toolsOf(signedIn: boolean): readonly Members[] {
  return [...MEMORY_TOOLS, LOGIN, ...(signedIn ? [LOGOUT] : [])];
}
