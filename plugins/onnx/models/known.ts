import type { ModelDescription } from "./description.ts";

/** What e5, arctic v2 and bge-m3 have in common: the vocabulary of XLM-RoBERTa, 250,000 pieces. */
const QUANTISED = "onnx/model_quantized.onnx";
const TOKENIZER = "tokenizer.json";

/**
 * Models that `svc model get` knows: permissively licensed, with an ONNX file that fits into
 * WebAssembly. Prefixes, pooling and lengths are those of their cards. Revisions, sizes and
 * checksums are what several projects that publish theirs agree on; a file that does not have them
 * is refused. An entry may be changed: what a vector was made with is part of the name that it is
 * stored under.
 */
export const KNOWN_MODELS: readonly ModelDescription[] = [
  {
    name: "multilingual-e5-small",
    repository: "Xenova/multilingual-e5-small",
    revision: "761b726dd34fb83930e26aab4e9ac3899aa1fa78",
    files: [
      {
        path: QUANTISED,
        bytes: 118_308_185,
        sha256: "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
      },
      {
        path: TOKENIZER,
        bytes: 17_082_730,
        sha256: "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
      },
    ],
    weights: QUANTISED,
    tokenizer: TOKENIZER,
    pooling: "mean",
    dimensions: 384,
    maxTokens: 512,
    query: "query: ",
    document: "passage: ",
    alone: true,
    licence: "MIT",
  },
  {
    name: "snowflake-arctic-embed-m-v2",
    repository: "Snowflake/snowflake-arctic-embed-m-v2.0",
    revision: "95c2741480856aa9666782eb4afe11959938017f",
    files: [
      {
        path: "onnx/model_int8.onnx",
        bytes: 310_916_060,
        sha256: "03d923bb1850ebdccb068e2f3abd8aa43fe81c50d07d037ef103fe3d0fb78e3b",
      },
      {
        path: TOKENIZER,
        bytes: 17_083_009,
        sha256: "f1cc44ad7faaeec47241864835473fd5403f2da94673f3f764a77ebcb0a803ec",
      },
    ],
    weights: "onnx/model_int8.onnx",
    tokenizer: TOKENIZER,
    pooling: "cls",
    // Its file has a pooled output, too, whose vectors are these ones.
    output: "last_hidden_state",
    dimensions: 768,
    shorter: [256],
    maxTokens: 8192,
    query: "query: ",
    document: "",
    alone: true,
    licence: "Apache-2.0",
  },
  {
    name: "snowflake-arctic-embed-s",
    repository: "Snowflake/snowflake-arctic-embed-s",
    revision: "e596f507467533e48a2e17c007f0e1dacc837b33",
    files: [
      {
        path: QUANTISED,
        bytes: 34_015_111,
        sha256: "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
      },
      {
        path: TOKENIZER,
        bytes: 711_649,
        sha256: "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
      },
    ],
    weights: QUANTISED,
    tokenizer: TOKENIZER,
    pooling: "cls",
    dimensions: 384,
    maxTokens: 512,
    query: "Represent this sentence for searching relevant passages: ",
    document: "",
    alone: true,
    languages: ["en"],
    licence: "Apache-2.0",
  },
  {
    name: "embeddinggemma-300m",
    repository: "onnx-community/embeddinggemma-300m-ONNX",
    revision: "5090578d9565bb06545b4552f76e6bc2c93e4a66",
    files: [
      {
        path: QUANTISED,
        bytes: 567_874,
        sha256: "172efde319fe1542dc41f31be6154910b05b78f7a861c265c4600eec906bd6d8",
      },
      {
        path: `${QUANTISED}_data`,
        bytes: 308_890_624,
        sha256: "705626e28e4c23c82ade34566b4197d97f534c12275fa406dfb71e9937d388c0",
      },
      {
        path: TOKENIZER,
        bytes: 20_323_312,
        sha256: "4dda02faaf32bc91031dc8c88457ac272b00c1016cc679757d1c441b248b9c47",
      },
    ],
    weights: QUANTISED,
    tokenizer: TOKENIZER,
    pooling: "none",
    output: "sentence_embedding",
    dimensions: 768,
    shorter: [512, 256, 128],
    maxTokens: 2048,
    query: "task: search result | query: ",
    document: "title: none | text: ",
    alone: true,
    licence: "Gemma",
    terms: "https://ai.google.dev/gemma/terms",
  },
  {
    name: "bge-m3",
    repository: "Xenova/bge-m3",
    revision: "4de13258303883538bd53b696b452bf8099f0858",
    files: [
      {
        path: QUANTISED,
        bytes: 569_694_530,
        sha256: "0826f8c1ab9edf1801db86c61919d4d108e8bfc0b809ec823ad366882ff0b77d",
      },
      {
        path: TOKENIZER,
        bytes: 17_082_821,
        sha256: "6710678b12670bc442b99edc952c4d996ae309a7020c1fa0096dd245c2faf790",
      },
    ],
    weights: QUANTISED,
    tokenizer: TOKENIZER,
    pooling: "cls",
    dimensions: 1024,
    maxTokens: 8192,
    query: "",
    document: "",
    alone: true,
    licence: "MIT",
  },
];

/** A model of the table, by its name. */
export function knownModel(name: string): ModelDescription | undefined {
  return KNOWN_MODELS.find((model) => model.name === name);
}

/** Whether the files are those of the table, where the table has a model of that name. */
export function isAsKnown({ name, files }: Pick<ModelDescription, "name" | "files">): boolean {
  const known = knownModel(name);
  return known === undefined ||
    known.files.every(({ path, sha256 }) =>
      files.some((file) => file.path === path && file.sha256 === sha256)
    );
}
