import type { SendOptions } from "../relayer_fixture.ts";
import type { Case } from "./case.ts";

const HEX64 = "ab".repeat(32);
const HEX128 = "ab".repeat(64);
const UUID = "8f14e45f-ceea-467f-a3c1-2b0d6f3a9c11";
const MALFORMED = [401, "auth_header_invalid"] as const;
const MISSING = [401, "auth_headers_missing"] as const;
const NONCE = [401, "nonce_invalid"] as const;

function header(name: string, value: string | null, form: 4 | 6 = 6): SendOptions {
  return { form, headers: { [name]: value } };
}

function recall(name: string, sign: Case["sign"], answer: Case["answer"]): Case {
  return { name, target: "/api/recall", body: { query: "tea" }, sign: sign ?? {}, answer };
}

const malformed: readonly (readonly [name: string, header: string, value: string])[] = [
  ["63 characters", "x-public-key", HEX64.slice(1)],
  ["65 characters", "x-public-key", HEX64 + "a"],
  ["0x in front", "x-public-key", "0x" + HEX64],
  ["no hex", "x-public-key", "g" + HEX64.slice(1)],
  ["127 characters", "x-signature", HEX128.slice(1)],
  ["129 characters", "x-signature", HEX128 + "a"],
  ["0x in front", "x-signature", "0x" + HEX128],
  ["no hex", "x-signature", "z" + HEX128.slice(1)],
  ["milliseconds", "x-timestamp", "1767225600000"],
  ["a fraction", "x-timestamp", "1767225600.5"],
  ["an exponent", "x-timestamp", "1767225e39"],
  ["hex", "x-timestamp", "0x69556000"],
  ["a sign", "x-timestamp", "+176722560"],
  ["negative", "x-timestamp", "-176722560"],
  ["no number", "x-timestamp", "now"],
  ["no 0x", "x-account-id", HEX64],
  ["too short", "x-account-id", "0x" + HEX64.slice(1)],
  ["no hex", "x-account-id", "0x" + "g".repeat(64)],
  ["too short", "x-delegate-key", HEX64.slice(1)],
  ["no hex", "x-delegate-key", "z" + HEX64.slice(1)],
  ["another text", "x-delegate-key", "suiprivkey"],
  ["no base64", "x-seal-session", "{}"],
];

const repeated: readonly (readonly [name: string, value: string])[] = [
  ["x-public-key", HEX64],
  ["x-signature", HEX128],
  ["x-timestamp", "1767225600"],
  ["x-account-id", "0x" + HEX64],
  ["x-delegate-key", HEX64],
  ["x-seal-session", "e30="],
];

/** Signature headers that are missing or malformed, in both forms where that makes a difference. */
export const HEADER_CASES: readonly Case[] = [
  recall("no signature headers", "unsigned", MISSING),
  ...["x-public-key", "x-signature", "x-timestamp"].flatMap((name) => [
    recall(`without ${name}`, header(name, null), MISSING),
    recall(`${name} empty`, header(name, ""), MISSING),
  ]),
  ...malformed.map(([name, which, value]) =>
    recall(`${which}: ${name}`, header(which, value), MALFORMED)
  ),
  ...repeated.map(([name, value]) =>
    recall(`${name} twice`, header(name, `${value}, ${value}`), MALFORMED)
  ),
  recall("a nonce that is no UUID", header("x-nonce", "nonce"), NONCE),
  recall("a nonce in braces", header("x-nonce", `{${UUID}}`), NONCE),
  recall("a nonce without hyphens", header("x-nonce", UUID.replaceAll("-", "")), NONCE),
  recall("two nonces", header("x-nonce", `${UUID}, ${UUID}`), NONCE),
  {
    name: "a query with 4 fields",
    method: "GET",
    target: "/api/memories?limit=1",
    sign: { form: 4 },
    answer: [400, "unsigned_query"],
  },
  {
    name: "a lone question mark counts as a query",
    method: "GET",
    target: "/api/memories?limit",
    sign: { form: 4 },
    answer: [400, "unsigned_query"],
  },
  recall("301 s ago", (svc) => ({ timestamp: at(svc.clock.now(), -301) }), [
    401,
    "timestamp_out_of_range",
  ]),
  recall("in 302 s", (svc) => ({ timestamp: at(svc.clock.now(), 302) }), [
    401,
    "timestamp_out_of_range",
  ]),
  recall("another signature", header("x-signature", HEX128), [401, "signature_invalid"]),
  recall("another account was signed", header("x-account-id", "0x" + HEX64), [
    401,
    "signature_invalid",
  ]),
  recall("another nonce was signed", header("x-nonce", UUID), [401, "signature_invalid"]),
  recall("the form was changed", header("x-nonce", null), [401, "signature_invalid"]),
  recall("a foreign account", { accountId: "0x" + HEX64 }, [401, "account_not_authorized"]),
];

function at(now: number, seconds: number): string {
  return String(Math.floor(now / 1000) + seconds);
}
