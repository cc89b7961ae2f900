import { z } from "zod";
import { SvcError } from "../../../src/errors.ts";

/** Most bytes of one file of a model: what the engine can address. */
const FILE_BYTES = 4 * 1024 ** 3;
/** Longest input of a model that is believed, in tokens. */
const CONTEXT_TOKENS = 131_072;

/** A path inside of a repository: no way out of its folder, and nothing hidden. */
const PATH = z.string().max(200).regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/);

/** The name of a model is the name of its folder. */
export const MODEL_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const FILE = z.strictObject({
  path: PATH,
  bytes: z.int().min(1).max(FILE_BYTES).exactOptional(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/).exactOptional(),
});

const DESCRIPTION = z.strictObject({
  name: z.string().regex(MODEL_NAME),
  repository: z.string().max(200).regex(/^[\w-][\w.-]*\/[\w-][\w.-]*$/),
  revision: z.string().regex(/^[0-9a-f]{40}$/),
  files: z.array(FILE).min(2).max(16),
  weights: PATH,
  tokenizer: PATH,
  pooling: z.enum(["mean", "cls", "last", "none"]),
  output: z.string().max(100).exactOptional(),
  dimensions: z.int().min(1).max(8192),
  shorter: z.array(z.int().min(1).max(8192)).max(16).exactOptional(),
  maxTokens: z.int().min(8).max(CONTEXT_TOKENS),
  query: z.string().max(500),
  document: z.string().max(500),
  alone: z.boolean().exactOptional(),
  languages: z.array(z.string().regex(/^[a-z]{2,3}$/)).min(1).exactOptional(),
  licence: z.string().max(100),
  terms: z.url().exactOptional(),
}).refine(
  ({ files, weights, tokenizer }) =>
    [weights, tokenizer].every((path) => files.some((file) => file.path === path)),
  "weights and tokenizer must be among the files",
);

/** A file of a model. Without a checksum the hub says it when the file is fetched. */
export interface ModelFile {
  /** In the repository, and below the model's folder. */
  readonly path: string;
  /** Its size. */
  readonly bytes?: number;
  /** 64 lower-case hex characters. */
  readonly sha256?: string;
}

/** Where a model comes from, and how texts become vectors with it. */
export interface ModelDescription {
  /** Name of its folder, and of the model in the settings. */
  readonly name: string;
  /** `owner/name` on the hub. */
  readonly repository: string;
  /** Commit of the repository, 40 hex characters: never a branch, which moves. */
  readonly revision: string;
  /** Everything that is fetched. */
  readonly files: readonly ModelFile[];
  /** Path of the ONNX file; others it refers to lie beside it. */
  readonly weights: string;
  /** Path of `tokenizer.json`. */
  readonly tokenizer: string;
  /**
   * What makes one vector of those of the tokens: their mean, the first or the last one; `none`
   * where the model does it itself.
   */
  readonly pooling: "mean" | "cls" | "last" | "none";
  /** Name of the output that is taken; the only one, or `last_hidden_state`, when absent. */
  readonly output?: string;
  /** Length of the vectors. */
  readonly dimensions: number;
  /** Lengths to which they may be cut, where the model was trained for it (Matryoshka). */
  readonly shorter?: readonly number[];
  /** Longest input in tokens, with what the tokenizer adds. */
  readonly maxTokens: number;
  /** Put before a query. */
  readonly query: string;
  /** Put before a document. */
  readonly document: string;
  /**
   * Whether each text is computed by itself. Models whose activations are quantised while they run
   * take one scale for a whole batch: beside others a text would have another vector.
   */
  readonly alone?: boolean;
  /** Languages that it reads, codes of ISO 639; absent where those are more than somebody listed. */
  readonly languages?: readonly string[];
  /** Identifier of SPDX, or a name. */
  readonly licence: string;
  /** Terms of use that somebody has to accept before it is fetched. */
  readonly terms?: string;
}

/** A description whose files are all known: what is written beside a model that was fetched. */
export type Manifest = ModelDescription & {
  readonly files: readonly Required<ModelFile>[];
};

function invalid(what: string, problem: string): SvcError {
  return new SvcError("invalid_parameter", `${what} ${problem}`);
}

/**
 * Reads the description of a model.
 *
 * @param what What it is called in errors.
 * @throws {SvcError} `invalid_parameter` with the member at fault.
 */
export function parseDescription(text: string, what: string): ModelDescription {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(what, "is not JSON");
  }
  const { data, error } = DESCRIPTION.safeParse(value);
  if (data !== undefined) return data;
  const [issue] = error!.issues;
  const member = issue?.path.join(".") ?? "";
  throw invalid(what, `does not describe a model${member === "" ? "" : `: ${member}`}`);
}

/** As {@linkcode parseDescription}, of a file whose checksums are all known. */
export function parseManifest(text: string, what: string): Manifest {
  const description = parseDescription(text, what);
  const files = description.files.map(({ path, bytes, sha256 }) => {
    if (bytes === undefined || sha256 === undefined) {
      throw invalid(what, `lacks the checksum of ${path}`);
    }
    return { path, bytes, sha256 };
  });
  return { ...description, files };
}
