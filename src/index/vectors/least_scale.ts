/** A row whose bytes would stand for steps smaller than this counts as zero: they have no inverse. */
export const LEAST_SCALE = 1e-30;
