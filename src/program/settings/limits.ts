import { flag, integer } from "../../interfaces/fields.ts";
import { MAX_GAS_FIELD } from "../../interfaces/shared_fields.ts";
import { routeWeights } from "./route_weights.ts";

const MOST = 1_000_000_000;
/** Fifteen digits: what the parser of whole numbers reads. */
const LARGEST = 999_999_999_999_999;

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
