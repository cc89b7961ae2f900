/**
 * Exact search of one loaded scope against the read limit: the time to touch its floats once. From
 * 801 rows on the search reads rounded bytes first, so that it may take less.
 * Also by itself, for other lengths of vectors: `deno run -A bench/scan.ts [dimensions=512]`.
 */
import { assembled, sumRead } from "../build/index_kernel.ts";
import { Arena } from "../src/index/vectors/arena.ts";
import { bestKernel, type KernelBuild } from "../src/index/vectors/dot_kernel.ts";
import { ResidentScope } from "../src/index/resident_scope.ts";
import { type Figure, type Part, tableText } from "./figures.ts";
import { median, uniform, unitVector } from "./statistics.ts";

/** Rounds in which the two take turns: the machine has phases in which everything is slower. */
const ROUNDS = 11;
/** Milliseconds of both before the first round, until they are compiled. */
const WARM_UP = 100;
const ROWS = [10, 100, 1000, 10_000, 100_000];
/** Sizes for which the search may take at most so many times the read limit. */
const GOALS = new Map([[1000, 1.6], [10_000, 1], [100_000, 1.25]]);

/** Median milliseconds of one call. */
function time(calls: number, call: () => unknown): number {
  const times: number[] = [];
  for (let i = 0; i < calls; i++) {
    const start = performance.now();
    call();
    times.push(performance.now() - start);
  }
  return median(times);
}

function filled(arena: Arena, rows: number, dimensions: number): ResidentScope {
  const random = uniform(1);
  const scope = new ResidentScope({ owner: "0x01", namespace: "bench" }, arena);
  for (let row = 0; row < rows; row++) {
    scope.put({
      ...scope.scope,
      id: String(row),
      version: 1,
      vectors: [unitVector(dimensions, random)],
      payload: new Uint8Array(),
      keyId: "",
      createdAt: row,
      updatedAt: row,
      importance: 0.5,
      source: "remember",
      bytes: 300,
    });
  }
  return scope;
}

type SumRead = (base: number, bytes: number) => number;

/** Something that reads so many bytes, whatever build of the kernel is measured. */
function reader(module: WebAssembly.Module, bytes: number): () => number {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65_536) });
  new Float32Array(memory.buffer).fill(0.01);
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  const read = exports.sum_read as unknown as SumRead;
  return () => read(0, bytes & ~63);
}

function measure(
  rows: number,
  build: KernelBuild,
  dimensions: number,
  module: WebAssembly.Module,
): Figure[] {
  const arena = new Arena(dimensions, { build });
  const scope = filled(arena, rows, dimensions);
  const bytes = rows * arena.stride * 4;
  const calls = Math.max(20, Math.min(2000, 400_000 / rows));
  const query = unitVector(dimensions, uniform(2));
  const read = reader(module, bytes);
  const search = () => scope.match({ vector: query }, { limit: 10 });
  for (const call of [read, search]) {
    const end = performance.now() + WARM_UP;
    while (performance.now() < end) call();
  }
  const reads: number[] = [];
  const searches: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    reads.push(time(calls, read));
    searches.push(time(calls, search));
  }
  const ratio = median(searches.map((search, round) => search / reads[round]!));
  const name = `${rows} x ${dimensions}, ${build}`;
  const goal = build === bestKernel() ? GOALS.get(rows) : undefined;
  return [
    { name: `${name}: read`, value: median(reads), unit: "ms" },
    { name: `${name}: search`, value: median(searches), unit: "ms" },
    {
      name: `${name}: search / read`,
      value: ratio,
      unit: "x",
      ...(goal === undefined ? {} : { goal: { atMost: goal } }),
    },
  ];
}

async function measureAll(dimensions: number): Promise<Figure[]> {
  const best = bestKernel();
  const module = new WebAssembly.Module(await assembled([sumRead()]));
  return [
    ...ROWS.flatMap((rows) => measure(rows, best, dimensions, module)),
    ...measure(1000, "plain", dimensions, module),
  ];
}

const TITLE = "scan: exact search of a loaded scope next to reading its bytes once, one thread";

/** Exact search next to the read limit. */
export const scanPart: Part = {
  name: "scan",
  title: TITLE,
  run: () => measureAll(512),
};

if (import.meta.main) {
  const text = tableText(TITLE, await measureAll(Number(Deno.args[0] ?? 512)));
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
