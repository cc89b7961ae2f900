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

async function warm(relayer: TestRelayer): Promise<void> {
  for (const text of ["I like tea", "I like tea very much"]) {
    await relayer.remember(text);
    await relayer.recall(`Who said "${text}"?`);
  }
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
  await warm(relayer);
  const page = await Deno.readTextFile(new URL("docs/architecture.md", ROOT));
  using coverage = new Coverage();
  const remember = relayer.request("POST", "/api/remember", { text: "I am allergic to nuts" });
  const recall = relayer.request("POST", "/api/recall", { query: "What am I allergic to?" });
  // A job that waits takes the only place, so that the next one begins when it is told to.
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  Object.assign(held, { before: gate.promise, reached: reached.resolve });
  await relayer.post("/api/remember", { text: "I like coffee" });
  await reached.promise;
  await coverage.files();

  const walk = async (heading: string, most: number, act: () => Promise<unknown>) => {
    await act();
    const passed = await coverage.files();
    const { way, beside } = documented(page, heading);
    deepStrictEqual([...way, ...beside].sort(), passed, heading);
    ok(way.length <= most, `${heading}: ${way.length} files`);
  };
  await walk("Remember, to the 202", 20, () => relayer.fetch(remember));
  gate.resolve();
  await walk("Remember, to the row", 15, () => relayer.relayer.idle());
  await walk("Recall", 20, () => relayer.fetch(recall));
});
