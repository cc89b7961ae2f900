import { externalData, type Graph, type Node, onnxFile, type Weights } from "./onnx_file.ts";

/** Length of the small models' vectors. */
export const WIDTH = 32;

/** How a small model differs from the usual one. */
export interface SmallModel {
  /** Another one has other weights. */
  readonly seed?: number;
  /** What divides texts; as XLM-RoBERTa does when absent. */
  readonly tokenizer?: TokenizerKind;
  /** Whether it wants to know which of two texts a token is of, as BERT does. */
  readonly tokenTypes?: boolean;
  /** Whether it makes one vector of each text by itself, besides those of the tokens. */
  readonly sentence?: boolean;
  /** Further input that nobody gives it. */
  readonly odd?: boolean;
  /** Name of a file beside it that holds its largest weights. */
  readonly beside?: string;
  /** Length of its vectors. */
  readonly width?: number;
}

/** Words of the small vocabulary besides single characters; each follows a blank. */
const WORDS = [
  ..."the user has a peanut allergy and carries an injector which does".split(" "),
  ..."quarterly report is due on friday die katze schläft auf dem sofa".split(" "),
  ..."river stone lamp green paper cloud train bread glass query passage".split(" "),
  ..."ich wohne in berlin lisbon i live where do wo tea coffee drink".split(" "),
];

const CHARACTERS = [
  ..."abcdefghijklmnopqrstuvwxyz0123456789.,:?!'-äöüß",
  ..."사용자는서울에산다",
];

/** Kinds of tokenizers: as XLM-RoBERTa, BERT and Gemma have them. */
export type TokenizerKind = "unigram" | "wordpiece" | "bpe";

/** Pieces by their numbers. The first four begin, fill up and end a text, and stand for the unknown. */
const VOCABULARIES: Readonly<Record<TokenizerKind, readonly string[]>> = {
  unigram: [
    ...new Set(["<s>", "<pad>", "</s>", "<unk>", "▁", ...WORDS.map((word) => `▁${word}`)]),
    ...CHARACTERS,
  ],
  wordpiece: [
    ...new Set(["[CLS]", "[PAD]", "[SEP]", "[UNK]", ...WORDS]),
    ...CHARACTERS.filter((character) => !WORDS.includes(character)),
    ...CHARACTERS.map((character) => `##${character}`),
  ],
  bpe: [
    ...new Set(["<bos>", "<pad>", "<eos>", "<unk>", "▁", ...CHARACTERS]),
    ...new Set(WORDS.flatMap((word) => merges(word).map(([a, b]) => a + b))),
    ...Array.from(
      { length: 256 },
      (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
    ),
  ],
};

const SIZE = Math.max(...Object.values(VOCABULARIES).map(({ length }) => length));

/** Steps that make a word of its characters, from its beginning. */
function merges(word: string): [string, string][] {
  const [first = "", ...rest] = [...`▁${word}`];
  let begun = first;
  return rest.map((next) => {
    const step: [string, string] = [begun, next];
    begun += next;
    return step;
  });
}

/** What splits and numbers texts, by the kind. */
function parts(kind: TokenizerKind, vocabulary: readonly string[]): object {
  const numbers = Object.fromEntries(vocabulary.map((piece, id) => [piece, id]));
  if (kind === "wordpiece") {
    return {
      normalizer: {
        type: "BertNormalizer",
        clean_text: true,
        handle_chinese_chars: true,
        strip_accents: null,
        lowercase: true,
      },
      pre_tokenizer: { type: "BertPreTokenizer" },
      decoder: { type: "WordPiece", prefix: "##", cleanup: true },
      model: {
        type: "WordPiece",
        unk_token: "[UNK]",
        continuing_subword_prefix: "##",
        max_input_chars_per_word: 100,
        vocab: numbers,
      },
    };
  }
  if (kind === "bpe") {
    return {
      normalizer: {
        type: "Sequence",
        normalizers: [
          { type: "Lowercase" },
          { type: "Prepend", prepend: "▁" },
          { type: "Replace", pattern: { String: " " }, content: "▁" },
        ],
      },
      pre_tokenizer: null,
      decoder: {
        type: "Sequence",
        decoders: [
          { type: "Replace", pattern: { String: "▁" }, content: " " },
          { type: "ByteFallback" },
          { type: "Fuse" },
        ],
      },
      model: {
        type: "BPE",
        dropout: null,
        unk_token: "<unk>",
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: true,
        byte_fallback: true,
        vocab: numbers,
        merges: WORDS.flatMap(merges),
      },
    };
  }
  return {
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
    decoder: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
    model: {
      type: "Unigram",
      unk_id: 3,
      vocab: vocabulary.map((piece) => [piece, piece.length > 1 ? -3 : -6]),
    },
  };
}

/** A small `tokenizer.json`. */
export function smallTokenizer(kind: TokenizerKind = "unigram"): object {
  const vocabulary = VOCABULARIES[kind];
  const [begin = "", , end = ""] = vocabulary;
  const special = (content: string, id: number) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  });
  const around = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  const known = (id: string) => ({ id, ids: [vocabulary.indexOf(id)], tokens: [id] });
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: vocabulary.slice(0, 4).map(special),
    post_processor: {
      type: "TemplateProcessing",
      single: [around(begin), { Sequence: { id: "A", type_id: 0 } }, around(end)],
      pair: [],
      special_tokens: { [begin]: known(begin), [end]: known(end) },
    },
    ...parts(kind, vocabulary),
  };
}

/** Numbers around 0 that are the same at each call. */
function numbers(count: number, seed: number, scale: number): Float32Array {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) * scale;
  });
}

const SEQUENCE = ["batch", "tokens"];

/** One layer of self-attention behind an embedding, and a norm: a transformer's encoder in small. */
function graphOf(model: SmallModel): Graph {
  const { seed = 1, tokenTypes, sentence, odd, beside, width = WIDTH } = model;
  const square = [width, width];
  const float = (name: string, dims: number[], nth: number, scale: number): Weights => {
    const count = dims.reduce((a, b) => a * b, 1);
    return { name, dims, values: numbers(count, seed * 100 + nth, scale) };
  };
  const constant = (name: string, value: number): Weights => ({
    name,
    dims: [],
    values: Float32Array.of(value),
  });
  const pieces = float("pieces", [SIZE, width], 1, 1);
  // What begins every text says little by itself: its vector is that of what it sees.
  for (let i = 0; i < width; i++) pieces.values[i] = Number(pieces.values[i]) / 100;
  const weights: Weights[] = [
    beside === undefined ? pieces : { ...pieces, external: { file: beside, offset: 0 } },
    float("query", square, 2, 0.2),
    float("key", square, 3, 0.2),
    float("value", square, 4, 0.2),
    { name: "gain", dims: [width], values: new Float32Array(width).fill(1) },
    { name: "bias", dims: [width], values: new Float32Array(width) },
    constant("one", 1),
    constant("far", -10_000),
    { name: "first", dims: [1], values: BigInt64Array.of(1n) },
    ...tokenTypes ? [float("types", [2, width], 5, 0.1)] : [],
  ];
  const step = (op: string, inputs: string[], output: string, attributes?: Node["attributes"]) =>
    attributes === undefined ? { op, inputs, output } : { op, inputs, output, attributes };
  const nodes: Node[] = [
    step("Gather", ["pieces", "input_ids"], "plain"),
    ...tokenTypes
      ? [
        step("Gather", ["types", "token_type_ids"], "typed"),
        step("Add", ["plain", "typed"], "x"),
      ]
      : [step("Identity", ["plain"], "x")],
    step("MatMul", ["x", "query"], "q"),
    step("MatMul", ["x", "key"], "k"),
    step("MatMul", ["x", "value"], "v"),
    step("Transpose", ["k"], "kt", { perm: { ints: [0, 2, 1] } }),
    step("MatMul", ["q", "kt"], "scores"),
    step("Cast", ["attention_mask"], "there", { to: { int: 1 } }),
    step("Sub", ["one", "there"], "absent"),
    step("Mul", ["absent", "far"], "low"),
    step("Unsqueeze", ["low", "first"], "lows"),
    step("Add", ["scores", "lows"], "masked"),
    step("Softmax", ["masked"], "attention", { axis: { int: -1 } }),
    step("MatMul", ["attention", "v"], "seen"),
    step("Add", ["x", "seen"], "both"),
    step("LayerNormalization", ["both", "gain", "bias"], "last_hidden_state", {
      axis: { int: -1 },
      epsilon: { float: 1e-5 },
    }),
    ...sentence
      ? [step("ReduceMean", ["last_hidden_state"], "sentence_embedding", {
        axes: { ints: [1] },
        keepdims: { int: 0 },
      })]
      : [],
  ];
  const int64 = (name: string) => ({ name, kind: "int64" as const, dims: SEQUENCE });
  return {
    nodes,
    weights,
    inputs: [
      int64("input_ids"),
      int64("attention_mask"),
      ...tokenTypes ? [int64("token_type_ids")] : [],
      ...odd ? [int64("pixel_values")] : [],
    ],
    outputs: [
      { name: "last_hidden_state", kind: "float", dims: [...SEQUENCE, width] },
      ...sentence
        ? [{ name: "sentence_embedding", kind: "float" as const, dims: ["batch", width] }]
        : [],
    ],
  };
}

/** The files of a small model: the ONNX file, what lies beside it, and its tokenizer. */
export function smallModel(model: SmallModel = {}): {
  readonly weights: Uint8Array<ArrayBuffer>;
  readonly beside: Uint8Array<ArrayBuffer>;
  readonly tokenizer: Uint8Array<ArrayBuffer>;
} {
  const graph = graphOf(model);
  return {
    weights: onnxFile(graph),
    beside: externalData(graph.weights),
    tokenizer: new TextEncoder().encode(JSON.stringify(smallTokenizer(model.tokenizer))),
  };
}
