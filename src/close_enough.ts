/** The best hit must answer the query with at least this probability, or nothing is close enough. */
export const CONFIDENCE_FLOOR = 0.07;
/** Then hits that are less likely than this are left out. */
const LEAST_CONFIDENCE = 0.003;

interface Rated {
  /** Absent where nobody calibrated it. */
  readonly confidence?: number | undefined;
}

const reaches = ({ confidence = 1 }: Rated, least: number): boolean => confidence >= least;

/**
 * The hits that are worth showing to who asked a question: none where none is close enough. A right
 * answer is often second or third, so it is the best one that decides. Hits without a confidence are
 * kept.
 *
 * @param least keeps every hit with this confidence, and no other, instead.
 */
export function closeEnough<H extends Rated>(hits: readonly H[], least?: number): H[] {
  if (least !== undefined) return hits.filter((hit) => reaches(hit, least));
  if (!hits.some((hit) => reaches(hit, CONFIDENCE_FLOOR))) return [];
  return hits.filter((hit) => reaches(hit, LEAST_CONFIDENCE));
}

/** Hits worth showing; where there are none, those that are nearest all the same. */
export interface Shown<H> {
  readonly results: readonly H[];
  /** At most two; none where there are results, or no hits. */
  readonly nearest: readonly H[];
}

const NEAREST = 2;

/** As {@linkcode closeEnough}, with what is nearest where nothing is. */
export function shown<H extends Rated>(hits: readonly H[], least?: number): Shown<H> {
  const results = closeEnough(hits, least);
  return { results, nearest: results.length === 0 ? hits.slice(0, NEAREST) : [] };
}
