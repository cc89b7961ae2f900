import { createHash } from "node:crypto";
import type { Embedder } from "../../../src/interfaces/mod.ts";

/** One request the server got. */
export interface OllamaRequest {
  /** Path. */
  readonly path: string;
  /** Body, parsed. */
  readonly body: Record<string, unknown>;
}

/** What the server is made of. */
export interface OllamaServerOptions {
  /** Embedding models by the name with its tag. */
  readonly embedders?: Readonly<Record<string, Embedder>>;
  /** Chat models by the name with its tag. */
  readonly chats?: Readonly<Record<string, (messages: unknown) => string>>;
  /** Longest input of an embedding in characters. */
  readonly longest?: number;
}

/**
 * A server on loopback that answers in the shapes recorded from Ollama 0.6: its embeddings are those
 * of real embedders, so that what is found through it means something.
 */
export class OllamaServer implements AsyncDisposable {
  /** Raised when the models are pulled anew. */
  pulls = 0;
  /** What was asked so far. */
  readonly requests: OllamaRequest[] = [];
  readonly #options: OllamaServerOptions;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  /** Listens at once; on a port of its own, or on the one given. */
  constructor(options: OllamaServerOptions, port = 0) {
    this.#options = options;
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port, onListen() {} },
      (request) => this.#answer(request),
    );
  }

  /** Address. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  /** Port. */
  get port(): number {
    return this.#server.addr.port;
  }

  /** Stops listening; the embedders stay. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    const body: Record<string, unknown> = text === "" ? {} : JSON.parse(text);
    this.requests.push({ path, body });
    if (path === "/api/tags") return Response.json({ models: this.#tags() });
    const name = String(body["model"]);
    const model = name.includes(":") ? name : `${name}:latest`;
    if (path === "/api/show") return this.#has(model) ? Response.json(details()) : missing(name);
    if (path === "/api/embed") return await this.#embed(name, model, body);
    if (path === "/api/chat") return this.#chat(name, model, body);
    return new Response("404 page not found", { status: 404 });
  }

  #has(model: string): boolean {
    return model in (this.#options.embedders ?? {}) || model in (this.#options.chats ?? {});
  }

  #tags(): unknown[] {
    const { embedders = {}, chats = {} } = this.#options;
    return [...Object.keys(embedders), ...Object.keys(chats)].map((name) => ({
      name,
      model: name,
      modified_at: "2026-01-05T10:12:13.000000000+01:00",
      size: 274302450,
      digest: createHash("sha256").update(`${name} ${this.pulls}`).digest("hex"),
      details: details().details,
    }));
  }

  async #embed(name: string, model: string, body: Record<string, unknown>): Promise<Response> {
    const embedder = this.#options.embedders?.[model];
    if (embedder === undefined) return missing(name);
    const input = body["input"] as readonly string[];
    const { longest = Infinity } = this.#options;
    if (body["truncate"] === false && input.some((text) => text.length > longest)) {
      return Response.json({ error: "the input length exceeds the context length" }, {
        status: 400,
      });
    }
    const windows = await embedder.embed(input, { purpose: "document" });
    return Response.json({
      model: name,
      embeddings: windows.map(mean),
      total_duration: 14143917,
      load_duration: 1019500,
      prompt_eval_count: 8,
    });
  }

  #chat(name: string, model: string, body: Record<string, unknown>): Response {
    const chat = this.#options.chats?.[model];
    if (chat === undefined) return missing(name);
    return Response.json({
      model: name,
      created_at: "2026-01-05T09:12:13.000000000Z",
      message: { role: "assistant", content: chat(body["messages"]) },
      done: true,
      done_reason: "stop",
      total_duration: 5191566416,
      load_duration: 2154458,
      prompt_eval_count: 26,
      eval_count: 12,
    });
  }
}

/** One direction for all windows: the server embeds an input whole. */
function mean(windows: readonly Float32Array[]): number[] {
  const sum = new Float64Array(windows[0]!.length);
  for (const window of windows) window.forEach((value, i) => sum[i] = sum[i]! + value);
  const length = Math.hypot(...sum);
  return Array.from(sum, (value) => value / length);
}

function missing(name: string): Response {
  return Response.json({ error: `model "${name}" not found, try pulling it first` }, {
    status: 404,
  });
}

function details() {
  return {
    details: {
      parent_model: "",
      format: "gguf",
      family: "nomic-bert",
      families: ["nomic-bert"],
      parameter_size: "137M",
      quantization_level: "F16",
    },
  };
}
