import type { Field } from "../../interfaces/fields.ts";
import { signedRouteName } from "../../wire/routes.ts";

function parseJson(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    // The parser's own message would repeat a piece of the value.
    throw new TypeError("must be JSON");
  }
}

/** Weights by signed route: `{"POST /api/recall": 2}`. */
export function routeWeights(
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
