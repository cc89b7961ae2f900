// @ts-types="./library_api.ts"
import { Tokenizer } from "@huggingface/tokenizers";
import { stepBack } from "../../src/storage/sqlite/step_back.ts";
import type { WorkerScope } from "../../src/threads.ts";
import type { LoadRequest, TokensRequest, TokensResponse } from "./messages.ts";
import { BrokenModel, readFile } from "./models/files.ts";

/** What fills up the shorter texts of a batch; the mask hides it. */
const PADDING = ["<pad>", "[PAD]"];

interface Loaded {
  readonly tokenizer: Tokenizer;
  readonly padding: number;
  /** Longest input in tokens. */
  readonly longest: number;
}

const scope = globalThis as unknown as WorkerScope<LoadRequest | TokensRequest, TokensResponse>;
let loading: Promise<Loaded>;

stepBack();

scope.onmessage = async ({ data }) => {
  if ("folder" in data) {
    loading = load(data);
    // Whoever asks for tokens is told.
    loading.catch(() => {});
    return;
  }
  if ("drop" in data) return;
  const { id, texts } = data;
  try {
    const { tokenizer, padding, longest } = await loading;
    const tokens = texts.map((text) => tokensOf(tokenizer, text, longest, padding));
    scope.postMessage({ id, tokens, padding });
  } catch (error) {
    const isBroken = error instanceof BrokenModel;
    scope.postMessage({ id, reason: isBroken ? error.message : String(error), isBroken });
  }
};

async function load({ folder, manifest, tokens: longest }: LoadRequest): Promise<Loaded> {
  const bytes = await readFile(folder, manifest, manifest.tokenizer);
  let tokenizer: Tokenizer;
  try {
    tokenizer = new Tokenizer(JSON.parse(new TextDecoder().decode(bytes)), {});
  } catch {
    throw new BrokenModel(`${manifest.tokenizer} is no tokenizer that is known here`);
  }
  const padding = PADDING.map((token) => tokenizer.token_to_id(token));
  return { tokenizer, longest, padding: padding.find((id) => id !== undefined) ?? 0 };
}

/** The tokens of a text; of too many the first ones, and what ends every text. */
function tokensOf(
  tokenizer: Tokenizer,
  text: string,
  longest: number,
  padding: number,
): readonly number[] {
  const { ids } = tokenizer.encode(text);
  if (ids.length === 0) return [padding];
  return ids.length <= longest ? ids : [...ids.slice(0, longest - 1), ids.at(-1)!];
}
