import { SvcError } from "../../../src/errors.ts";
import type { Embedder } from "../../../src/interfaces/mod.ts";
import type { FileContext } from "../../../src/interfaces/plugin.ts";
import { type EmbedTexts, RemoteEmbedder, unitVectors } from "./embedder.ts";
import type { GuardedCalls } from "./guarded_calls.ts";
import { keepModel, type KnownModel, knownModel } from "./known_models.ts";
import { embeddingTraits } from "./model_table.ts";
import { UpstreamFailure, upstreamFailureOf } from "../upstream_failure.ts";

/** How long a model is taken to be the one it was when its server was asked last, in milliseconds. */
const SAME_MODEL_MS = 10_000;

interface OpenEmbedder {
  /** Name of the plugin, put before the model's name. */
  readonly plugin: string;
  /** Name of the model as the server knows it. */
  readonly model: string;
  readonly calls: GuardedCalls;
  /** The server; `dimensions` are asked for where the model can shorten its vectors. */
  readonly source: (dimensions: number | undefined) => EmbedTexts;
  /** The model's content, where the server tells; another content is another model. */
  readonly digest?: (fetch: typeof globalThis.fetch) => Promise<string | undefined>;
  readonly dimensions: number | undefined;
  /** What to do when the server does not know the model. */
  readonly hint: string;
  /** Where to keep what was found out, and where notes go. */
  readonly context: FileContext;
}

async function lengthOf(calls: GuardedCalls, source: EmbedTexts): Promise<number> {
  const [vector] = await calls.run(async (fetch) => {
    return unitVectors(await source(["dimensions"], fetch), 1);
  });
  return vector!.length;
}

/** Asks the server for the model's content and the length of its vectors. */
async function ask(options: OpenEmbedder): Promise<KnownModel> {
  const { plugin, model, calls, dimensions: wanted, digest } = options;
  const content = digest === undefined ? undefined : await calls.run(digest);
  const id = content === undefined ? `${plugin}:${model}` : `${plugin}:${model}@${content}`;
  const dimensions = await lengthOf(calls, options.source(undefined));
  if (wanted === undefined || wanted === dimensions) {
    return { model: id, dimensions, shortened: false };
  }
  const length = await lengthOf(calls, options.source(wanted)).catch((error) => {
    if (upstreamFailureOf(error)?.refusesInput) return dimensions;
    throw error;
  });
  if (length === wanted) return { model: id, dimensions: length, shortened: true };
  throw new SvcError(
    "invalid_parameter",
    `SVC_EMBEDDING_DIMENSIONS is ${wanted}, but the vectors of ${model} have ${dimensions}`,
  );
}

/** What is known without the server. */
async function recall(options: OpenEmbedder, error: SvcError): Promise<KnownModel> {
  const { plugin, model, dimensions: wanted, context } = options;
  const known = await knownModel(context.dataDir, `${plugin}:${model}`);
  const dimensions = wanted ?? known?.dimensions;
  if (dimensions === undefined) {
    throw new SvcError(
      "embedding_unavailable",
      `${error.message}, and the length of the vectors of ${model} is not known yet: start the ` +
        "model server, or set SVC_EMBEDDING_DIMENSIONS",
      { cause: error.cause },
    );
  }
  context.log("warn", `${plugin}: ${error.message}; memories wait until it answers`);
  if (known?.dimensions === dimensions) return known;
  return { model: `${plugin}:${model}`, dimensions, shortened: false };
}

/**
 * The source, until its server has another content under the model's name: vectors of that one must
 * not be stored as vectors of the former.
 *
 * @param checkedAt when the server was asked last, milliseconds since the epoch.
 */
function sameModel(
  source: EmbedTexts,
  { plugin, model, calls, digest }: OpenEmbedder,
  found: KnownModel,
  checkedAt: number,
): EmbedTexts {
  // Without a content in its name, what is stored is embedded anew as soon as one is known.
  if (digest === undefined || found.model === `${plugin}:${model}`) return source;
  let checked = checkedAt;
  return async (texts, fetch) => {
    if (calls.now - checked >= SAME_MODEL_MS) {
      const content = await digest(fetch);
      if (content !== undefined && found.model !== `${plugin}:${model}@${content}`) {
        throw new UpstreamFailure(
          `The model server has another ${model} now: restart the relayer, which then embeds ` +
            "every memory anew",
        );
      }
      checked = calls.now;
    }
    return await source(texts, fetch);
  };
}

/**
 * Opens an embedder after asking its server which model it has. While the server is down, the
 * relayer still starts where the length of the vectors is known from the settings or an earlier
 * start.
 *
 * @throws {SvcError} `invalid_parameter` when the server does not know the model, refuses the key or
 * the call, or has vectors of another length than configured; `embedding_unavailable` when it is
 * down and the length of the vectors is not known.
 */
export async function openEmbedder(options: OpenEmbedder): Promise<Embedder> {
  const { plugin, model, calls, context } = options;
  let found: KnownModel;
  let checkedAt = -Infinity;
  try {
    found = await ask(options);
    checkedAt = calls.now;
    await keepModel(context.dataDir, `${plugin}:${model}`, found);
  } catch (thrown) {
    const error = SvcError.from(thrown);
    if (error.code === "invalid_parameter") throw error;
    const failure = upstreamFailureOf(error);
    if (failure === undefined) throw error;
    if (failure.isConfiguration || failure.refusesInput) {
      const hint = failure.status === 404 ? `: ${options.hint}` : "";
      throw new SvcError("invalid_parameter", `${plugin}: ${failure.message}${hint}`, {
        cause: failure,
      });
    }
    found = await recall(options, error);
  }
  const source = options.source(found.shortened ? found.dimensions : undefined);
  const same = sameModel(source, options, found, checkedAt);
  return new RemoteEmbedder(same, calls, { ...found, traits: embeddingTraits(model) });
}
