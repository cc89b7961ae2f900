import {
  INSTRUCTIONS,
  SERVER_NAME,
  SESSION_REVISIONS,
  SESSIONLESS_REVISION,
} from "../../src/wire/mcp.ts";
import { type Members, metaOf } from "./json_rpc.ts";

const META = "io.modelcontextprotocol/";

/** What a request says about its revision: one with sessions, or the name of one without. */
type Era = "session" | "sessionless" | { readonly unsupported: string };

/** The era of a request: a request of the sessionless revision names it in its `_meta`. */
export function eraOf(params: Members | undefined): Era {
  const claim = metaOf(params)[`${META}protocolVersion`];
  if (claim === undefined) return "session";
  if (claim === SESSIONLESS_REVISION) return "sessionless";
  return { unsupported: typeof claim === "string" ? claim.slice(0, 64) : "unknown" };
}

/** Name of the host, where a message tells it. */
export function hostNameOf(params: Members | undefined): string | undefined {
  const info = params?.clientInfo ?? metaOf(params)[`${META}clientInfo`];
  const name: unknown = typeof info === "object" && info !== null ? Reflect.get(info, "name") : "";
  return typeof name === "string" && name !== "" ? name : undefined;
}

const CAPABILITIES = { tools: { listChanged: true }, logging: {} };
const HOW =
  " If a tool says that nobody is signed in, call svc_login and show the user the address.";

/** The result of `initialize`: the requested revision where it is supported, else the newest. */
export function initializeResult(params: Members | undefined, version: string): Members {
  const wanted = params?.protocolVersion;
  const known = SESSION_REVISIONS.find((revision) => revision === wanted);
  return {
    protocolVersion: known ?? SESSION_REVISIONS[0],
    capabilities: CAPABILITIES,
    serverInfo: { ...SERVER_NAME, version },
    instructions: INSTRUCTIONS + HOW,
  };
}

export function discoverResult(): Members {
  return {
    supportedVersions: [SESSIONLESS_REVISION],
    capabilities: CAPABILITIES,
    instructions: INSTRUCTIONS + HOW,
  };
}

/** Methods whose results may be cached, so that they say for how long. */
const CACHEABLE = ["server/discover", "tools/list"];

/** A result with what the sessionless revision wants of every result. */
export function sessionlessResult(method: string, result: Members, version: string): Members {
  const cache = CACHEABLE.includes(method) ? { ttlMs: 0, cacheScope: "private" } : {};
  return {
    resultType: "complete",
    ...cache,
    ...result,
    _meta: {
      ...metaOf(result),
      [`${META}serverInfo`]: { ...SERVER_NAME, version },
    },
  };
}

/** Parameters of a notification that belongs to a subscription. */
export function subscribed(id: string | number, params: Members = {}): Members {
  return { ...params, _meta: { [`${META}subscriptionId`]: id } };
}
