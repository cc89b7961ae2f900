import assert from "node:assert/strict";
import { type Dashboard, IDS, type PostOptions } from "./dashboard.ts";

/** A request that must be refused: how it differs from a good one, and the answer. */
export interface Probe {
  readonly name: string;
  readonly options?: (dashboard: Dashboard) => PostOptions;
  readonly path?: string;
  readonly body?: (dashboard: Dashboard) => unknown;
  readonly answer: readonly [status: number, code: string];
}

/** An answer. */
export const HOST: Probe["answer"] = [403, "host_not_allowed"];
/** An answer. */
export const NOT_FOUND: Probe["answer"] = [404, "not_found"];
/** An answer. */
export const ORIGIN: Probe["answer"] = [403, "origin_not_allowed"];
/** An answer. */
export const TYPE: Probe["answer"] = [415, "unsupported_media_type"];
/** An answer. */
export const LARGE: Probe["answer"] = [413, "body_too_large"];
/** An answer. */
export const MALFORMED: Probe["answer"] = [400, "malformed_json"];
/** An answer. */
export const INVALID: Probe["answer"] = [400, "invalid_parameter"];
/** An answer. */
export const STATE: Probe["answer"] = [403, "state_mismatch"];

const host = (name: string, value: (port: number) => string): Probe => ({
  name: `host ${name}`,
  options: ({ port }) => ({ host: value(port) }),
  answer: HOST,
});
const head = (name: string, options: PostOptions, answer: Probe["answer"]): Probe => ({
  name,
  options: () => options,
  answer,
});
const body = (name: string, members: object, answer: Probe["answer"]): Probe => ({
  name,
  body: (dashboard) => dashboard.approval(members),
  answer,
});

const PROBES: readonly Probe[] = [
  host("of a stranger", () => "evil.example"),
  host("of a stranger with the port", (port) => `evil.example:${port}`),
  host("without port", () => "127.0.0.1"),
  host("with another port", (port) => `127.0.0.1:${port - 1}`),
  host("with a suffix", (port) => `localhost:${port}.evil.example`),
  host("[::1]", (port) => `[::1]:${port}`),
  host("empty", () => ""),
  head("GET", { method: "GET" }, NOT_FOUND),
  head("PUT", { method: "PUT" }, NOT_FOUND),
  { name: "another path", path: "/", answer: NOT_FOUND },
  { name: "a query", path: "/callback?x=1", answer: NOT_FOUND },
  { name: "a longer path", path: "/callback/", answer: NOT_FOUND },
  head("no origin", { origin: null }, ORIGIN),
  head("null origin", { origin: "null" }, ORIGIN),
  head("another origin", { origin: "https://evil.example" }, ORIGIN),
  head("another port of the origin", { origin: "http://localhost:5174" }, ORIGIN),
  head("another scheme of the origin", { origin: "https://localhost:5173" }, ORIGIN),
  head("the origin twice", { headers: { Origin: "http://localhost:5173" } }, ORIGIN),
  head("no content type", { type: null }, TYPE),
  head("plain text", { type: "text/plain" }, TYPE),
  head("a form", { type: "application/x-www-form-urlencoded" }, TYPE),
  head("nearly JSON", { type: "application/jsonp" }, TYPE),
  { name: "oversized", body: () => " ".repeat(16_385), answer: LARGE },
  { name: "oversized, without a length", body: () => "", answer: LARGE },
  { name: "not JSON", body: () => "state=1", answer: MALFORMED },
  { name: "empty", body: () => "", answer: MALFORMED },
  { name: "an array", body: () => "[]", answer: MALFORMED },
  { name: "null", body: () => "null", answer: MALFORMED },
  body("no account", { accountId: undefined }, INVALID),
  body("an account without 0x", { accountId: IDS.accountId.slice(2) }, INVALID),
  body("an account that is a number", { accountId: 7 }, INVALID),
  body("no state", { state: undefined }, INVALID),
  body("a short state", { state: "0".repeat(63) }, INVALID),
  body("an upper-case state", { state: "A".repeat(64) }, INVALID),
  body("another state", { state: "0".repeat(64) }, STATE),
];
const CALLBACK_PROBES: readonly Probe[] = [
  body("no wallet", { walletAddress: undefined }, INVALID),
  body("no package", { packageId: "0x12" }, INVALID),
  body("a long label", { label: "ü".repeat(33) }, INVALID),
  body("a label that is no text", { label: {} }, INVALID),
];

async function probe(dashboard: Dashboard, path: string, which: Probe) {
  const text = (which.body ?? (() => dashboard.approval()))(dashboard);
  if (which.name === "oversized, without a length") return await chunked(dashboard, path);
  return await dashboard.post(which.path ?? path, text, which.options?.(dashboard));
}

/** More than 16 KiB in pieces whose number is not announced. */
async function chunked(dashboard: Dashboard, path: string) {
  const { port, url } = dashboard;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { origin: url.origin, "content-type": "application/json" },
    body: ReadableStream.from(Array.from({ length: 17 }, () => new Uint8Array(1024).fill(0x20))),
  });
  return { status: response.status, body: await response.json() };
}

/** Sends every probe to both paths; each must get its answer. */
export async function probeAll(dashboard: Dashboard): Promise<void> {
  for (const path of ["/proof", "/callback"]) {
    for (const which of [...PROBES, ...(path === "/callback" ? CALLBACK_PROBES : [])]) {
      const { status, body } = await probe(dashboard, path, which);
      assert.deepEqual([status, body.code], which.answer, `${which.name} at ${path}`);
    }
  }
}
