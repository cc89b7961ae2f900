import type { z } from "zod";
import { exampleOf, jsonSchemaOf } from "../../src/wire/json_schema.ts";
import { routeNames, rowOf } from "../../src/wire/routes.ts";
import type { RouteName } from "../../src/wire/route_types.ts";
import type { Random } from "../contracts/differential/random.ts";
import { signedHeaders, type TestKey } from "../relayer_fixture.ts";
import { hostileJson, hostileText, mutated } from "./hostile.ts";

/** Who asks, and whom. */
export interface Target {
  /** Host and port. */
  readonly host: string;
  readonly key: TestKey;
  readonly accountId: string;
  /** Bearer of MCP requests. */
  readonly bearer: string;
  /** A session of MCP over HTTP that stays, and one over SSE. */
  readonly session: string;
  readonly messages: string;
}

/** A request as it is sent, one byte a unit, and what is told of it where it fails. */
export interface FuzzRequest {
  readonly kind: string;
  readonly bytes: string;
  /** Whether the answer is a stream that does not end. */
  readonly isStream?: boolean;
}

/** Where the dashboard is said to be. */
export const ORIGIN = "http://dashboard.example";
const ROUTES = routeNames();
const JSON_TYPE: readonly [string, string] = ["content-type", "application/json"];
const FORM_TYPE: readonly [string, string] = [
  "content-type",
  "application/x-www-form-urlencoded",
];

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return text;
}

const asBytes = (text: string): string => latin1(new TextEncoder().encode(text));

function bytesOf(
  method: string,
  target: string,
  headers: Iterable<readonly [string, string]>,
  body?: Uint8Array,
): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${asBytes(value)}\r\n`).join("");
  const length = body === undefined ? "" : `content-length: ${body.length}\r\n`;
  const rest = body === undefined ? "" : latin1(body);
  return `${method} ${target} HTTP/1.1\r\n${lines}${length}connection: close\r\n\r\n${rest}`;
}

/** A path of a route whose parameter and query are somebody's choice. */
function targetOf(name: RouteName, random: Random): string {
  const path = name.slice(name.indexOf(" ") + 1);
  const parameter = random.once(2) ? crypto.randomUUID() : hostileText(random).slice(0, 500);
  const filled = path.replace(":id", () => encoded(parameter) || "x");
  const { query } = rowOf(name);
  if (query === undefined && !random.once(10)) return filled;
  const members = Object.keys(
    query === undefined ? { a: 1 } : jsonSchemaOf(query).properties ?? {},
  );
  const pairs = members.filter(() => random.once(2)).map((member) => {
    const value = hostileText(random).slice(0, 2000);
    return `${member}=${random.once(4) ? "%ff%zz%" : encoded(value)}`;
  });
  return pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`;
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function bodyOf(name: RouteName, random: Random): Uint8Array<ArrayBuffer> | undefined {
  const { body, form } = rowOf(name);
  if (body === undefined) return random.once(10) ? hostileJson({}, random) : undefined;
  let value = exampleOf(jsonSchemaOf(body));
  for (let times = random.below(4); times > 0; times--) value = mutated(value, random);
  return form && !random.once(8) ? formOf(body, random) : hostileJson(value, random);
}

function formOf(body: z.ZodType, random: Random): Uint8Array<ArrayBuffer> {
  const members = Object.keys(jsonSchemaOf(body).properties ?? {});
  const known = ["authorization_code", "refresh_token", `svcr1.${"A".repeat(91)}`];
  const pairs = members.filter(() => random.once(2)).map((name): [string, string] => {
    const value = random.once(3) ? random.pick(known) : hostileText(random).slice(0, 2000);
    return [name, value.toWellFormed()];
  });
  return new TextEncoder().encode(
    `${new URLSearchParams(pairs)}${random.once(9) ? "&%ff=%zz" : ""}`,
  );
}

/** A well signed request of any route, of which one thing may be odd. */
function signed({ host, key, accountId }: Target, random: Random): FuzzRequest {
  const name = random.pick(ROUTES);
  const method = name.slice(0, name.indexOf(" "));
  const target = targetOf(name, random);
  const body = bodyOf(name, random);
  const headers = signedHeaders(key, method, target, body, `${Math.floor(Date.now() / 1000)}`, {
    form: random.once(4) ? 4 : 6,
    ...(random.once(4) ? { audience: `http://${host}` } : {}),
    ...(random.once(2) ? { accountId } : {}),
  });
  headers.set("host", host);
  if (random.once(6)) headers.set("idempotency-key", `${random.below(50)}`);
  const list = [...headers].map(([header, value]): [string, string] => {
    return random.once(30) ? [header, hostileHeader(random)] : [header, value];
  });
  return { kind: `signed ${name}`, bytes: bytesOf(method, target, list, body), ...streams(name) };
}

/** A request that nobody signed. */
function unsigned({ host }: Target, random: Random): FuzzRequest {
  const name = random.pick(ROUTES);
  const method = random.once(10)
    ? random.pick(["PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "X"])
    : name.slice(0, name.indexOf(" "));
  const type = rowOf(name).form && !random.once(8) ? FORM_TYPE : JSON_TYPE;
  const headers: [string, string][] = [["host", host], [...type]];
  if (random.once(2)) headers.push(["origin", ORIGIN]);
  if (random.once(4)) headers.push([`x-${random.below(9)}`, hostileHeader(random)]);
  const bytes = bytesOf(method, targetOf(name, random), headers, bodyOf(name, random));
  return { kind: `unsigned ${name}`, bytes, ...streams(name) };
}

/** A value that a header can carry. */
function hostileHeader(random: Random): string {
  const text = hostileText(random).slice(0, 20_000);
  return random.once(5) ? text : text.replace(/[\r\n\0]/g, "");
}

function streams(name: RouteName): { isStream?: boolean } {
  return name === "GET /api/mcp" || name === "GET /api/mcp/sse" ? { isStream: true } : {};
}

const TOOLS = ["svc_remember", "svc_recall", "svc_analyze", "svc_restore", "svc_health"];
const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "fuzz", version: "1" },
};

function frame(random: Random): unknown {
  const call = (name: string, args: unknown) => ({ name, arguments: args });
  const [method, params] = random.pick<readonly [string, unknown]>([
    ["tools/call", call(random.pick(TOOLS), { text: "tea", query: "tea", namespace: "mcp" })],
    ["tools/list", {}],
    ["ping", {}],
    ["initialize", INITIALIZE],
    ["notifications/cancelled", { requestId: 1, reason: "x" }],
    ["resources/read", { uri: "file:///etc/passwd" }],
    ["logging/setLevel", { level: "debug" }],
    [hostileText(random).slice(0, 300), {}],
  ]);
  const ids = [{ id: 1 }, { id: "a" }, { id: null }, { id: -1 }, { id: 1.5 }, { id: {} }, {}];
  const message = { jsonrpc: "2.0", ...random.pick<object>(ids), method, params };
  return random.once(8) ? [message, message] : message;
}

/** A frame of MCP, over one of its transports. */
function mcp(target: Target, random: Random): FuzzRequest {
  let value = frame(random);
  for (let times = random.below(3); times > 0; times--) value = mutated(value, random);
  const headers: [string, string][] = [
    ["host", target.host],
    ["authorization", `Bearer ${target.bearer}`],
    ["x-svc-account-id", target.accountId],
    [...JSON_TYPE],
    ["accept", random.once(9) ? hostileHeader(random) : "application/json, text/event-stream"],
  ];
  const overSse = random.once(3);
  if (!overSse && !random.once(5)) headers.push(["mcp-session-id", target.session]);
  if (random.once(4)) headers.push(["mcp-protocol-version", hostileHeader(random).slice(0, 99)]);
  if (random.once(9)) headers.push(["mcp-method", hostileHeader(random).slice(0, 99)]);
  const path = overSse ? target.messages : "/api/mcp";
  const bytes = bytesOf("POST", path, headers, hostileJson(value, random));
  return { kind: `mcp over ${overSse ? "SSE" : "HTTP"}`, bytes };
}

/** The bytes of a good request with some of them changed: what no client would send. */
function broken(target: Target, random: Random): FuzzRequest {
  const { bytes } = random.once(2) ? signed(target, random) : mcp(target, random);
  let text = bytes.slice(0, 4000);
  for (let times = 1 + random.below(4); times > 0; times--) {
    const at = random.below(text.length);
    const piece = random.pick([
      "\r\n",
      "\n",
      "\0",
      "\x80\xff",
      ":",
      " ",
      "transfer-encoding: chunked\r\n",
      "content-length: 7\r\n",
      "host: other.example\r\n",
      "ffffffffffffffff\r\n",
      "0\r\n\r\n",
      "",
    ]);
    text = text.slice(0, at) + piece + text.slice(at + random.below(6));
  }
  return { kind: "broken", bytes: text, isStream: true };
}

/** A request that a hostile client might send; the same for the same state of `random`. */
export function nextRequest(target: Target, random: Random): FuzzRequest {
  const turn = random.below(10);
  if (turn < 5) return signed(target, random);
  if (turn < 6) return unsigned(target, random);
  return turn < 9 ? mcp(target, random) : broken(target, random);
}
