import { resolve } from "node:path";
import {
  type Manifest,
  type ModelDescription,
  parseDescription,
} from "../../../plugins/onnx/models/description.ts";
import { BrokenModel, fileState } from "../../../plugins/onnx/models/files.ts";
import { folderOf, modelNames, readManifest } from "../../../plugins/onnx/models/folder.ts";
import { KNOWN_MODELS, knownModel } from "../../../plugins/onnx/models/known.ts";
import { SvcError } from "../../errors.ts";
import { DEFAULT_ONNX_MODEL } from "../../interfaces/shared_fields.ts";
import { suggest } from "../../suggestion.ts";
import { invalid } from "../invalid.ts";
import { readSettings, type Settings } from "../settings/mod.ts";
import { HUGGING_FACE } from "../settings/roles.ts";
import { type CommandIo, parseFlags, type Printed, runGroup, UsageError } from "../commands/io.ts";
import { fetchInChild, type FetchModel, runFetcher } from "./fetcher.ts";
import { progressBar } from "../commands/progress.ts";
import type { ProcessIo } from "../commands/relayer.ts";

export const MODEL_USAGE = `Usage: svc model list
       svc model get NAME [--accept-terms]
       svc model get --from FILE
       svc model check [NAME]

Embedding models that read other languages than English, for SVC_EMBEDDER=onnx:
they run in the relayer, without a server. \`get\` fetches one into SVC_MODEL_DIR
(~/.svc/models) from SVC_MODEL_HUB (https://huggingface.co) at a fixed revision,
and checks every file; a download that was cut off goes on where it was. The
process that fetches may reach the hub and write to that folder, and nothing
else. \`list\` shows the models that are known, and those that are there; \`check\`
compares their files with what was fetched, as each start of the relayer does.

  --from FILE      a model of another name, described in a file: docs/models.md
  --accept-terms   you accept the terms of use of a model that has some
  --json           machine output
`;

/** The stores that Hugging Face sends downloads to: https://huggingface.co/docs/hub. */
const STORES = ["*.huggingface.co", "*.hf.co"];

const megabytes = (bytes: number) => `${Math.max(1, Math.round(bytes / 1e6))} MB`;

const sizeOf = ({ files }: ModelDescription) =>
  files.reduce((sum, { bytes = 0 }) => sum + bytes, 0);

const languagesOf = ({ languages }: ModelDescription) => languages?.join(", ") ?? "many";

function settingsOf(io: CommandIo): Settings {
  const { settings, problems } = readSettings(io.env, { cwd: io.cwd });
  if (problems.length > 0) throw invalid(problems.join("\n"));
  return settings;
}

/** A model of the table by its name. */
function named(name: string): ModelDescription {
  const known = knownModel(name);
  if (known !== undefined) return known;
  const meant = suggest(name, KNOWN_MODELS.map((model) => model.name));
  const hint = meant === undefined ? "`svc model list` shows them" : `did you mean ${meant}?`;
  throw invalid(`There is no model of that name; ${hint}`);
}

async function described(path: string, io: CommandIo): Promise<ModelDescription> {
  let text: string;
  try {
    text = await Deno.readTextFile(resolve(io.cwd, path));
  } catch (cause) {
    throw invalid(`${path} cannot be read`, cause);
  }
  const description = parseDescription(text, path);
  if (knownModel(description.name) === undefined) return description;
  throw invalid(`${description.name} is the name of a model that is known: choose another one`);
}

function checkTerms({ name, terms }: ModelDescription, isAccepted: boolean): void {
  if (terms === undefined || isAccepted) return;
  throw invalid(
    `${name} may be used under terms: read ${terms}, then run this again with --accept-terms`,
  );
}

async function get(
  args: readonly string[],
  io: CommandIo,
  fetchModel: FetchModel,
): Promise<Printed> {
  const { values, positionals } = parseFlags(args, {
    from: { type: "string" },
    "accept-terms": { type: "boolean" },
    json: { type: "boolean" },
  });
  const [name, ...others] = positionals;
  if (others.length > 0 || (name === undefined) === (values.from === undefined)) {
    throw new UsageError("Say the name of one model, or --from FILE");
  }
  const description = name === undefined ? await described(values.from!, io) : named(name);
  checkTerms(description, values["accept-terms"] === true);
  const { modelDir, modelHub, modelHubHosts } = settingsOf(io);
  const hosts = modelHubHosts ?? (modelHub === HUGGING_FACE ? STORES : []);
  const hub = { url: modelHub, hosts };
  {
    using bar = progressBar(io, description.name);
    await fetchModel({ description, modelDir, hub }, bar.show);
  }
  const manifest = await readManifest(modelDir, description.name);
  if (manifest === undefined) throw new SvcError("internal_error");
  const folder = folderOf(modelDir, manifest.name);
  const bytes = sizeOf(manifest);
  const setting = manifest.name === DEFAULT_ONNX_MODEL
    ? ""
    : ` SVC_EMBEDDING_MODEL=${manifest.name}`;
  const text = `${manifest.name} is there, ${megabytes(bytes)}, every file checked: ${folder}\n` +
    `Start the relayer with SVC_EMBEDDER=onnx${setting}; it embeds every memory anew.\n`;
  return [{ name: manifest.name, revision: manifest.revision, folder, bytes }, text];
}

/** The models that were fetched; one that says nothing sensible does not hide the others. */
async function fetched(
  modelDir: string,
): Promise<{ readonly manifests: readonly Manifest[]; readonly problems: readonly string[] }> {
  const manifests: Manifest[] = [];
  const problems: string[] = [];
  for (const name of await modelNames(modelDir)) {
    try {
      const manifest = await readManifest(modelDir, name);
      if (manifest !== undefined) manifests.push(manifest);
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      problems.push(error.message);
    }
  }
  return { manifests, problems };
}

async function list(io: CommandIo): Promise<Printed> {
  const { modelDir } = settingsOf(io);
  const { manifests, problems } = await fetched(modelDir);
  const names = new Set(manifests.map(({ name }) => name));
  const others = manifests.filter(({ name }) => knownModel(name) === undefined);
  const all = [...KNOWN_MODELS, ...others];
  const models = all.map((model) => ({
    name: model.name,
    bytes: sizeOf(model),
    dimensions: model.dimensions,
    shorter: model.shorter ?? [],
    languages: model.languages ?? null,
    licence: model.licence,
    is_there: names.has(model.name),
  }));
  const width = Math.max(...models.map(({ name }) => name.length));
  const lines = all.map((model) =>
    [
      names.has(model.name) ? "✓" : " ",
      model.name.padEnd(width),
      megabytes(sizeOf(model)).padStart(6),
      `${model.dimensions}`.padStart(5),
      ` ${model.licence}, languages: ${languagesOf(model)}`,
    ].join(" ")
  );
  const broken = problems.map((problem) => `✗ ${problem}`);
  const text = [...lines, ...broken, `✓ is in ${modelDir}`].map((line) => `${line}\n`).join("");
  return [{ models, model_dir: modelDir }, text];
}

async function check(args: readonly string[], io: CommandIo): Promise<Printed> {
  const { positionals } = parseFlags(args, { json: { type: "boolean" } });
  const [name, ...rest] = positionals;
  if (rest.length > 0) throw new UsageError("Say one name, or none");
  const { modelDir } = settingsOf(io);
  const one = name === undefined ? undefined : await readManifest(modelDir, name);
  if (name !== undefined && one === undefined) {
    throw invalid(`There is no ${name} in ${modelDir}: svc model get ${name}`);
  }
  const found = one === undefined ? await fetched(modelDir) : { manifests: [one], problems: [] };
  const files = [];
  const problems = [...found.problems];
  for (const manifest of found.manifests) {
    for (const file of manifest.files) {
      const state = await fileState(folderOf(modelDir, manifest.name), file);
      files.push({ model: manifest.name, path: file.path, state });
      if (state !== "ok") problems.push(`${manifest.name}: ${file.path} is ${state}`);
    }
  }
  if (problems.length > 0) {
    const advice = "svc model get fetches what is missing or altered";
    throw new BrokenModel([...problems, advice].join("\n"));
  }
  const lines = files.map(({ model, path }) => `${model}: ${path} is as it was fetched\n`);
  return [{ files }, lines.join("") || `There are no models in ${modelDir}\n`];
}

/** What to do about a hub that failed. */
function details(thrown: unknown) {
  if (SvcError.from(thrown).code !== "embedding_unavailable") return undefined;
  return { text: "Run it again: what was fetched is kept.\n", members: {} };
}

/**
 * Runs `svc model`, or the process that it starts to fetch.
 *
 * @param args What follows `model` on the command line.
 * @param fetchModel What fetches; a process of its own.
 * @returns the exit code: 0 success, 1 error, 2 usage.
 */
export async function runModel(
  args: readonly string[],
  io: ProcessIo,
  fetchModel: FetchModel = fetchInChild(io.env),
): Promise<number> {
  if (args[0] === "--boot-stdin") return await runFetcher(io);
  const run = async (): Promise<Printed> => {
    const [command, ...rest] = args;
    if (command === "get") return await get(rest, io, fetchModel);
    if (command === "check") return await check(rest, io);
    if (command !== "list") throw new UsageError(`Unknown command "${command}"`);
    parseFlags(rest, { json: { type: "boolean" } });
    return await list(io);
  };
  return await runGroup({ usage: MODEL_USAGE, run, details }, args, io);
}
