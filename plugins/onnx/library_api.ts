/**
 * The parts of the npm packages `onnxruntime-web` 1 and `@huggingface/tokenizers` 0.2 that are used
 * here. The declarations of the former need packages that are left out of it.
 */

/** Numbers in a shape. */
export interface Tensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: unknown;
}

/** A model, ready to run. */
export interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(
    feeds: Readonly<Record<string, Tensor>>,
    fetches: readonly string[],
  ): Promise<Readonly<Record<string, Tensor | undefined>>>;
}

interface SessionOptions {
  /** Files that the model refers to, by the names it has for them. */
  readonly externalData?: readonly { readonly path: string; readonly data: Uint8Array }[];
  /** 0 (all) to 4 (fatal). */
  readonly logSeverityLevel: number;
}

/** `onnxruntime-web/wasm`. */
export interface Runtime {
  readonly env: {
    logLevel: string;
    readonly wasm: {
      numThreads: number;
      proxy: boolean;
      wasmBinary: Uint8Array;
    };
  };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => Tensor;
  readonly InferenceSession: {
    create(model: Uint8Array, options: SessionOptions): Promise<Session>;
  };
}

declare const runtime: Runtime;
export default runtime;

/** What `tokenizer.json` says, at work. */
export declare class Tokenizer {
  /** @param description What is in `tokenizer.json`. */
  constructor(description: object, config: object);
  /** The tokens of a text, with those that the tokenizer adds. */
  encode(text: string): { readonly ids: readonly number[] };
  token_to_id(token: string): number | undefined;
}
