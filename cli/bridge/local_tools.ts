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

/** Memory tools, for keys that may manage memories and for the others. */
function memoryTools(mayManage: boolean): Members[] {
  return TOOL_NAMES.flatMap((name) => {
    const { manages = false, ...definition } = TOOL_DEFINITIONS[name];
    return manages && !mayManage ? [] : [{ name: PREFIX + name, ...definition }];
  });
}

const LOGIN: Members = {
  name: LOCAL_TOOL.login,
  title: "Sign in",
  description:
    "Lets the user sign in with a browser. Answers at once with an address, valid for 5 minutes: " +
    "show it to the user. Each call makes a new one.",
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
    "Signs this computer out. The account still lists its key: that is removed on the dashboard.",
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: false,
  },
  inputSchema: exactly({}),
  outputSchema: exactly({ removed: { type: "boolean" } }),
};

/**
 * The tools of a mode (docs/protocol.md#13.2). Hosts put off what is more than eight: whoever may
 * manage memories signs out before somebody else signs in.
 */
export function toolsOf(signedIn: boolean, mayManage: boolean): readonly Members[] {
  const own = signedIn ? mayManage ? [LOGOUT] : [LOGIN, LOGOUT] : [LOGIN];
  return [...memoryTools(mayManage), ...own];
}

/** Every tool, for what describes them. */
export const ALL_TOOLS: readonly Members[] = [...memoryTools(true), LOGIN, LOGOUT];
