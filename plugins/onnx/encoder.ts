import "./without_location.ts";
// @ts-types="./library_api.ts"
import runtime from "onnxruntime-web/wasm";
import { dirname, relative } from "node:path/posix";
import type { Session, Tensor } from "./library_api.ts";
import { ENGINE_FILE } from "./library.ts";
import { ThreadCalls } from "../../src/threads.ts";
import type { LoadRequest, TokensResponse } from "./messages.ts";
import { BrokenModel, readFile } from "./models/files.ts";
import { vectorsOf } from "./pooling.ts";

/** Only failures are worth a line. */
const LOG_LEVEL = { name: "error", severity: 3 };

/** Texts to vectors, on this thread. */
export class Encoder {
  readonly #session: Session;
  readonly #tokens: Tokens;
  readonly #about: LoadRequest;
  readonly #output: string;

  private constructor(session: Session, tokens: Tokens, about: LoadRequest, output: string) {
    this.#session = session;
    this.#tokens = tokens;
    this.#about = about;
    this.#output = output;
  }

  /**
   * Reads a model and makes it ready.
   *
   * @throws {BrokenModel} when its files are not those that were fetched, or no such model.
   */
  static async open(about: LoadRequest): Promise<Encoder> {
    // Its vocabulary is read on another thread meanwhile: both take a second or two.
    const tokens = new Tokens(about);
    try {
      const session = await sessionOf(about);
      await tokens.of(["x"]);
      return new Encoder(session, tokens, about, outputOf(session, about));
    } catch (error) {
      tokens.stop();
      throw error;
    }
  }

  /** How many texts are computed at once. */
  get batch(): number {
    return this.#about.manifest.alone ? 1 : 8;
  }

  /**
   * Embeds texts, at most {@linkcode batch} of them.
   *
   * @throws {BrokenModel} when the model answers something else than it is said to.
   */
  async embed(texts: readonly string[]): Promise<Float32Array<ArrayBuffer>[]> {
    const { manifest, dimensions } = this.#about;
    const { tokens: encoded, padding } = await this.#tokens.of(texts);
    const lengths = encoded.map(({ length }) => length);
    const longest = Math.max(...lengths);
    const feeds = this.#feeds(encoded, longest, BigInt(padding));
    const { [this.#output]: answered } = await this.#session.run(feeds, [this.#output]);
    if (answered === undefined || !(answered.data instanceof Float32Array)) {
      throw new BrokenModel(`The model's ${this.#output} has no numbers of 32 bits`);
    }
    const { data, dims } = answered;
    const shape = { pooling: manifest.pooling, width: manifest.dimensions, dimensions };
    return vectorsOf({ data, dims }, { lengths, longest }, shape);
  }

  #feeds(
    encoded: readonly (readonly number[])[],
    longest: number,
    padding: bigint,
  ): Record<string, Tensor> {
    const fill = (valueOf: (ids: readonly number[], at: number) => bigint): Tensor => {
      const values = new BigInt64Array(encoded.length * longest);
      encoded.forEach((ids, text) => {
        for (let at = 0; at < longest; at++) values[text * longest + at] = valueOf(ids, at);
      });
      return new runtime.Tensor("int64", values, [encoded.length, longest]);
    };
    const known: Readonly<Record<string, () => Tensor>> = {
      input_ids: () => fill((ids, at) => at < ids.length ? BigInt(ids[at]!) : padding),
      attention_mask: () => fill((ids, at) => at < ids.length ? 1n : 0n),
      token_type_ids: () => fill(() => 0n),
      position_ids: () => fill((_, at) => BigInt(at)),
    };
    return Object.fromEntries(this.#session.inputNames.map((name) => {
      if (!Object.hasOwn(known, name)) throw new BrokenModel(`The model asks for ${name}`);
      return [name, known[name]!()];
    }));
  }
}

/** The tokenizer, on a thread of its own. */
class Tokens {
  readonly #thread: ThreadCalls<TokensResponse>;

  constructor(about: LoadRequest) {
    this.#thread = new ThreadCalls<TokensResponse>(() => {
      const source = new URL("./tokens_worker.ts", import.meta.url);
      const worker = new Worker(source, { type: "module" });
      worker.postMessage(about);
      return worker;
    }, (reason) => new Error(reason));
    this.#thread.start();
  }

  /** The tokens of texts, each within the longest input. */
  async of(texts: readonly string[]): Promise<Extract<TokensResponse, { padding: number }>> {
    const answer = await this.#thread.call({ texts });
    if ("tokens" in answer) return answer;
    throw answer.isBroken ? new BrokenModel(answer.reason) : new Error(answer.reason);
  }

  stop(): void {
    this.#thread.stop(new Error("The tokenizer is stopped"));
  }
}

/** The model, read and made ready. */
async function sessionOf({ folder, manifest }: LoadRequest): Promise<Session> {
  const { wasm } = runtime.env;
  runtime.env.logLevel = LOG_LEVEL.name;
  // More threads would be more workers, and memory that is shared with them.
  wasm.numThreads = 1;
  wasm.proxy = false;
  wasm.wasmBinary = await Deno.readFile(ENGINE_FILE);
  const beside = manifest.files
    .map(({ path }) => path)
    .filter((path) => path !== manifest.weights && path !== manifest.tokenizer);
  const externalData = [];
  for (const path of beside) {
    externalData.push({
      path: relative(dirname(manifest.weights), path),
      data: await readFile(folder, manifest, path),
    });
  }
  const weights = await readFile(folder, manifest, manifest.weights);
  try {
    const options = { logSeverityLevel: LOG_LEVEL.severity };
    return await runtime.InferenceSession.create(
      weights,
      externalData.length === 0 ? options : { ...options, externalData },
    );
  } catch {
    // The engine's own words name parts of its source.
    throw new BrokenModel(`${manifest.weights} is no model that can be run here`);
  }
}

function outputOf({ outputNames }: Session, { manifest: { output } }: LoadRequest): string {
  const name = output ?? (outputNames.length === 1 ? outputNames[0] : "last_hidden_state");
  if (name !== undefined && outputNames.includes(name)) return name;
  throw new BrokenModel(`The model has no output ${name}`);
}
