import { z } from "zod";
import { fail, parseTime } from "./request_members.ts";

/**
 * A member of a query, which is always text; an empty one counts as absent. `T` is what clients give
 * before it is made text.
 */
export function queryMember<T>() {
  return z.custom<T>((given) => typeof given === "string").optional();
}

export function pageLimit(fallback: number, max: number) {
  return queryMember<number>().transform((given, context) => {
    const text = String(given ?? "");
    if (text === "") return fallback;
    const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > max) fail(context, "invalid_parameter", `must be from 1 to ${max}`);
    return value;
  }).meta({ type: "integer", minimum: 1, maximum: max, default: fallback });
}

/** A switch in a query. */
export const queryFlag = (fallback: boolean) => oneOf<boolean>(fallback, !fallback);

/** One of two; the first where none is named. */
export function oneOf<T extends string | boolean>(first: T, second: T) {
  return queryMember<T>().transform((given, context): T => {
    const text = String(given ?? "");
    if (text === "" || text === String(first)) return first;
    if (text !== String(second)) {
      fail(context, "invalid_parameter", `must be ${first} or ${second}`);
    }
    return second;
  }).meta({ type: typeof first, enum: [first, second], default: first });
}

/** A time in a query. */
export const queryTime = () =>
  queryMember<string>().transform((given, context) => {
    const text = String(given ?? "");
    if (text === "") return undefined;
    const time = parseTime(text);
    if (Number.isNaN(time)) fail(context, "invalid_parameter", "must be an RFC 3339 time");
    return time;
  }).optional().meta({ type: "string", format: "date-time" });

/** One of several words; an empty one counts as absent. */
export const queryWord = <const T extends string>(words: readonly T[]) =>
  z.custom<T>((given) => typeof given === "string").transform((given, context): T | undefined => {
    const text = String(given);
    const known = words.find((item) => item === text);
    if (known === undefined && text !== "") {
      fail(context, "invalid_parameter", `must be one of ${words.join(", ")}`);
    }
    return known;
  }).optional().meta({ type: "string", enum: words });
