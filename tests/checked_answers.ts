import { z } from "zod";
import { SvcError } from "../src/errors.ts";
import { errorShape } from "../src/wire/answer_members.ts";
import type { AnswerShape } from "../src/wire/route.ts";
import { errorsOf, routeNames, rowOf } from "../src/wire/routes.ts";
import type { RouteName } from "../src/wire/route_types.ts";
import { TOOLS } from "../src/wire/table/tools.ts";

/** An answer as it was received. */
export interface Received {
  readonly method: string;
  /** Of its request, without a query. */
  readonly path: string;
  readonly status: number;
  /** Media type; empty where there is no body. */
  readonly type: string;
  readonly text: string;
}

const IS_ID = /^(?!bulk$|manual$|keys$|open$|challenge$)[^/]+$/;

/** The route of a request; `undefined` where the table has none. */
export function routeOf(method: string, path: string): RouteName | undefined {
  const parts = path.split("/");
  return routeNames().find((name) => {
    const [verb = "", pattern = ""] = name.split(" ");
    const wanted = pattern.split("/");
    return verb === (method === "HEAD" ? "GET" : method) && wanted.length === parts.length &&
      wanted.every((part, i) => part === ":id" ? IS_ID.test(parts[i] ?? "") : part === parts[i]);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function check(schema: z.ZodType, value: unknown): string | undefined {
  const { error } = schema.safeParse(value);
  return error && z.prettifyError(error);
}

const rpcError = z.looseObject({
  jsonrpc: z.literal("2.0"),
  error: z.looseObject({ code: z.int(), message: z.string() }),
});

const oauthError = z.strictObject({
  error: z.string().regex(/^[a-z_]+$/),
  error_description: z.string().min(1),
});

function wrongError(name: RouteName | undefined, { path, status, text }: Received) {
  const body = parsed(text);
  // A sidecar says no more to whoever lacks the token.
  if (path.startsWith("/api/mcp")) {
    return text === "Forbidden\n" ? undefined : check(rpcError, body);
  }
  const isOAuths = name !== undefined && rowOf(name).access === "oauth";
  if (
    isOAuths && (status === 400 || status === 401 || status === 503) && !text.includes('"code"')
  ) {
    return check(oauthError, body);
  }
  const wrong = check(errorShape(), body);
  if (wrong !== undefined) return wrong;
  const { code } = errorShape().parse(body);
  if (new SvcError(code).status !== status) return `${code} does not have this status`;
  // What every route may answer may also be answered where there is none.
  return errorsOf(name ?? "GET /version").includes(code) ? undefined : `${code} is not in its row`;
}

function wrongBody(shape: AnswerShape, { type, text }: Received): string | undefined {
  const shapes = shape instanceof z.ZodType ? { "application/json": shape } : shape;
  const isSame = (media: string) => media.split(";")[0] === type.split(";")[0];
  const [, schema] = Object.entries(shapes).find(([media]) => isSame(media)) ?? [];
  if (schema === undefined) return text === "" ? undefined : `the row has no ${type}`;
  return check(schema, type.startsWith("application/json") ? parsed(text) : text);
}

/** Results of tools in messages of JSON-RPC, alone or as events. */
function wrongResult({ text }: Received): string | undefined {
  const outputs = z.union(Object.values(TOOLS).map(({ output }) => output()));
  for (const line of text.split("\n")) {
    const message = parsed(line.replace(/^data: /, ""));
    const found = z.object({ result: z.object({ structuredContent: z.unknown() }) })
      .safeParse(message).data;
    if (found?.result.structuredContent === undefined) continue;
    const wrong = check(outputs, found.result.structuredContent);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function wrongIn(name: RouteName | undefined, received: Received): string | undefined {
  const { status, text } = received;
  // Of health 503 is an answer; a relayer that stops refuses it with that status, too.
  const isHealth = name === "GET /health" && status === 503 && !text.startsWith('{"error"');
  // A page for people, as the row says.
  const isPage = name === "GET /oauth/authorize" && status === 400;
  if (status >= 400 && !isHealth && !isPage) return wrongError(name, received);
  if (name === undefined) return "no route of the table answers this";
  const shape = rowOf(name).answers()[status];
  if (shape === undefined) return "the row has no such status";
  return wrongBody(shape, received) ??
    (rowOf(name).access === "mcp" ? wrongResult(received) : undefined);
}

/**
 * Checks an answer of a relayer against the table of routes.
 *
 * @throws {Error} when it does not fit.
 */
export function checkAnswer(received: Received): void {
  const { method, path, status } = received;
  const wrong = wrongIn(routeOf(method, path), received);
  if (wrong !== undefined) {
    throw new Error(`The answer ${status} of ${method} ${path} does not fit the table: ${wrong}`);
  }
}
