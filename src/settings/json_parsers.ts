import { type Field, Secret } from "../fields.ts";
import { isObjectId } from "../protocol/keys.ts";

function parseJson(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    // The parser's own message would repeat a piece of the value.
    throw new TypeError("must be JSON");
  }
}

/** Weights by route: `{"POST /api/recall": 2}`. */
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
      for (const [route, weight] of Object.entries(value)) {
        if (!/^(GET|POST|PUT|DELETE) \/[\w/:.-]*$/.test(route)) {
          throw new TypeError(`has "${route}", which is not a route such as "POST /api/recall"`);
        }
        if (typeof weight !== "number" || !(weight >= 0 && weight <= 1000)) {
          throw new RangeError(`must give "${route}" a number from 0 to 1000`);
        }
        weights[route] = weight;
      }
      return weights;
    },
  };
}

/** Key servers of a threshold key service; they may carry API keys, so the value is a secret. */
export function keyServers(env: string, doc: string): Field<Secret | undefined> {
  return {
    env,
    fallback: undefined,
    doc,
    parse(raw) {
      const value = parseJson(raw);
      const valid = Array.isArray(value) && value.length > 0 &&
        value.every((server: unknown) =>
          typeof server === "object" && server !== null && "objectId" in server &&
          typeof server.objectId === "string" && isObjectId(server.objectId) &&
          (!("weight" in server) || (Number.isInteger(server.weight) && Number(server.weight) >= 0))
        );
      if (!valid) throw new TypeError("must be a JSON list of {objectId, weight?, …}");
      return new Secret(raw);
    },
  };
}
