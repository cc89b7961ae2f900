import { replaceFile } from "../../../src/replace_file.ts";

/** What was found out about a model when its server answered last. */
export interface KnownModel {
  /** Name stored with every vector. */
  readonly model: string;
  /** Length of its vectors. */
  readonly dimensions: number;
  /** Whether the server is asked to shorten the vectors to that length. */
  readonly shortened: boolean;
}

const FILE = "embedding_models.json";

async function read(dataDir: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(await Deno.readTextFile(`${dataDir}/${FILE}`));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    // Missing or damaged: it is found out again when the server answers.
    return {};
  }
}

/**
 * What was found out about a model in an earlier start, so that the relayer starts while the model
 * server is down.
 * @param dataDir Folder of the relayer; absent: nothing is kept.
 */
export async function knownModel(
  dataDir: string | undefined,
  key: string,
): Promise<KnownModel | undefined> {
  if (dataDir === undefined) return undefined;
  const found = (await read(dataDir))[key];
  if (typeof found !== "object" || found === null) return undefined;
  const { model, dimensions, shortened } = found as Partial<Record<keyof KnownModel, unknown>>;
  if (typeof model !== "string" || !Number.isInteger(dimensions)) return undefined;
  return { model, dimensions: Number(dimensions), shortened: shortened === true };
}

/** Keeps what was found out about a model. */
export async function keepModel(
  dataDir: string | undefined,
  key: string,
  about: KnownModel,
): Promise<void> {
  if (dataDir === undefined) return;
  const { model, dimensions, shortened } = about;
  const known = await read(dataDir);
  const entry = { model, dimensions, shortened };
  if (JSON.stringify(known[key]) === JSON.stringify(entry)) return;
  const path = `${dataDir}/${FILE}`;
  const text = JSON.stringify({ ...known, [key]: entry }, null, 2);
  await Deno.writeTextFile(`${path}.new`, `${text}\n`, { mode: 0o600 });
  await replaceFile(`${path}.new`, path);
}
