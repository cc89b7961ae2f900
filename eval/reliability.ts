/** A probability that was said, and what happened. */
export interface Forecast {
  /** 0 to 1. */
  readonly said: number;
  /** Whether it was so. */
  readonly isTrue: boolean;
}

/** Forecasts of about the same probability. */
interface Bin {
  readonly count: number;
  /** Mean of what was said. */
  readonly said: number;
  /** Share that was so. */
  readonly was: number;
}

const BINS = 10;
const WIDTH = 40;

function bins(forecasts: readonly Forecast[]): Bin[] {
  return Array.from({ length: BINS }, (_, i) => {
    const some = forecasts.filter(({ said }) => Math.min(BINS - 1, Math.floor(BINS * said)) === i);
    const count = some.length;
    return {
      count,
      said: some.reduce((sum, { said }) => sum + said, 0) / Math.max(1, count),
      was: some.filter(({ isTrue }) => isTrue).length / Math.max(1, count),
    };
  });
}

/**
 * Expected calibration error: mean difference of what was said and what was, in ten bins of equal
 * width, each by its size (Guo et al., 2017, "On Calibration of Modern Neural Networks").
 */
export function calibrationError(forecasts: readonly Forecast[]): number {
  return bins(forecasts).reduce((sum, { count, said, was }) => {
    return sum + count * Math.abs(said - was) / forecasts.length;
  }, 0);
}

/** A line for each bin: `o` is what was said, `#` ends at what was. */
export function reliability(forecasts: readonly Forecast[]): string[] {
  return [
    "  confidence    hits  said   was",
    ...bins(forecasts).map(({ count, said, was }, i) => {
      const range = `${(i / BINS).toFixed(1)} to ${((i + 1) / BINS).toFixed(1)}`;
      if (count === 0) return `  ${range}     0`;
      const bar = [..."#".repeat(Math.round(WIDTH * was)).padEnd(WIDTH + 1)];
      bar[Math.round(WIDTH * said)] = "o";
      const numbers = [said, was].map((value) => value.toFixed(2).padStart(6)).join("");
      return `  ${range} ${String(count).padStart(5)}${numbers}  |${bar.join("").trimEnd()}`;
    }),
  ];
}
