import type { ChatMessage, ChatOptions } from "../../../src/interfaces/mod.ts";
import type { ChatRequest, OpenAIClient, ResponseFormat } from "./openai_api.ts";
import { failureOf } from "../upstream_failure.ts";

/**
 * Chat over the OpenAI protocol. What a server refuses once of the ways to ask for JSON it is not
 * asked for again: some know no schemas, some know nothing else. So it is with a temperature, which
 * models that reason first refuse.
 */
export class OpenAIChat {
  readonly #client: (fetch: typeof globalThis.fetch) => OpenAIClient;
  readonly #model: string;
  readonly #isOpenAI: boolean;
  readonly #refused = new Set<ResponseFormat["type"]>();
  /** Not known before the first answer. */
  #takesTemperature: boolean | undefined;

  /** `isOpenAI`: it is OpenAI itself, which has renamed a member that the others still need. */
  constructor(
    client: (fetch: typeof globalThis.fetch) => OpenAIClient,
    model: string,
    isOpenAI: boolean,
  ) {
    this.#client = client;
    this.#model = model;
    this.#isOpenAI = isOpenAI;
  }

  /** One call, and another one for each way to ask for JSON that the server refuses. */
  async chat(
    messages: readonly ChatMessage[],
    options: ChatOptions,
    fetch: typeof globalThis.fetch,
  ): Promise<unknown> {
    const { temperature, maxTokens } = options;
    const limit = this.#isOpenAI ? "max_completion_tokens" : "max_tokens";
    const body: ChatRequest = {
      model: this.#model,
      messages: [...messages],
      ...(temperature === undefined || this.#takesTemperature === false ? {} : { temperature }),
      ...(maxTokens === undefined ? {} : { [limit]: maxTokens }),
    };
    const completions = this.#client(fetch).chat.completions;
    const tried: ResponseFormat["type"][] = [];
    for (const format of formats(options)) {
      if (this.#refused.has(format.type)) continue;
      try {
        const answer = await this.#create(completions, { ...body, response_format: format });
        for (const type of tried) this.#refused.add(type);
        return contentOf(answer);
      } catch (error) {
        if (!failureOf(error).refusesInput) throw error;
        tried.push(format.type);
      }
    }
    const answer = await this.#create(completions, body);
    // Only now it is known that the format was refused, and not the messages.
    for (const type of tried) this.#refused.add(type);
    return contentOf(answer);
  }

  /** One call; another one without the temperature where that may be what is refused. */
  async #create(
    completions: OpenAIClient["chat"]["completions"],
    body: ChatRequest,
  ): ReturnType<OpenAIClient["chat"]["completions"]["create"]> {
    const { temperature, ...plain } = body;
    // A call of before may have found out meanwhile.
    const given = this.#takesTemperature === false ? plain : body;
    try {
      const answer = await completions.create(given);
      if (given === body && temperature !== undefined) this.#takesTemperature = true;
      return answer;
    } catch (error) {
      const mayHelp = given === body && temperature !== undefined && !this.#takesTemperature;
      if (!mayHelp || !failureOf(error).refusesInput) throw error;
      const answer = await completions.create(plain);
      this.#takesTemperature = false;
      return answer;
    }
  }
}

/** Ways to ask for JSON, the strictest first. */
function formats({ json, schema }: ChatOptions): ResponseFormat[] {
  const object: ResponseFormat = { type: "json_object" };
  if (schema === undefined) return json ? [object] : [];
  return [
    { type: "json_schema", json_schema: { name: "answer", schema: { ...schema } } },
    object,
  ];
}

function contentOf({ choices }: { readonly choices?: unknown }): unknown {
  return Array.isArray(choices) ? choices[0]?.message?.content : undefined;
}
