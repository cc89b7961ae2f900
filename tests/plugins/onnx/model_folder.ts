import type { Manifest, ModelDescription } from "../../../plugins/onnx/models/description.ts";
import { MANIFEST_FILE } from "../../../plugins/onnx/models/folder.ts";
import { type SmallModel, smallModel, WIDTH } from "./small_model.ts";

/** Name of the small model. */
export const SMALL = "small";

const WEIGHTS = "onnx/model.onnx";

/** What is said of a small model, and its files by their paths. */
export interface DescribedModel {
  readonly description: ModelDescription;
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

/** A small model, described as people describe those that are in no table. */
export function describedModel(
  about: Partial<ModelDescription> = {},
  model: SmallModel = {},
): DescribedModel {
  const { weights, beside, tokenizer } = smallModel(model);
  const files = new Map([[WEIGHTS, weights], ["tokenizer.json", tokenizer]]);
  if (model.beside !== undefined) files.set(`onnx/${model.beside}`, beside);
  const description: ModelDescription = {
    name: SMALL,
    repository: "svc/small",
    revision: "ab".repeat(20),
    files: [...files.keys()].map((path) => ({ path })),
    weights: WEIGHTS,
    tokenizer: "tokenizer.json",
    pooling: "mean",
    dimensions: model.width ?? WIDTH,
    maxTokens: 64,
    query: "query ",
    document: "passage ",
    licence: "Apache-2.0",
    ...about,
  };
  return { description, files };
}

/** The SHA-256 of bytes, in hex. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** A folder of models with a small one in it, as `svc model get` leaves it. */
export class ModelFolder implements AsyncDisposable {
  /** Path of the folder of models. */
  readonly modelDir: string;

  private constructor(modelDir: string) {
    this.modelDir = modelDir;
  }

  static async make(about?: Partial<ModelDescription>, model?: SmallModel): Promise<ModelFolder> {
    const folder = new ModelFolder(await Deno.makeTempDir({ prefix: "svc_models_" }));
    await folder.add(about, model);
    return folder;
  }

  /** Adds a model, or puts it in the place of the one of that name. */
  async add(about?: Partial<ModelDescription>, model?: SmallModel): Promise<void> {
    const { description, files } = describedModel(about, model);
    const known = [];
    for (const [path, bytes] of files) {
      const target = this.path(path, description.name);
      await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
      await Deno.writeFile(target, bytes);
      known.push({ path, bytes: bytes.length, sha256: await sha256(bytes) });
    }
    const manifest: Manifest = { ...description, files: known };
    const text = JSON.stringify(manifest);
    await Deno.writeTextFile(this.path(MANIFEST_FILE, description.name), text);
  }

  /** Path of a file of a model. */
  path(file: string, name: string = SMALL): string {
    return `${this.modelDir}/${name}/${file}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.modelDir, { recursive: true });
  }
}
