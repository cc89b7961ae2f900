import { deepStrictEqual, ok } from "node:assert/strict";
import { type Profiler, Session } from "node:inspector";
import { memoryEmbedder } from "../plugins/memory/embedder.ts";
import { startRelayer, type TestRelayer } from "./relayer_fixture.ts";

const ROOT = new URL("../", import.meta.url).href;

/** The walks of docs/architecture.md: what a heading promises at most, and the files under it. */
interface Walk {
  /** Files that the request goes through. */
  readonly way: readonly string[];
  /** Files beside the way. */
  readonly beside: readonly string[];
}

function documented(page: string, heading: string): Walk {
  const start = page.indexOf(`\n### ${heading}\n`);
  ok(start > 0, heading);
  const section = page.slice(start + 5).split(/\n##+ /)[0]!;
  const [way = "", beside = ""] = section.split("Beside the way:");
  const files = (text: string) =>
    [...text.matchAll(/`(src\/[^`]*\.ts)`/g)].map(([, file]) => file!);
  return { way: files(way), beside: files(beside) };
}

/** Counts which functions run, in this process. */
class Coverage implements Disposable {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  /** Files under src with a function that ran since this was asked last. */
  async files(): Promise<string[]> {
    const { result } = await new Promise<Profiler.TakePreciseCoverageReturnType>(
      (resolve, reject) =>
        this.#session.post(
          "Profiler.takePreciseCoverage",
          (error, taken) => error === null ? resolve(taken) : reject(error),
        ),
    );
    const ran = result.filter(({ functions }) =>
      functions.some(({ functionName, ranges: [range] }) =>
        range!.count > 0 && (functionName !== "" || range!.startOffset !== 0)
      )
    );
    const files = ran.map(({ url }) => url.replace(ROOT, ""));
    return files.filter((file) => file.startsWith("src/")).sort();
  }

  [Symbol.dispose](): void {
    this.#session.disconnect();
  }
}

/** Names of the walks, and how many files each may be. */
const WALKS = { "Remember, to the 202": 20, "Remember, to the row": 15, "Recall": 20 } as const;

/** One of each walk; answers the files that ran, by the walk. */
async function walked(
  relayer: TestRelayer,
  coverage: Coverage,
  held: { before: Promise<void>; reached: () => void },
): Promise<Record<keyof typeof WALKS, string[]>> {
  const remember = relayer.request("POST", "/api/remember", { text: "I am allergic to nuts" });
  const recall = relayer.request("POST", "/api/recall", { query: `What? ${Math.random()}` });
  // A job that waits takes the only place, so that the next one begins when it is told to.
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  Object.assign(held, { before: gate.promise, reached: reached.resolve });
  await relayer.post("/api/remember", { text: "I like coffee" });
  await reached.promise;
  await coverage.files();
  await relayer.fetch(remember);
  const accepted = await coverage.files();
  gate.resolve();
  await relayer.relayer.idle();
  const stored = await coverage.files();
  await relayer.fetch(recall);
  const recalled = await coverage.files();
  return { "Remember, to the 202": accepted, "Remember, to the row": stored, "Recall": recalled };
}

Deno.test("the walks in docs/architecture.md are the files that requests pass", async () => {
  const embedder = memoryEmbedder();
  const held = { before: Promise.resolve(), reached: () => {} };
  await using relayer = await startRelayer({
    config: { jobConcurrency: 1, dispatch: { process: true, queue: false, sweeper: false } },
    backends: {
      embedder: {
        ...embedder,
        async embed(texts, options) {
          held.reached();
          await held.before;
          return await embedder.embed(texts, options);
        },
      },
    },
  });
  using coverage = new Coverage();
  const runs: Awaited<ReturnType<typeof walked>>[] = [];
  for (let i = 0; i < 8; i++) runs.push(await walked(relayer, coverage, held));
  const page = await Deno.readTextFile(new URL("docs/architecture.md", ROOT));
  for (const [name, most] of Object.entries(WALKS)) {
    const { way, beside } = documented(page, name);
    // The first runs meet what is cold; what a timer starts beside them is not in all of the others.
    const [first = [], ...others] = runs.slice(2).map((run) => run[name as keyof typeof WALKS]);
    const passed = first.filter((file) => others.every((files) => files.includes(file)));
    deepStrictEqual([...way, ...beside].sort(), passed, name);
    ok(way.length <= most, `${name}: ${way.length} files`);
  }
});
