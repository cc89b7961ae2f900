import {
  type CallToolResult,
  fromJsonSchema,
  type InputRequiredResult,
  type JSONRPCMessage,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  McpServer,
  type RequestId,
  type ServerContext,
  type ServerEventBus,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import type { Logger } from "../log.ts";
import {
  CARD,
  CARD_CONTENT,
  CARD_META,
  CARD_TOOLS,
  MAY_MANAGE_META,
} from "../wire/card/review_card.ts";
import { INSTRUCTIONS, SERVER_NAME, SESSION_REVISIONS } from "../wire/mcp.ts";
import type { ToolName, ToolProfile } from "../wire/table/tools.ts";
import { TOOL_DEFINITIONS, TOOL_NAMES, toolsOf, writesTwice } from "../wire/tool_definitions.ts";
import { VERSION } from "../wire/version.ts";
import { fail, traced } from "../tracing.ts";
import type { Principal } from "./principal.ts";
import { analyze } from "./tools/analyze.ts";
import type { Confirmations } from "./tools/confirmations.ts";
import { list } from "./tools/list.ts";
import { forget, update } from "./tools/manage.ts";
import {
  asksOf,
  ownIdempotencyKey,
  ownSession,
  Progress,
  type Sleep,
  type ToolCall,
} from "./tools/call.ts";
import { recall } from "./tools/recall.ts";
import { remember } from "./tools/remember.ts";
import { fetchSource, searchSources } from "./tools/research.ts";
import { restore } from "./tools/restore.ts";
import { SvcError } from "../errors.ts";
import { failureOf } from "./tools/results.ts";

const PREFIX = "svc_";
const ALIAS_PREFIX = "memwal_";
type Result = CallToolResult | InputRequiredResult;

const TOOL_CALLS: Readonly<Record<ToolName, (call: ToolCall) => Promise<Result>>> = {
  remember,
  recall,
  list,
  update,
  forget,
  analyze,
  restore,
  search: searchSources,
  fetch: fetchSource,
};

/** Accepts everything: tools check their arguments themselves, to word refusals by the protocol. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

/** What `tools/list` says about the tools of a set. */
function listed(profile: ToolProfile) {
  return toolsOf(profile).map((name) => {
    const { inputSchema, outputSchema, manages = false, profile: _, ...words } =
      TOOL_DEFINITIONS[name];
    return {
      name,
      manages,
      ...words,
      inputSchema: fromJsonSchema<unknown>(inputSchema, UNCHECKED),
      outputSchema: fromJsonSchema<Record<string, unknown>>(outputSchema, UNCHECKED),
    };
  });
}

const LISTED = { memory: listed("memory"), search: listed("search") } as const;

/** How a tool is called; those of research have the names that hosts expect. */
const calledIn = (profile: ToolProfile, name: ToolName, prefix = PREFIX): string =>
  profile === "search" ? name : prefix + name;

/** What a server has besides the product's tools; tests bring their fixtures with it. */
export interface ServerExtension {
  /** Checks the state that calls in several rounds get back. */
  readonly requestState?: NonNullable<ServerOptions["requestState"]>;
  /** Tells subscribers of changes. */
  readonly bus?: ServerEventBus;
  /** Adds to a server before it is connected. */
  register(server: McpServer): void;
}

interface ServerSurroundings {
  readonly logger: Logger;
  /** Where people find their dashboard. */
  readonly options: { readonly webUrl?: string };
  /** Waits between signs of progress. */
  readonly sleep: Sleep;
  /** What users agree to. */
  readonly confirmations: Confirmations;
  /** Absent in the product. */
  readonly extension?: ServerExtension | undefined;
}

export interface ServerSubject {
  /** Whose tools they are. */
  readonly principal: Principal;
  /** Namespace of calls that name none; else that of the principal. */
  readonly namespace: string | undefined;
  /** Whether tools are listed under the names of docs/protocol.md#17.2. */
  readonly alias: boolean;
  /** Which tools there are. */
  readonly profile: ToolProfile;
  /** Whether the host shows the card of what was found. */
  readonly hasCard: boolean;
  /** Session that memories are said in; absent where a connection is none. */
  readonly session?: string;
  /** Idempotency key of a write whose caller sent none. */
  readonly derivedKey?: (tool: ToolName, given: unknown, id: RequestId) => string;
}

function callTool(
  name: ToolName,
  given: unknown,
  context: ServerContext,
  subject: ServerSubject,
  around: ServerSurroundings & { readonly declared: object | undefined },
): Promise<Result> {
  const tool = calledIn(subject.profile, name);
  const attributes = { "mcp.method.name": "tools/call", "gen_ai.tool.name": tool };
  return traced(`tools/call ${tool}`, { attributes }, async (span) => {
    const result = await resultOf(name, given, context, subject, around);
    if (span !== undefined && result.isError === true) fail(span, "tool_error");
    return result;
  });
}

async function resultOf(
  name: ToolName,
  given: unknown,
  context: ServerContext,
  subject: ServerSubject,
  { logger, sleep, confirmations, options, declared }: Parameters<typeof callTool>[4],
): Promise<Result> {
  try {
    using progress = new Progress(context, sleep);
    const idempotencyKey = writesTwice(name)
      ? ownIdempotencyKey(context) ?? subject.derivedKey?.(name, given, context.mcpReq.id)
      : undefined;
    return await TOOL_CALLS[name]({
      given,
      client: subject.principal.client,
      namespace: subject.namespace ?? subject.principal.namespace,
      // A write that is repeated under its key on another connection has to be the same.
      session: ownSession(context) ?? (idempotencyKey === undefined ? subject.session : undefined),
      signal: context.mcpReq.signal,
      idempotencyKey,
      progress,
      caller: subject.principal.hash,
      publicKey: subject.principal.publicKey,
      webUrl: options.webUrl,
      confirmations,
      asks: asksOf(context, declared),
    });
  } catch (thrown) {
    const tool = calledIn(subject.profile, name);
    const result = failureOf(tool, thrown);
    logger.debug("tool failed", { route: tool });
    return result;
  }
}

/** Adds the page that shows what was found. */
function addCard(server: McpServer): void {
  const { name, uri, ...words } = CARD;
  server.registerResource(name, uri, words, () => ({ contents: [CARD_CONTENT] }));
}

/** What a host is told of a tool besides, where it shows the card. */
const cardMeta = ({ hasCard }: ServerSubject, name: ToolName) =>
  hasCard && CARD_TOOLS.includes(name) ? { _meta: CARD_META } : {};

/** A result with what the card does not see in it. */
function forCard(subject: ServerSubject, name: ToolName, result: Result): Result {
  if (!subject.hasCard || !CARD_TOOLS.includes(name)) return result;
  return { ...result, _meta: { ...result._meta, [MAY_MANAGE_META]: subject.principal.mayManage } };
}

/** Makes an MCP server with the memory tools; it is not yet connected. */
export function buildServer(subject: ServerSubject, around: ServerSurroundings): McpServer {
  const { extension } = around;
  const server = new McpServer(
    { ...SERVER_NAME, version: VERSION },
    {
      capabilities: { tools: { listChanged: true } },
      instructions: INSTRUCTIONS,
      supportedProtocolVersions: [...SESSION_REVISIONS],
      ...(extension?.requestState === undefined ? {} : { requestState: extension.requestState }),
    },
  );
  const prefix = subject.alias ? ALIAS_PREFIX : PREFIX;
  for (const { name, manages, ...definition } of LISTED[subject.profile]) {
    if (manages && !subject.principal.mayManage) continue;
    server.registerTool(
      calledIn(subject.profile, name, prefix),
      { ...definition, ...cardMeta(subject, name) },
      async (given, context) => {
        // A session outlives a change of what its key may do.
        if (manages && !subject.principal.mayManage) {
          return failureOf(PREFIX + name, new SvcError("permission_denied"));
        }
        const declared = server.server.getClientCapabilities();
        const result = await callTool(name, given, context, subject, { ...around, declared });
        return forCard(subject, name, result);
      },
    );
  }
  if (subject.hasCard) addCard(server);
  extension?.register(server);
  return server;
}

/** A tool's name in the naming of a server; names of other tools stay as they are. */
export function serverToolName(name: string, alias: boolean): string {
  const [from, to] = alias ? [PREFIX, ALIAS_PREFIX] : [ALIAS_PREFIX, PREFIX];
  const rest = name.startsWith(from) ? name.slice(from.length) : undefined;
  return TOOL_NAMES.some((tool) => tool === rest) ? to + rest : name;
}

/** A message with its tool named as the server names it. */
export function inServerNaming<T>(message: T, alias: boolean): T {
  if (typeof message !== "object" || message === null) return message;
  const { method, params } = message as Partial<Extract<JSONRPCMessage, { method: string }>>;
  if (method !== "tools/call" || typeof params?.name !== "string") return message;
  const name = serverToolName(params.name, alias);
  return name === params.name ? message : { ...message, params: { ...params, name } };
}
