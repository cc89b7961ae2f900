import { within } from "../../src/deadline.ts";
import type { Logger } from "../../src/log.ts";
import {
  INSTRUCTIONS,
  SERVER_NAME,
  SESSION_REVISIONS,
  SESSIONLESS_REVISION,
} from "../../src/wire/mcp.ts";
import {
  errorOf,
  isId,
  isMembers,
  isNotification,
  isRequest,
  isResponse,
  type Members,
  metaOf,
  notification,
  type RequestId,
  resultOf,
  RPC,
  type RpcError,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from "./json_rpc.ts";
import { CARD_CAPABILITIES, cardAnswer, resultForCard, toolsWithCard } from "./card.ts";
import { capabilitiesIn, showsCard } from "../../src/wire/card/review_card.ts";
import { reasonOf } from "./failures.ts";
import { linesOf, TOO_LONG } from "./lines.ts";

/** Longest line of a host, in bytes: 8 MiB. */
const LINE_BYTES = 8_388_608;
/** How long calls under way may take to finish after the host has gone, in milliseconds. */
const GRACE_MS = 2000;
const UNSUPPORTED = "Unsupported protocol version";
const LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

const META = "io.modelcontextprotocol/";

/** What a request says about its revision: one with sessions, or the name of one without. */
type Era = "session" | "sessionless" | { readonly unsupported: string };

/** The era of a request: a request of the sessionless revision names it in its `_meta`. */
function eraOf(params: Members | undefined): Era {
  const claim = metaOf(params)[`${META}protocolVersion`];
  if (claim === undefined) return "session";
  if (claim === SESSIONLESS_REVISION) return "sessionless";
  return { unsupported: typeof claim === "string" ? claim.slice(0, 64) : "unknown" };
}

/** Name of the host, where a message tells it. */
function hostNameOf(params: Members | undefined): string | undefined {
  const info = params?.clientInfo ?? metaOf(params)[`${META}clientInfo`];
  const name: unknown = typeof info === "object" && info !== null ? Reflect.get(info, "name") : "";
  return typeof name === "string" && name !== "" ? name : undefined;
}

const CAPABILITIES = { tools: { listChanged: true }, logging: {} };
const HOW =
  " If a tool says that nobody is signed in, call svc_login and show the user the address.";

/** The result of `initialize`: the requested revision where it is supported, else the newest. */
function initializeResult(
  params: Members | undefined,
  version: string,
  capabilities: Members,
): Members {
  const wanted = params?.protocolVersion;
  const known = SESSION_REVISIONS.find((revision) => revision === wanted);
  return {
    protocolVersion: known ?? SESSION_REVISIONS[0],
    capabilities,
    serverInfo: { ...SERVER_NAME, version },
    instructions: INSTRUCTIONS + HOW,
  };
}

function discoverResult(capabilities: Members): Members {
  return {
    supportedVersions: [SESSIONLESS_REVISION],
    capabilities,
    instructions: INSTRUCTIONS + HOW,
  };
}

/** Methods whose results may be cached, so that they say for how long. */
const CACHEABLE = ["server/discover", "tools/list", "resources/list", "resources/read"];

/** A result with what the sessionless revision wants of every result. */
function sessionlessResult(method: string, result: Members, version: string): Members {
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
function subscribed(id: string | number, params: Members = {}): Members {
  return { ...params, _meta: { [`${META}subscriptionId`]: id } };
}

/** Result or error of a request. */
export type Answer = { readonly result: Members } | { readonly error: RpcError };

export interface HostOptions {
  readonly version: string;
  /** Takes one line for the host, its line end included. */
  readonly write: (line: string) => void;
  readonly tools: () => Promise<readonly Members[]>;
  /** Answers `tools/call` and every other method that `Host` does not answer; never rejects. */
  readonly call: (method: string, params: Members | undefined, signal: AbortSignal) => Promise<
    Answer
  >;
  /** Receives notifications that are not meant for the bridge. */
  readonly notify: (method: string, params: Members | undefined) => void;
  /** Must not write to standard output, which belongs to the host. */
  readonly logger: Logger;
}

/** The host's end: newline-delimited JSON-RPC of every revision. */
export class Host {
  readonly #options: HostOptions;
  /** Requests under way, with their progress tokens. */
  readonly #active = new Map<RequestId, { controller: AbortController; token: unknown }>();
  readonly #work = new Set<Promise<unknown>>();
  /** Subscriptions of the sessionless revision to changes of the tools. */
  readonly #subscriptions = new Set<RequestId>();
  #initialized = false;
  #level = LEVELS.indexOf("info");
  #name: string | undefined;
  /** What it says it can do when it begins a session. */
  #declared: unknown;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  /** What the host calls itself. */
  get name(): string | undefined {
    return this.#name;
  }

  /** Serves until the input ends, and what is under way then, for a moment. */
  async serve(input: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const line of linesOf(input, LINE_BYTES)) {
        if (line === TOO_LONG) {
          this.#write(errorOf(null, RPC.parse, "The message is too long"));
        } else if (line.trim() !== "") this.#take(line);
      }
    } catch (error) {
      // A host that dies may break its end instead of closing it.
      this.#options.logger.info("input broke", { reason: reasonOf(error) });
    }
    await within(GRACE_MS, Promise.all(this.#work));
    for (const { controller } of this.#active.values()) {
      controller.abort(new Error("The host left"));
    }
  }

  #write(message: RpcMessage | readonly RpcMessage[]): void {
    this.#options.write(JSON.stringify(message) + "\n");
  }

  #take(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#write(errorOf(null, RPC.parse, "The message is not JSON"));
    }
    const work = Array.isArray(message)
      ? this.#batch(message)
      : this.#answer(message).then((answer) => answer && this.#write(answer));
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  async #batch(messages: readonly unknown[]): Promise<void> {
    if (messages.length === 0) {
      return this.#write(errorOf(null, RPC.invalidRequest, "The batch is empty"));
    }
    const answers = await Promise.all(messages.map((message) => this.#answer(message)));
    const given = answers.filter((answer) => answer !== undefined);
    if (given.length > 0) this.#write(given);
  }

  async #answer(message: unknown): Promise<RpcResponse | undefined> {
    if (isRequest(message)) return await this.#request(message);
    if (isNotification(message)) return void this.#notification(message);
    // The bridge asks hosts nothing, so that an answer is to nobody.
    if (isResponse(message)) return undefined;
    const id = isMembers(message) && isId(message.id) ? message.id : null;
    return errorOf(id, RPC.invalidRequest, "The message is not JSON-RPC");
  }

  async #request(request: RpcRequest): Promise<RpcResponse | undefined> {
    const { id, method, params } = request;
    const era = eraOf(params);
    if (typeof era === "object") {
      const data = { supported: [SESSIONLESS_REVISION], requested: era.unsupported };
      return errorOf(id, RPC.unsupportedRevision, UNSUPPORTED, data);
    }
    if (this.#active.has(id)) return errorOf(id, RPC.invalidRequest, "The id is in use");
    if (era === "sessionless") {
      this.#name = hostNameOf(params) ?? this.#name;
      if (method === "subscriptions/listen") return this.#listen(id, params);
    }
    const controller = new AbortController();
    this.#active.set(id, { controller, token: metaOf(params).progressToken });
    const started = Date.now();
    try {
      const answer = await this.#serveMethod(method, params, era, controller.signal);
      if (controller.signal.aborted) return undefined;
      const ms = Date.now() - started;
      this.#options.logger.debug("request", { method: method.slice(0, 64), ms });
      if ("error" in answer) return { jsonrpc: "2.0", id, error: answer.error };
      const { result } = answer;
      const { version } = this.#options;
      return resultOf(
        id,
        era === "session" ? result : sessionlessResult(method, result, version),
      );
    } finally {
      this.#active.delete(id);
    }
  }

  #serveMethod(
    method: string,
    params: Members | undefined,
    era: "session" | "sessionless",
    signal: AbortSignal,
  ): Promise<Answer> | Answer {
    const { version, call } = this.#options;
    if (method === "ping") return { result: {} };
    if (method === "initialize" && era === "session") this.#declared = params?.capabilities;
    const hasCard = showsCard(era === "session" ? this.#declared : capabilitiesIn({ params }));
    const capabilities = hasCard ? { ...CAPABILITIES, ...CARD_CAPABILITIES } : CAPABILITIES;
    if (hasCard) {
      const answer = this.#withCard(method, params, signal);
      if (answer !== undefined) return answer;
    }
    if (method === "tools/list") return this.#tools();
    if (era === "sessionless") {
      if (method === "server/discover") return { result: discoverResult(capabilities) };
    } else if (method === "initialize") {
      this.#name = hostNameOf(params) ?? this.#name;
      return { result: initializeResult(params, version, capabilities) };
    } else if (method === "logging/setLevel") {
      const level = LEVELS.indexOf(String(params?.level));
      if (level < 0) return { error: { code: RPC.invalidParams, message: "level is unknown" } };
      this.#level = level;
      return { result: {} };
    }
    return call(method, params, signal);
  }

  async #tools(): Promise<Answer> {
    return { result: { tools: await this.#options.tools() } };
  }

  /** Answers what is different for a host that shows the card. */
  #withCard(
    method: string,
    params: Members | undefined,
    signal: AbortSignal,
  ): Promise<Answer> | Answer | undefined {
    const { tools, call } = this.#options;
    if (method === "tools/list") {
      return tools().then((listed) => ({ result: { tools: toolsWithCard(listed) } }));
    }
    if (method !== "tools/call") return cardAnswer(method, params);
    return call(method, params, signal).then(async (answer) => {
      if ("error" in answer) return answer;
      return { result: resultForCard(params?.name, answer.result, await tools()) };
    });
  }

  #listen(id: RequestId, params: Members | undefined): RpcResponse | undefined {
    const wanted = params?.notifications;
    if (!isMembers(wanted)) return errorOf(id, RPC.invalidParams, "notifications is missing");
    const honoured = wanted.toolsListChanged === true ? { toolsListChanged: true } : {};
    this.#write(notification(
      "notifications/subscriptions/acknowledged",
      subscribed(id, { notifications: honoured }),
    ));
    if (wanted.toolsListChanged === true) this.#subscriptions.add(id);
    else return resultOf(id, { resultType: "complete", ...subscribed(id) });
  }

  #notification({ method, params }: RpcNotification): void {
    if (method === "notifications/initialized") {
      this.#initialized = true;
    } else if (method === "notifications/cancelled") {
      const id = params?.requestId as RequestId;
      this.#subscriptions.delete(id);
      this.#active.get(id)?.controller.abort(new Error("The host cancelled the request"));
    } else this.#options.notify(method, params);
  }

  toolsChanged(): void {
    const method = "notifications/tools/list_changed";
    if (this.#initialized) this.#write(notification(method));
    for (const id of this.#subscriptions) this.#write(notification(method, subscribed(id)));
  }

  /** Sends the host's user a message, where the host's revision and level let it pass. */
  say(level: "info" | "error", text: string): void {
    if (!this.#initialized || LEVELS.indexOf(level) < this.#level) return;
    this.#write(notification("notifications/message", { level, logger: "svc", data: text }));
  }

  /** Passes on what the relayer says, where a host may hear it. */
  hear({ method, params }: RpcNotification): void {
    if (method === "notifications/progress") {
      const wanted = params?.progressToken;
      const isWanted = [...this.#active.values()].some(({ token }) => token === wanted);
      if (wanted !== undefined && isWanted) this.#write(notification(method, params));
    } else if (method === "notifications/message") {
      const level = LEVELS.indexOf(String(params?.level));
      if (this.#initialized && level >= this.#level) this.#write(notification(method, params));
    }
  }
}
