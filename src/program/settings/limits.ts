import { type Field, flag, integer } from "../../interfaces/fields.ts";
import { MAX_GAS_FIELD } from "../../interfaces/shared_fields.ts";
import { signedRouteName } from "../../wire/routes.ts";

const MOST = 1_000_000_000;
/** Fifteen digits: what the parser of whole numbers reads. */
const LARGEST = 999_999_999_999_999;

function parseJson(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    // The parser's own message would repeat a piece of the value.
    throw new TypeError("must be JSON");
  }
}

/** Weights by signed route: `{"POST /api/recall": 2}`. */
function routeWeights(
  env: string,
  doc: string,
): Field<Readonly<Record<string, number>>> {
  return {
    env,
    fallback: {},
    fallbackText: "none",
    doc,
    parse(raw) {
      const value = parseJson(raw);
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw new TypeError("must be a JSON object of route and number");
      }
      const weights: Record<string, number> = {};
      const strangers: string[] = [];
      for (const [route, weight] of Object.entries(value)) {
        const name = signedRouteName(route);
        if (name === undefined) {
          strangers.push(JSON.stringify(route));
          continue;
        }
        if (typeof weight !== "number" || !(weight >= 0 && weight <= 1000)) {
          throw new RangeError(`must give "${route}" a number from 0 to 1000`);
        }
        if (name in weights) throw new TypeError(`must name "${name}" once`);
        weights[name] = weight;
      }
      if (strangers.length > 0) {
        const names = strangers.join(", ");
        throw new TypeError(`must name signed routes such as "POST /api/recall", not ${names}`);
      }
      return weights;
    },
  };
}

export const LIMITS = {
  rateKeyPerMinute: integer(
    "SVC_RATE_LIMIT_KEY_PER_MINUTE",
    600,
    1,
    MOST,
    "Weight a delegate key may spend in a sliding minute",
  ),
  rateAccountPerMinute: {
    ...integer(
      "SVC_RATE_LIMIT_ACCOUNT_PER_MINUTE",
      0,
      0,
      MOST,
      "Weight an owner may spend in a sliding minute; unset or 0 = this layer is off",
    ),
    fallbackText: "off",
  },
  rateAccountPerHour: integer(
    "SVC_RATE_LIMIT_ACCOUNT_PER_HOUR",
    20_000,
    1,
    MOST,
    "Weight an owner may spend in a sliding hour",
  ),
  rateFreeReadsPerSecond: integer(
    "SVC_RATE_LIMIT_FREE_READS_PER_SECOND",
    10,
    0,
    1_000_000,
    "Status polls and GETs per second and key that weigh nothing",
  ),
  rateWeights: routeWeights(
    "SVC_RATE_LIMIT_WEIGHTS",
    'Weights by signed route, a JSON object such as `{"GET /api/remember/:job_id": 1}`',
  ),
  rateDisabled: flag(
    "SVC_RATE_LIMIT_DISABLED",
    false,
    "Switches off the limits of keys and accounts",
  ),
  quotaBytes: {
    ...integer(
      "SVC_QUOTA_BYTES",
      0,
      0,
      LARGEST,
      "Ciphertext bytes an owner may store; 0 = unlimited",
    ),
    fallbackText: "0 (unlimited)",
  },
  sponsorPerMinute: integer(
    "SVC_SPONSOR_PER_MINUTE",
    10,
    1,
    MOST,
    "Sponsor requests per minute, per client address and per sender",
  ),
  sponsorPerHour: integer(
    "SVC_SPONSOR_PER_HOUR",
    30,
    1,
    MOST,
    "Sponsor requests per hour, per client address and per sender",
  ),
  sponsorMaxGasMist: MAX_GAS_FIELD,
  sponsorDailyGasMist: integer(
    "SVC_SPONSOR_DAILY_GAS_MIST",
    1_000_000_000,
    1,
    LARGEST,
    "Most gas sponsored in a UTC day, MIST",
  ),
};
