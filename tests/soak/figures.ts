/** What was seen at one moment of a soak. */
export interface Sample {
  /** Since the start, seconds. */
  readonly at: number;
  /** Resident memory of the relayer and of the sidecar, MiB. */
  readonly relayerMiB: number;
  readonly sidecarMiB: number;
  /** Open descriptors of both. */
  readonly descriptors: number;
}

/** How long one request took. */
export interface Timing {
  /** When it was sent, since the start, seconds. */
  readonly at: number;
  readonly ms: number;
}

/** A goal, and what was measured. */
export interface Verdict {
  readonly name: string;
  readonly value: string;
  readonly isMet: boolean;
}

/** Parts of a run: the first is for warming up, later ones are compared with the second. */
const PARTS = 6;
/** Most growth of both processes together, MiB a minute. */
const MOST_GROWTH = 1.5;
/** Descriptors come and go with the requests that are under way. */
const SPARE_DESCRIPTORS = 30;

/** The slope of a line through points by least squares; 0 for fewer than two. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanOf = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [meanX, meanY] = [meanOf(0), meanOf(1)];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return below === 0 ? 0 : above / below;
}

/** The value below which 95 % of the values lie. */
export function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.95) - 1)] ?? NaN;
}

/** The timings of one part of a run, in milliseconds. */
function partOf(timings: readonly Timing[], seconds: number, part: number): number[] {
  const [from, to] = [seconds * part / PARTS, seconds * (part + 1) / PARTS];
  return timings.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms);
}

/**
 * What a run of so many seconds came to. Memory and descriptors are looked at after the first sixth,
 * latency in the second sixth and in the last.
 */
export function verdictsOf(
  seconds: number,
  samples: readonly Sample[],
  timings: readonly Timing[],
): Verdict[] {
  const warm = samples.filter(({ at }) => at >= seconds / PARTS);
  const growth = (member: "relayerMiB" | "sidecarMiB") =>
    slope(warm.map((sample) => [sample.at / 60, sample[member]]));
  const [relayer, sidecar] = [growth("relayerMiB"), growth("sidecarMiB")];
  const early = p95(partOf(timings, seconds, 1));
  const late = p95(partOf(timings, seconds, PARTS - 1));
  const open = warm.map(({ descriptors }) => descriptors);
  const least = (values: readonly number[]) => Math.min(...values);
  const quarter = Math.max(1, Math.floor(open.length / 4));
  const [before, after] = [least(open.slice(0, quarter)), least(open.slice(-quarter))];
  return [
    {
      name: "memory, MiB a minute",
      value: `relayer ${relayer.toFixed(2)}, sidecar ${sidecar.toFixed(2)}`,
      isMet: relayer + sidecar <= MOST_GROWTH,
    },
    {
      name: "p95 of recalls and lists, ms",
      value: `${early.toFixed(1)} early, ${late.toFixed(1)} late`,
      isMet: late <= 2 * early,
    },
    {
      name: "descriptors at rest",
      value: `${before} early, ${after} late, ${Math.max(...open)} at most`,
      isMet: after <= before + SPARE_DESCRIPTORS,
    },
  ];
}
