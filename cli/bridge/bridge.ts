import { within } from "../../src/deadline.ts";
import type { LoginRequests } from "../login/login.ts";
import {
  cutLabel,
  DEFAULT_LABEL,
  resolveSettings,
  type Settings,
  type SettingsInput,
} from "../settings.ts";
import { fitted } from "./fitted_result.ts";
import { type Answer, Host, type HostOptions } from "./host.ts";
import { isMembers, type Members, RPC, type RpcResponse } from "./json_rpc.ts";
import { LOCAL_TOOL, toolsOf } from "./local_tools.ts";
import { LoginTools } from "./login_tools.ts";
import type { ReconnectingSessionOptions } from "./reconnecting_session.ts";
import { Remote } from "./remote.ts";
import { SavedCredentials } from "./saved_credentials.ts";
import type { Upstream } from "./sessions/session.ts";
import { memoryTool, prepareCall } from "./tool_calls.ts";
import { explain, failure, isRejection, notSignedIn } from "./tool_results.ts";

/** Longest wait of a list of tools for the relayer, milliseconds. */
const TOOLS_MS = 700;

export interface BridgeOptions
  extends
    Pick<SettingsInput, "args" | "env">,
    Pick<HostOptions, "version" | "write" | "logger">,
    Partial<Pick<Upstream, "fetch">>,
    Pick<ReconnectingSessionOptions, "pause"> {
  readonly input: AsyncIterable<Uint8Array>;
  /** Path of the credentials file; `undefined` when there is no folder for it. */
  readonly credentialsPath: string | undefined;
  /** Makes the object that opens logins; called at the first login. */
  readonly openLogins: (credentialsPath: string) => LoginRequests;
  /** Opens a browser; `false` when it was not tried. */
  readonly openBrowser: (url: string) => boolean;
}

/** The stdio package under an MCP host (docs/protocol.md#13.2 and #13.3). */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #saved: SavedCredentials;
  readonly #host: Host;
  readonly #logins: LoginTools;
  readonly #noted = new Set<string>();
  /** What is remembered until the host ends the bridge was said in one session. */
  readonly #session = crypto.randomUUID();
  /** Resolves once the credentials have been looked at. */
  #ready: Promise<void> = Promise.resolve();
  #settings: Settings;
  #remote: Remote | undefined;

  constructor(options: BridgeOptions) {
    this.#options = options;
    const { logger, version, write, credentialsPath, openLogins } = options;
    this.#settings = this.#resolve();
    this.#saved = new SavedCredentials(credentialsPath, logger);
    this.#host = new Host({
      version,
      write,
      logger,
      tools: async () => {
        await this.#ready;
        const isSignedIn = this.#saved.current !== undefined;
        return toolsOf(isSignedIn, isSignedIn && await this.#mayManage());
      },
      call: (method, params, signal) => this.#call(method, params, signal),
      notify: (method, params) => this.#remote?.notify(method, params),
    });
    this.#logins = new LoginTools({
      openLogins: credentialsPath === undefined ? undefined : () => openLogins(credentialsPath),
      target: () => ({
        relayer: this.#settings.relayer,
        webUrl: this.#settings.webUrl,
        label: this.#settings.label ?? (cutLabel(this.#host.name ?? "") || DEFAULT_LABEL),
      }),
      openBrowser: (url) => this.#settings.browser && options.openBrowser(url),
      saved: this.#saved,
      say: (level, text) => this.#host.say(level, text),
    });
  }

  /** Serves until the input ends. */
  async run(): Promise<void> {
    const { logger, version } = this.#options;
    logger.info("started", { version });
    this.#ready = this.#start();
    await this.#host.serve(this.#options.input);
    await this.close();
    logger.info("ended");
  }

  async #start(): Promise<void> {
    if (this.#settings.login) await this.#saved.ignore();
    await this.#saved.refresh();
    this.#connect();
    this.#saved.onChange = () => {
      this.#connect();
      this.#host.toolsChanged();
    };
    this.#saved.watch();
  }

  /** Ends sessions and logins, and stops watching the file. */
  async close(): Promise<void> {
    await this.#ready;
    await Promise.all([
      this.#saved.stop(),
      this.#logins.close(),
      this.#remote?.close("now"),
    ]);
  }

  #resolve(): Settings {
    const { args, env } = this.#options;
    return resolveSettings({ args, env, saved: this.#saved?.addresses });
  }

  /** Says each thing once. */
  #note(texts: readonly string[]): void {
    for (const text of texts) {
      if (this.#noted.has(text)) continue;
      this.#noted.add(text);
      this.#options.logger.warn("note", { reason: text });
    }
  }

  /** Connects with the current credentials; calls under way keep the ones they started with. */
  #connect(): void {
    const { logger, version } = this.#options;
    const credentials = this.#saved.current;
    const settings = this.#settings = this.#resolve();
    this.#note([
      ...settings.unknownFlags.map((flag) => `The flag ${flag} is unknown and ignored.`),
      ...settings.problems.map(({ message }) => `${message} It is not used.`),
      ...settings.notices,
    ]);
    void this.#remote?.close("idle");
    this.#remote = undefined;
    logger.info("mode", {
      state: credentials === undefined ? "auth-required" : "signed-in",
      url: settings.relayer,
      reason: this.#saved.reason,
    });
    if (credentials === undefined) return;
    this.#remote = new Remote({
      settings,
      credentials,
      version,
      fetch: this.#options.fetch ?? ((url, init) => fetch(url, init)),
      heard: (message) => this.#host.hear(message),
      logger,
      pause: this.#options.pause,
    });
    this.#remote.connect();
  }

  /** Whether the key may correct and forget memories; a host is told when that is known too late. */
  async #mayManage(): Promise<boolean> {
    const remote = this.#remote;
    if (remote === undefined) return false;
    const asked = remote.mayManage();
    const known = await within(TOOLS_MS, asked);
    if (known === undefined) {
      void asked.then((may) => {
        if (may && this.#remote === remote) this.#host.toolsChanged();
      });
    }
    return known ?? false;
  }

  async #call(
    method: string,
    params: Members | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    const tool = method === "tools/call" ? params?.name : undefined;
    if (tool === LOCAL_TOOL.login || tool === LOCAL_TOOL.logout) {
      return { result: await this.#callLocal(tool, params?.arguments) };
    }
    await this.#ready;
    await this.#saved.refresh();
    const remote = this.#remote;
    if (remote === undefined) return this.#refuse(method, tool);
    const { relayer, namespace } = this.#settings;
    const defaults = { namespace, session: this.#session };
    const prepared = prepareCall(method, params, defaults, () => crypto.randomUUID());
    try {
      return answerOf(tool, await remote.call(prepared, signal), relayer);
    } catch (thrown) {
      const explained = explain(thrown, relayer);
      if (isRejection(thrown) && remote.rejected()) this.#host.toolsChanged();
      if (!signal.aborted) {
        this.#options.logger.warn("call failed", { method, code: explained.code });
      }
      if (tool !== undefined) return { result: failure(explained) };
      const { message, code } = explained;
      const number = isRejection(thrown) ? RPC.unauthorized : RPC.server;
      return { error: { code: number, message, data: { code } } };
    }
  }

  /** The answer while nobody is signed in. */
  #refuse(method: string, tool: unknown): Answer {
    if (memoryTool(tool) !== undefined) return { result: failure(notSignedIn(this.#saved.reason)) };
    return method === "tools/call"
      ? { error: { code: RPC.invalidParams, message: "Unknown tool" } }
      : { error: { code: RPC.methodNotFound, message: "Method not found" } };
  }

  async #callLocal(tool: string, given: unknown): Promise<Members> {
    const fits = given === undefined || given === null ||
      isMembers(given) && Object.keys(given).length === 0;
    if (!fits) {
      const text = `MCP error -32602: Invalid arguments for tool ${tool}: it takes none`;
      return { content: [{ type: "text", text }], isError: true };
    }
    await this.#ready;
    return tool === LOCAL_TOOL.login ? await this.#logins.login() : await this.#logins.logout();
  }
}

/** What the relayer answered, as the tools that are listed here have it. */
function answerOf(
  name: unknown,
  { result = {}, error }: Pick<RpcResponse, "result" | "error">,
  relayer: string,
): Answer {
  const tool = memoryTool(name);
  if (tool === undefined) return error === undefined ? { result } : { error };
  if (error === undefined) return { result: fitted(tool, result) };
  if (error.code !== RPC.invalidParams) return { error };
  // Invalid arguments are a result, so that this says that there is no such tool.
  const message = `The relayer ${relayer} has no ${name} for your key: it is of an earlier ` +
    "version, or the key may not manage memories";
  return { result: failure({ message, code: "not_found" }) };
}
