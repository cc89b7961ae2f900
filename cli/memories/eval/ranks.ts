/** Quality of ranked answers where every query has one right one. All are means over the queries. */
export interface Quality {
  /** Number of queries. */
  readonly queries: number;
  /** Share of queries whose answer is first, in percent. */
  readonly hit1: number;
  /** Share of queries whose answer is among the first 5, in percent. */
  readonly hit5: number;
  /** Share of right answers among the first 10, in percent. */
  readonly recall10: number;
  /** Discounted gain of the first 10, in percent: 1 / log2(1 + rank), with one right answer. */
  readonly ndcg10: number;
}

/** Quality of answers at these ranks, counted from 1. */
export function quality(ranks: readonly number[]): Quality {
  const percent = (value: (rank: number) => number): number =>
    100 * ranks.reduce((sum, rank) => sum + value(rank), 0) / ranks.length;
  return {
    queries: ranks.length,
    hit1: percent((rank) => Number(rank <= 1)),
    hit5: percent((rank) => Number(rank <= 5)),
    recall10: percent((rank) => Number(rank <= 10)),
    ndcg10: percent((rank) => rank <= 10 ? 1 / Math.log2(1 + rank) : 0),
  };
}

/** Rank of an item, from 1: those with a higher score, and equal ones listed before it, precede. */
export function rankOf(item: number, scores: ArrayLike<number>): number {
  let rank = 1;
  for (let i = 0; i < scores.length; i++) {
    if (scores[i]! > scores[item]! || (scores[i] === scores[item] && i < item)) rank++;
  }
  return rank;
}

/**
 * 95 % bootstrap interval of how much better ranks of the same queries are, in percent points.
 *
 * @param random Uniform numbers, 0 to 1.
 */
export function gainInterval(
  before: readonly number[],
  after: readonly number[],
  measure: (quality: Quality) => number,
  random: () => number,
  resamples = 2000,
): readonly [low: number, high: number] {
  const values = Array.from({ length: resamples }, () => {
    const drawn = Array.from(before, () => Math.floor(random() * before.length));
    return measure(quality(drawn.map((at) => after[at]!))) -
      measure(quality(drawn.map((at) => before[at]!)));
  }).sort((a, b) => a - b);
  return [values[Math.floor(resamples * 0.025)]!, values[Math.floor(resamples * 0.975)]!];
}

/**
 * 95 % bootstrap interval of a quality (percentile method; Efron and Tibshirani, 1993, chapter 13).
 *
 * @param random Uniform numbers, 0 to 1.
 */
export function interval(
  ranks: readonly number[],
  measure: (quality: Quality) => number,
  random: () => number,
  resamples = 2000,
): readonly [low: number, high: number] {
  const values = Array.from({ length: resamples }, () =>
    measure(
      quality(Array.from(ranks, () => ranks[Math.floor(random() * ranks.length)]!)),
    )).sort((a, b) => a - b);
  return [values[Math.floor(resamples * 0.025)]!, values[Math.floor(resamples * 0.975)]!];
}

/** Uniform numbers, 0 to 1, the same ones each time (mulberry32): an interval does not change. */
export function seeded(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
