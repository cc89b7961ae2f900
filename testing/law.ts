import { rejects } from "node:assert/strict";
import type { ErrorCode } from "../src/errors.ts";
import type { Case } from "./suite.ts";

/** A case on a fresh backend that is disposed afterwards. */
export function law<T extends AsyncDisposable>(
  name: string,
  body: (subject: T) => Promise<void>,
): Case<T> {
  return {
    name,
    async run(make) {
      await using subject = await make();
      await body(subject);
      return undefined;
    },
  };
}

/** A case about an optional member; `part` answers it, or `undefined` where it is missing. */
export function lawOf<T extends AsyncDisposable, P>(
  name: string,
  member: string,
  part: (subject: T) => P | undefined,
  body: (part: P, subject: T) => Promise<void>,
): Case<T> {
  return {
    name,
    async run(make) {
      await using subject = await make();
      const found = part(subject);
      if (found === undefined) return `the backend has no ${member}`;
      await body(found, subject);
      return undefined;
    },
  };
}

/** Calls that must reject, by name. */
export type Calls<T> = (subject: T, signal: AbortSignal) => Record<string, () => Promise<unknown>>;

/** Every call given an aborted signal rejects with the signal's own reason. */
export function abortLaw<T extends AsyncDisposable>(calls: Calls<T>): Case<T> {
  return law("rejects with the reason of an aborted signal", async (subject) => {
    const reason = new Error("stop");
    for (const [name, call] of Object.entries(calls(subject, AbortSignal.abort(reason)))) {
      await rejects(call, (error) => error === reason, `${name} ignored the signal`);
    }
  });
}

/** Every call after disposal rejects with a code. */
export function disposalLaw<T extends AsyncDisposable>(code: ErrorCode, calls: Calls<T>): Case<T> {
  return {
    name: `rejects with ${code} after disposal`,
    async run(make) {
      const subject = await make();
      await subject[Symbol.asyncDispose]();
      const all = Object.entries(calls(subject, new AbortController().signal));
      for (const [name, call] of all) {
        await rejects(call, { name: "SvcError", code }, `${name} went on`);
      }
      return undefined;
    },
  };
}

/** An owner's address or account id out of one digit, `0x` and 64 hex characters. */
export function objectId(digit: string): string {
  return "0x" + digit.repeat(64);
}

/** Namespaces that careless quoting, folding, trimming or joining would mix up. */
export const HOSTILE_NAMESPACES: readonly string[] = [
  "default",
  "Default",
  "default ",
  " default",
  "",
  " ",
  "a",
  "ab",
  "a/b",
  "/b",
  "a/",
  "b",
  "a%",
  "a_",
  "..",
  "../a",
  "' OR 1=1 --",
  '"default"',
  "a\\'b",
  "nai\u0308ve",
  "na\u00efve",
  "記憶",
  "🧠",
  "a\u0000b",
  "a\u0000",
  "a\n",
  "null",
  "__proto__",
  "x".repeat(255),
  "x".repeat(256),
];
