import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { pause } from "../../src/deadline.ts";
import { poll } from "../within.ts";
import type { OwnerKey } from "./owners.ts";

/** Until when an answer must have come, milliseconds. */
const ANSWER_MS = 8_000;
const PATIENCE_MS = 60_000;

/** An app that remembers and recalls by MCP; when its session is lost it begins another one. */
export class App {
  readonly #url: URL;
  readonly #key: OwnerKey;
  #client: Client | undefined;
  #count = 0;
  #lastBegun = -Infinity;
  /** Sessions that it began. */
  sessions = 0;
  /** What it was told is remembered. */
  readonly texts: string[] = [];
  /** How many of its calls were not answered, by what they were to remember. */
  readonly #unanswered = new Map<string, number>();

  constructor(base: string, key: OwnerKey) {
    this.#url = new URL(`${base}/api/mcp`);
    this.#key = key;
  }

  /** Whether a call was answered that was begun after a time of `performance`. */
  isServedSince(time: number): boolean {
    return this.#lastBegun >= time;
  }

  /**
   * What is there too often. A call that broke off may have been accepted: nothing in MCP says that it
   * is sent again, and whether its text is there already is looked at where that takes no time.
   */
  doubled(there: readonly string[]): string[] {
    const counts = Map.groupBy(there, (text) => text);
    return [...counts].flatMap(([text, { length }]) =>
      length > 1 + (this.#unanswered.get(text) ?? 0) ? [text] : []
    );
  }

  /**
   * Remembers something and recalls it.
   *
   * @throws {Error} when it is not found.
   */
  async step(): Promise<void> {
    const word = `app${this.#count++}x${crypto.randomUUID().slice(0, 8)}`;
    const text = `The app saw ${word}`;
    await this.#call("svc_remember", { text });
    this.texts.push(text);
    const found = await poll(
      () => this.#call("svc_recall", { query: word }),
      (answer) => !answer.includes("still being indexed"),
    );
    if (!found.includes(text)) throw new Error(`what was remembered is not found: ${found}`);
  }

  async end(): Promise<void> {
    await this.#client?.close();
  }

  async #call(name: string, args: Readonly<Record<string, string>>): Promise<string> {
    const start = performance.now();
    for (;;) {
      const begun = performance.now();
      try {
        const client = this.#client ??= await this.#begin();
        // When an answer breaks off the SDK says so, and else waits for its own timeout.
        const broken = new AbortController();
        client.onerror = (error: Error) => broken.abort(error);
        const options = { timeout: ANSWER_MS, signal: broken.signal };
        const result = await client.callTool({ name, arguments: args }, undefined, options);
        if (result.isError) throw new Error(JSON.stringify(result.content));
        this.#lastBegun = begun;
        return JSON.stringify(result);
      } catch (error) {
        const { text } = args;
        if (text !== undefined) {
          this.#unanswered.set(text, (this.#unanswered.get(text) ?? 0) + 1);
        }
        await this.#client?.close().catch(() => {});
        this.#client = undefined;
        if (performance.now() - start > PATIENCE_MS) throw error;
        await pause(50);
      }
    }
  }

  async #begin(): Promise<Client> {
    const { privateKey, accountId } = this.#key;
    const headers = { authorization: `Bearer ${privateKey}`, "x-svc-account-id": accountId };
    const client = new Client({ name: "app", version: "1" });
    const transport = new StreamableHTTPClientTransport(this.#url, { requestInit: { headers } });
    await client.connect(transport, { timeout: ANSWER_MS });
    this.sessions++;
    return client;
  }
}
