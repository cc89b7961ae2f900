import "./without_location.ts";
// @ts-types="./library_api.ts"
import { Tokenizer } from "@huggingface/tokenizers";
// @ts-types="./library_api.ts"
import runtime from "onnxruntime-web/wasm";
import { dirname, relative } from "node:path/posix";
import type { Session, Tensor } from "./library_api.ts";
import { ENGINE_FILE } from "./library.ts";
import type { LoadRequest } from "./messages.ts";
import { BrokenModel, readFile } from "./models/files.ts";
import { vectorsOf } from "./pooling.ts";

/** What fills up the shorter texts of a batch; the mask hides it. */
const PADDING = ["<pad>", "[PAD]"];

/** Only failures are worth a line. */
const LOG_LEVEL = { name: "error", severity: 3 };

/** Texts to vectors, on this thread. */
export class Encoder {
  readonly #session: Session;
  readonly #tokenizer: Tokenizer;
  readonly #about: LoadRequest;
  readonly #output: string;
  readonly #padding: bigint;

  private constructor(session: Session, tokenizer: Tokenizer, about: LoadRequest, output: string) {
    this.#session = session;
    this.#tokenizer = tokenizer;
    this.#about = about;
    this.#output = output;
    const padding = PADDING.map((token) => tokenizer.token_to_id(token));
    this.#padding = BigInt(padding.find((id) => id !== undefined) ?? 0);
  }

  /**
   * Reads a model and makes it ready.
   *
   * @throws {BrokenModel} when its files are not those that were fetched, or no such model.
   */
  static async open(about: LoadRequest): Promise<Encoder> {
    const { folder, manifest } = about;
    const read = (path: string) => readFile(folder, manifest, path);
    const tokenizer = tokenizerOf(await read(manifest.tokenizer), manifest.tokenizer);
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
        data: await read(path),
      });
    }
    const weights = await read(manifest.weights);
    let session: Session;
    try {
      const options = { logSeverityLevel: LOG_LEVEL.severity };
      session = await runtime.InferenceSession.create(
        weights,
        externalData.length === 0 ? options : { ...options, externalData },
      );
    } catch {
      // The engine's own words name parts of its source.
      throw new BrokenModel(`${manifest.weights} is no model that can be run here`);
    }
    return new Encoder(session, tokenizer, about, outputOf(session, about));
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
    const encoded = texts.map((text) => this.#tokens(text));
    const lengths = encoded.map(({ length }) => length);
    const longest = Math.max(...lengths);
    const feeds = this.#feeds(encoded, longest);
    const { [this.#output]: answered } = await this.#session.run(feeds, [this.#output]);
    if (answered === undefined || !(answered.data instanceof Float32Array)) {
      throw new BrokenModel(`The model's ${this.#output} has no numbers of 32 bits`);
    }
    const { data, dims } = answered;
    const shape = { pooling: manifest.pooling, width: manifest.dimensions, dimensions };
    return vectorsOf({ data, dims }, { lengths, longest }, shape);
  }

  #tokens(text: string): readonly number[] {
    const { ids } = this.#tokenizer.encode(text);
    const { tokens } = this.#about;
    if (ids.length <= tokens) return ids.length === 0 ? [Number(this.#padding)] : ids;
    // The last one is what ends every text.
    return [...ids.slice(0, tokens - 1), ids.at(-1)!];
  }

  #feeds(encoded: readonly (readonly number[])[], longest: number): Record<string, Tensor> {
    const fill = (valueOf: (ids: readonly number[], at: number) => bigint): Tensor => {
      const values = new BigInt64Array(encoded.length * longest);
      encoded.forEach((ids, text) => {
        for (let at = 0; at < longest; at++) values[text * longest + at] = valueOf(ids, at);
      });
      return new runtime.Tensor("int64", values, [encoded.length, longest]);
    };
    const known: Readonly<Record<string, () => Tensor>> = {
      input_ids: () => fill((ids, at) => at < ids.length ? BigInt(ids[at]!) : this.#padding),
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

function tokenizerOf(bytes: Uint8Array, path: string): Tokenizer {
  try {
    return new Tokenizer(JSON.parse(new TextDecoder().decode(bytes)), {});
  } catch {
    throw new BrokenModel(`${path} is no tokenizer that is known here`);
  }
}

function outputOf({ outputNames }: Session, { manifest: { output } }: LoadRequest): string {
  const name = output ?? (outputNames.length === 1 ? outputNames[0] : "last_hidden_state");
  if (name !== undefined && outputNames.includes(name)) return name;
  throw new BrokenModel(`The model has no output ${name}`);
}
