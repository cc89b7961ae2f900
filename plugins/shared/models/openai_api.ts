/**
 * The part of the npm package `openai` 7 that is used here. Its own type declarations refer to
 * packages that are not installed with it, which the compiler warns about a hundred times.
 */

/** What a client is made with. */
interface OpenAIClientOptions {
  /** Base of the routes. */
  readonly baseURL: string;
  /** API key. */
  readonly apiKey: string;
  /** Key of an administrator; looked for in the environment unless null. */
  readonly adminAPIKey: string | null;
  /** Organisation; looked for in the environment unless null. */
  readonly organization: string | null;
  /** Project; looked for in the environment unless null. */
  readonly project: string | null;
  /** Secret of webhooks; looked for in the environment unless null. */
  readonly webhookSecret: string | null;
  /** What the client itself logs. */
  readonly logLevel: "off";
  /** How often the client itself tries again. */
  readonly maxRetries: number;
  /** Sends requests. */
  readonly fetch: typeof globalThis.fetch;
}

/** Body of a request for embeddings. */
interface EmbeddingRequest {
  /** Name of the model. */
  readonly model: string;
  /** Texts. */
  readonly input: readonly string[];
  /** How vectors are written. */
  readonly encoding_format: "float";
  /** Length of the vectors, where the model can shorten them. */
  readonly dimensions?: number;
}

/** How an answer is to be written. */
export type ResponseFormat =
  | { readonly type: "json_object" }
  | {
    readonly type: "json_schema";
    readonly json_schema: {
      readonly name: string;
      readonly schema: Readonly<Record<string, unknown>>;
    };
  };

/** Body of a request for chat. */
export interface ChatRequest {
  /** Name of the model. */
  readonly model: string;
  /** The conversation. */
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** 0 to 2. */
  readonly temperature?: number;
  /** Longest answer in tokens. */
  readonly max_tokens?: number;
  /** The same, as OpenAI itself calls it now. */
  readonly max_completion_tokens?: number;
  /** How the answer is to be written. */
  readonly response_format?: ResponseFormat;
}

/** A client. What servers answer is not to be trusted, hence the unknowns. */
export interface OpenAIClient {
  /** Embeddings. */
  readonly embeddings: {
    /** Asks for vectors. */
    create(request: EmbeddingRequest): Promise<{ readonly data?: unknown }>;
  };
  /** Models. */
  readonly models: {
    /** Asks which there are. */
    list(): PromiseLike<{ readonly data?: unknown }>;
  };
  /** Chat. */
  readonly chat: {
    /** Answers. */
    readonly completions: {
      /** Asks for one. */
      create(request: ChatRequest): Promise<{ readonly choices?: unknown }>;
    };
  };
}

declare const OpenAI: new (options: OpenAIClientOptions) => OpenAIClient;
export default OpenAI;
