/** Members of JSON that somebody else sent. */
export type Members = Readonly<Record<string, unknown>>;

/** Of MCP Apps. */
const PROTOCOL_VERSION = "2026-01-26";

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What the host says of itself when it is greeted. */
export interface Greeting {
  /** What it lets the page do. */
  readonly hostCapabilities?: Members;
  /** Where and how the page is shown. */
  readonly hostContext?: Members;
}

/** What the page does with what the host tells it. */
export type Heard = Readonly<Record<string, (params: Members) => void>>;

interface Waiting {
  readonly resolve: (result: Members) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The page's end of MCP Apps: JSON-RPC with the window that shows it, and with no other. Nothing that
 * is heard is believed to have a shape.
 */
export class Host {
  readonly #window: Window;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  /** @param heard By the methods of the host's notifications. */
  constructor(window: Window, heard: Heard) {
    this.#window = window;
    window.addEventListener("message", ({ source, data }) => {
      if (source !== window.parent || !isMembers(data) || data.jsonrpc !== "2.0") return;
      const { id, method, params = {} } = data;
      if (typeof method !== "string") return this.#settle(data);
      // What it asks for ends well: the page has nothing to put away.
      if (id !== undefined) return this.#send({ id, result: {} });
      if (Object.hasOwn(heard, method) && isMembers(params)) heard[method]!(params);
    });
  }

  /** Says that the page is there; from now on it is told things. */
  async greet(): Promise<Greeting> {
    const greeting = await this.#ask("ui/initialize", {
      protocolVersion: PROTOCOL_VERSION,
      appInfo: { name: "svc-review", version: "1" },
      appCapabilities: {},
    });
    this.#tell("ui/notifications/initialized", {});
    return greeting;
  }

  /**
   * Calls a tool of the server that brought the page.
   *
   * @throws {Error} with what the host says when it refuses.
   */
  call(name: string, given: Members): Promise<Members> {
    return this.#ask("tools/call", { name, arguments: given });
  }

  /** Lets the model know what its user did here, where the host passes that on. */
  note(text: string): void {
    this.#ask("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {});
  }

  /** Says how large the page is, in pixels. */
  resized(width: number, height: number): void {
    this.#tell("ui/notifications/size-changed", { width, height });
  }

  #ask(method: string, params: Members): Promise<Members> {
    const id = ++this.#last;
    const answer = new Promise<Members>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    this.#send({ id, method, params });
    return answer;
  }

  #tell(method: string, params: Members): void {
    this.#send({ method, params });
  }

  #send(message: Members): void {
    // Whose page the frame is in is not known beforehand, and nothing secret is said.
    this.#window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  #settle({ id, result, error }: Members): void {
    const waiting = this.#waiting.get(Number(id));
    if (waiting === undefined) return;
    this.#waiting.delete(Number(id));
    if (isMembers(result)) return waiting.resolve(result);
    const said = isMembers(error) && typeof error.message === "string" ? error.message : "";
    waiting.reject(new Error(said || "The app refused"));
  }
}
