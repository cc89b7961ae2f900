/**
 * The part of the npm package `openai` 7 that is used here. Its own type declarations refer to
 * packages that are not installed with it, which the compiler warns about a hundred times.
 */

interface OpenAIClientOptions {
  readonly baseURL: string;
  readonly apiKey: string;
  /** This and the next three are looked for in the environment unless null. */
  readonly adminAPIKey: string | null;
  readonly organization: string | null;
  readonly project: string | null;
  readonly webhookSecret: string | null;
  readonly logLevel: "off";
  /** How often the client itself tries again. */
  readonly maxRetries: number;
  readonly fetch: typeof globalThis.fetch;
}

interface EmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly encoding_format: "float";
  /** Length of the vectors, where the model can shorten them. */
  readonly dimensions?: number;
}

export type ResponseFormat =
  | { readonly type: "json_object" }
  | {
    readonly type: "json_schema";
    readonly json_schema: {
      readonly name: string;
      readonly schema: Readonly<Record<string, unknown>>;
    };
  };

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** 0 to 2. */
  readonly temperature?: number;
  /** Longest answer in tokens. */
  readonly max_tokens?: number;
  /** The same, as OpenAI itself calls it now. */
  readonly max_completion_tokens?: number;
  readonly response_format?: ResponseFormat;
}

/** A client. What servers answer is not to be trusted, hence the unknowns. */
export interface OpenAIClient {
  readonly embeddings: {
    create(request: EmbeddingRequest): Promise<{ readonly data?: unknown }>;
  };
  readonly models: {
    list(): PromiseLike<{ readonly data?: unknown }>;
  };
  readonly chat: {
    readonly completions: {
      create(request: ChatRequest): Promise<{ readonly choices?: unknown }>;
    };
  };
}

declare const OpenAI: new (options: OpenAIClientOptions) => OpenAIClient;
export default OpenAI;
