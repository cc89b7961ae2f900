/**
 * Exact search of one loaded scope against the read limit: the time to touch the same bytes once.
 * `deno run -A bench/scan.ts [dimensions=512]`; the goal is a ratio of at most 1.6.
 */
import { Arena } from "../src/index/arena.ts";
import { bestKernel, type KernelBuild } from "../src/index/dot_kernel.ts";
import { ResidentScope } from "../src/index/resident_scope.ts";

const dimensions = Number(Deno.args[0] ?? 512);
const ROUNDS = 5;

/** Deterministic numbers in 0..1 (mulberry32), so that runs compare. */
function uniform(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = uniform(1);
function unitVector(): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => random() + random() - 1);
  const length = Math.hypot(...vector);
  return vector.map((x) => x / length);
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}

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

function fill(arena: Arena, rows: number): ResidentScope {
  const scope = new ResidentScope({ owner: "0x01", namespace: "bench" }, arena);
  for (let row = 0; row < rows; row++) {
    scope.put({
      ...scope.scope,
      id: String(row),
      version: 1,
      vectors: [unitVector()],
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

function measure(rows: number, build: KernelBuild): void {
  const arena = new Arena(dimensions, { build });
  // The read limit is the SIMD kernel's also where another build is measured.
  const limits = new Arena(dimensions);
  const scope = fill(arena, rows);
  const start = limits.allocate();
  const bytes = rows * arena.stride * 4;
  while (limits.floats.byteLength < start + bytes) limits.allocate();
  limits.floats.fill(0.01);
  const calls = Math.max(20, Math.min(2000, 400_000 / rows));
  const ratios: number[] = [];
  const reads: number[] = [];
  const searches: number[] = [];
  const query = unitVector();
  for (let round = 0; round < ROUNDS; round++) {
    reads.push(time(calls, () => limits.kernel.sum_read(start, bytes & ~63)));
    searches.push(time(calls, () => scope.search(query, { limit: 10 })));
    ratios.push(searches[round]! / reads[round]!);
  }
  const [read, search, ratio] = [reads, searches, ratios].map(median) as [number, number, number];
  print(
    `${String(rows).padStart(7)} x ${dimensions} ${build.padEnd(7)} read ${read.toFixed(3)} ms  ` +
      `search ${search.toFixed(3)} ms  ratio ${ratio.toFixed(2)}`,
  );
}

const best = bestKernel();
for (const rows of [10, 100, 1000, 10_000, 50_000]) measure(rows, best);
measure(10_000, "simd");
measure(1000, "plain");
