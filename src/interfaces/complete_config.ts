import { DEFAULT_CONFIG, type RelayerConfig } from "./config.ts";
import { SvcError } from "../errors.ts";

/** Fields of which less than one would mean that nothing ever ends. */
const AT_LEAST_ONE: ReadonlySet<string> = new Set(
  [
    "jobConcurrency",
    "jobMaxAttempts",
    "llmCalls",
    "bodyTimeoutMs",
    "unverifiedBodyBytes",
    "indexMemoryBytes",
  ] satisfies (keyof RelayerConfig)[],
);
/** Timers of the platform that are told to wait longer fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * A configuration with the defaults for what it leaves out.
 *
 * @throws {SvcError} `invalid_parameter` when a number cannot be what its field means.
 */
export function completeConfig(given: Partial<RelayerConfig> = {}): RelayerConfig {
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const config: RelayerConfig = { ...DEFAULT_CONFIG, ...Object.fromEntries(named) };
  checkNumbers(config, DEFAULT_CONFIG, "config");
  for (const [route, weight] of Object.entries(config.rateLimit.weights)) {
    checkNumber(weight, route, `config.rateLimit.weights of ${route}`);
  }
  return config;
}

/** Checks what is a number in `defaults`, also in the objects of those. */
function checkNumbers(values: object, defaults: object, path: string): void {
  const given = new Map<string, unknown>(Object.entries(values));
  for (const [name, usual] of Object.entries(defaults)) {
    const value = given.get(name);
    const field = `${path}.${name}`;
    if (typeof usual === "number") checkNumber(value, name, field);
    else if (typeof usual === "object" && !Array.isArray(usual)) {
      if (typeof value !== "object" || value === null) throw invalid(field, "an object");
      checkNumbers(value, usual, field);
    }
  }
}

function checkNumber(value: unknown, name: string, field: string): void {
  const least = AT_LEAST_ONE.has(name) ? 1 : 0;
  const most = name.endsWith("Ms") ? LONGEST_TIMER : Infinity;
  if (typeof value === "number" && value >= least && value <= most) return;
  const range = most === Infinity ? `at least ${least}` : `from ${least} to ${most}`;
  throw invalid(field, `a number, ${range}`);
}

function invalid(field: string, wanted: string): SvcError {
  return new SvcError("invalid_parameter", `${field} must be ${wanted}`);
}
