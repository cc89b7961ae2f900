import { z } from "zod";
import { getModel } from "../../../plugins/onnx/models/get.ts";
import type { ModelDescription } from "../../../plugins/onnx/models/description.ts";
import type { Hub } from "../../../plugins/onnx/models/hub.ts";
import { ERROR_CODES, SvcError } from "../../errors.ts";
import type { Env } from "../../interfaces/fields.ts";
import { fetcherEnvironment, programArgs } from "../launcher/child_spec.ts";
import { readLeash } from "../launcher/leash.ts";
import { modulePaths, permissionFlags } from "../launcher/permissions.ts";
import type { ProcessIo } from "../commands/relayer.ts";

/** What is fetched, from where and to where. */
export interface FetchOrder {
  readonly description: ModelDescription;
  readonly modelDir: string;
  readonly hub: Hub;
}

/** Fetches a model; `onProgress` is told how much is there, 0 to 1. */
export type FetchModel = (
  order: FetchOrder,
  onProgress: (done: number) => void,
) => Promise<void>;

/** Least time between two words about the progress, in milliseconds. */
const TELL_MS = 100;

const TOLD = z.union([
  z.strictObject({ done: z.number() }),
  z.strictObject({ code: z.string(), message: z.string(), retryable: z.boolean() }),
  z.strictObject({ ok: z.literal(true) }),
]);

/** What the process that fetches may do: reach the hub and its stores, and write the models. */
export function fetcherPermissions({ modelDir, hub }: Omit<FetchOrder, "description">): string[] {
  return permissionFlags({
    net: [...new Set([new URL(hub.url).host, ...hub.hosts])],
    read: [modelDir, ...modulePaths([])],
    write: [modelDir],
    env: [],
    ffi: [],
    sys: [],
    run: false,
  });
}

/**
 * Fetches in a process of its own, which may reach the hub and write to the folder, and nothing else.
 *
 * @param env The environment of this process.
 */
export function fetchInChild(env: Env): FetchModel {
  return async (order, onProgress) => {
    await Deno.mkdir(order.modelDir, { recursive: true, mode: 0o700 });
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...programArgs(["--no-remote", ...fetcherPermissions(order)]),
        "model",
        "--boot-stdin",
      ],
      env: fetcherEnvironment(env),
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const input = child.stdin.getWriter();
    await input.write(new TextEncoder().encode(`${JSON.stringify(order)}\n`));
    try {
      const lines = child.stdout.pipeThrough(new TextDecoderStream())
        .pipeThrough(new LinesOf());
      for await (const line of lines) {
        const told = TOLD.parse(JSON.parse(line));
        if ("done" in told) onProgress(told.done);
        else if ("ok" in told) return;
        else throw errorOf(told);
      }
    } finally {
      // The end of its input ends it.
      await input.close().catch(() => {});
      await child.status;
    }
    throw new SvcError("internal_error", "The process that fetches ended without a word");
  };
}

function errorOf({ code, message, retryable }: Extract<z.infer<typeof TOLD>, { code: string }>) {
  const known = ERROR_CODES.find((each) => each === code) ?? "internal_error";
  return new SvcError(known, message, { retryable });
}

/** A stream of texts as one of lines. */
class LinesOf extends TransformStream<string, string> {
  constructor() {
    let rest = "";
    super({
      transform(text, controller) {
        const lines = (rest + text).split("\n");
        rest = lines.pop()!;
        for (const line of lines) controller.enqueue(line);
      },
    });
  }
}

/** The process that {@linkcode fetchInChild} starts: its order is the first line of its input. */
export async function runFetcher(io: ProcessIo): Promise<number> {
  const leash = await readLeash(io.stdin);
  void leash.ended.then(() => io.exit(1));
  const { description, modelDir, hub }: FetchOrder = JSON.parse(leash.line);
  const tell = (message: z.infer<typeof TOLD>) => io.write(`${JSON.stringify(message)}\n`);
  let told = -Infinity;
  try {
    await getModel(description, {
      modelDir,
      hub,
      onProgress({ done, total }) {
        if (performance.now() < told + TELL_MS && done < total) return;
        told = performance.now();
        tell({ done: total === 0 ? 0 : done / total });
      },
    });
    tell({ ok: true });
    return 0;
  } catch (thrown) {
    const { code, message, retryable } = reasonOf(thrown, modelDir);
    tell({ code, message, retryable });
    return 1;
  }
}

/** Why it failed; a disk that takes nothing is nobody's mystery. */
function reasonOf(thrown: unknown, modelDir: string): SvcError {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const isClosed = code === "EACCES" || code === "EROFS" || code === "EPERM";
  if (!isFull && !isClosed) return SvcError.from(thrown);
  const message = isFull ? `There is no room left in ${modelDir}` : `${modelDir} cannot be written`;
  return new SvcError("storage_unavailable", message, { cause: thrown, retryable: false });
}
