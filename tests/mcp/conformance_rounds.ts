import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  InMemoryServerEventBus,
  type InputRequest,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

// Tools of the conformance kit that ask the client back (revision 2026-07-28).

/** Seals the state that clients send back. */
export const states = createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });
/** Changes that subscribers hear of. */
export const bus = new InMemoryServerEventBus();

const NONE = z.object({});

const done = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** Asks the user for one field. */
export function ask(message: string, name: string, type = "string"): InputRequest {
  return {
    method: "elicitation/create",
    params: {
      mode: "form",
      message,
      requestedSchema: {
        type: "object",
        properties: { [name]: type === "boolean" ? { type: "boolean" } : { type: "string" } },
        required: [name],
      },
    },
  };
}

function complete(text: string): InputRequest {
  return {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 100 },
  };
}

const ROOTS: InputRequest = { method: "roots/list", params: {} };

/** Asks once for everything, and is done when all of it came. */
function once(requests: Record<string, InputRequest>, text: (context: ServerContext) => string) {
  return (context: ServerContext) => {
    const { inputResponses } = context.mcpReq;
    const missing = Object.keys(requests).some((key) =>
      inputResponse(inputResponses, key).kind === "missing"
    );
    return missing ? inputRequired({ inputRequests: requests }) : done(text(context));
  };
}

async function withState(context: ServerContext, requests: Record<string, InputRequest>) {
  const { inputResponses, requestState } = context.mcpReq;
  const came = Object.keys(requests).every((key) =>
    inputResponse(inputResponses, key).kind !== "missing"
  );
  if (came && requestState() !== undefined) return done("state-ok");
  return inputRequired({ inputRequests: requests, requestState: await states.mint("asked") });
}

async function rounds({ mcpReq }: ServerContext) {
  const step = mcpReq.requestState<string>();
  const answered = (key: string) => inputResponse(mcpReq.inputResponses, key).kind !== "missing";
  if (step === "2" && answered("step2")) return done("All steps are done");
  const second = step === "1" && answered("step1");
  return inputRequired({
    inputRequests: second
      ? { step2: ask("Step 2: What is your favorite color?", "color") }
      : { step1: ask("Step 1: What is your name?", "name") },
    requestState: await states.mint(second ? "2" : "1"),
  });
}

/** Asks only for what the client declared. */
function byCapability({ mcpReq }: ServerContext) {
  const declared: ClientCapabilities =
    Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY) ??
      {};
  const inputRequests: Record<string, InputRequest> = {};
  if (declared.sampling) inputRequests["sampling"] = complete("Say hello");
  if (declared.elicitation) inputRequests["elicitation"] = ask("What is your name?", "name");
  return Object.keys(inputRequests).length === 0
    ? done("Nothing")
    : inputRequired({ inputRequests });
}

async function streaming(context: ServerContext) {
  await context.mcpReq.notify({
    method: "notifications/progress",
    params: { progressToken: context.mcpReq._meta?.progressToken ?? 0, progress: 1 },
  });
  return inputRequired({ inputRequests: { name: ask("What is your name?", "name") } });
}

/** Adds the tools and the prompt to a server. */
export function registerRounds(server: McpServer): void {
  const name = (key: string, { mcpReq }: ServerContext) =>
    String(acceptedContent(mcpReq.inputResponses, key)?.["name"] ?? "nobody");
  const asName = { user_name: ask("What is your name?", "name") };
  const confirm = { confirm: ask("Please confirm", "ok", "boolean") };
  const tools = {
    elicitation: once(asName, (context) => `Hello, ${name("user_name", context)}!`),
    sampling: once(
      { capital_question: complete("What is the capital of France?") },
      ({ mcpReq }) => JSON.stringify(inputResponse(mcpReq.inputResponses, "capital_question")),
    ),
    list_roots: once(
      { client_roots: ROOTS },
      ({ mcpReq }) => JSON.stringify(inputResponse(mcpReq.inputResponses, "client_roots")),
    ),
    request_state: (context: ServerContext) => withState(context, confirm),
    tampered_state: (context: ServerContext) => withState(context, confirm),
    multiple_inputs: (context: ServerContext) =>
      withState(context, {
        ...asName,
        greeting: complete("Generate a greeting"),
        client_roots: ROOTS,
      }),
    multi_round: rounds,
    capabilities: byCapability,
  };
  for (const [suffix, handle] of Object.entries(tools)) {
    server.registerTool(
      `test_input_required_result_${suffix}`,
      { description: suffix, inputSchema: NONE },
      (_, context) => handle(context),
    );
  }
  const needs = { description: "Needs sampling", inputSchema: NONE };
  server.registerTool(
    "test_missing_capability",
    needs,
    (_, context) => once({ word: complete("Say hello") }, () => "Said")(context),
  );
  const streams = { description: "Notifies, then asks", inputSchema: NONE };
  server.registerTool("test_streaming_elicitation", streams, (_, context) => streaming(context));
  const changes = { description: "Tells of a changed list", inputSchema: NONE };
  server.registerTool("test_trigger_tool_change", changes, () => {
    bus.publish({ kind: "tools_list_changed" });
    return done("Changed");
  });
  server.registerTool("test_trigger_prompt_change", changes, () => {
    bus.publish({ kind: "prompts_list_changed" });
    return done("Changed");
  });
  server.registerPrompt(
    "test_input_required_result_prompt",
    { title: "Asks back", description: "Asks the client back" },
    (context) => {
      const key = "user_context";
      const given = acceptedContent(context.mcpReq.inputResponses, key)?.["context"];
      if (given === undefined) {
        const request = ask("What context should the prompt use?", "context");
        return inputRequired({ inputRequests: { [key]: request } });
      }
      const content = { type: "text" as const, text: `Context: ${given}` };
      return { messages: [{ role: "user" as const, content }] };
    },
  );
}
