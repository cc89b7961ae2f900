import {
  type CallToolResult,
  fromJsonSchema,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ServerExtension } from "../../src/mcp/mcp_server.ts";
import { bus, registerRounds, states } from "./conformance_rounds.ts";
import { registerTasks } from "./conformance_tasks.ts";

// What the scenarios of the MCP conformance kit ask a server for; names and texts are the kit's.

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const NONE = z.object({});

type Content = CallToolResult["content"];

const text = (words: string): Content => [{ type: "text", text: words }];
const image = { type: "image", data: PIXEL, mimeType: "image/png" } as const;

function contentTools(server: McpServer): void {
  const contents: Record<string, Content> = {
    test_simple_text: text("This is a simple text response for testing."),
    test_image_content: [image],
    test_audio_content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }],
    test_embedded_resource: [{
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    }],
    test_multiple_content_types: [
      ...text("Multiple content types test:"),
      image,
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: JSON.stringify({ test: "data", value: 123 }),
        },
      },
    ],
  };
  for (const [name, content] of Object.entries(contents)) {
    server.registerTool(name, { description: name, inputSchema: NONE }, () => ({ content }));
  }
  server.registerTool("test_error_handling", { description: "Fails", inputSchema: NONE }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
}

function notifyingTools(server: McpServer): void {
  const logging = async (_: unknown, { mcpReq }: ServerContext) => {
    for (
      const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]
    ) {
      await mcpReq.log("info", data);
    }
    return { content: text("Tool with logging executed successfully") };
  };
  for (const name of ["test_tool_with_logging", "test_logging_tool"]) {
    server.registerTool(name, { description: "Logs", inputSchema: NONE }, logging);
  }
  server.registerTool(
    "test_tool_with_progress",
    { description: "Tells its progress", inputSchema: NONE },
    async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken ?? 0;
      for (const progress of [0, 50, 100]) {
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100, message: `Step ${progress} of 100` },
        });
      }
      return { content: text(String(progressToken)) };
    },
  );
}

/** Keywords that must arrive in `tools/list` as they are. */
const SCHEMA_2020_12 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
} as const;

/** A parameter that intermediaries read from a header. */
const SCHEMA_OF_HEADER = {
  type: "object",
  properties: { region: { type: "string", "x-mcp-header": "Region" } },
  required: ["region"],
} as const;

function schemaTools(server: McpServer): void {
  const schemas = {
    json_schema_2020_12_tool: SCHEMA_2020_12,
    test_custom_header: SCHEMA_OF_HEADER,
  };
  for (const [name, schema] of Object.entries(schemas)) {
    const inputSchema = fromJsonSchema<Record<string, unknown>>(schema);
    server.registerTool(
      name,
      { description: name, inputSchema },
      (given) => ({ content: text(JSON.stringify(given)) }),
    );
  }
}

/** Forms of the elicitation scenarios, by tool. */
const FORMS: Record<string, Record<string, unknown>> = {
  test_elicitation_sep1034_defaults: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: titled("Option") },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: { type: "string", enum: ["option1", "option2", "option3"] },
    },
    titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: titled("Choice") } },
  },
};

function titled(word: string) {
  return ["First", "Second", "Third"].map((nth, i) => ({
    const: `value${i + 1}`,
    title: `${nth} ${word}`,
  }));
}

async function elicit(
  { mcpReq }: ServerContext,
  message: string,
  properties: Record<string, unknown>,
  required: string[],
) {
  const requestedSchema = { type: "object", properties, required };
  const method = "elicitation/create";
  const { action, content } = await mcpReq.send({ method, params: { message, requestedSchema } });
  return `action=${action}, content=${JSON.stringify(content ?? {})}`;
}

function askingTools(server: McpServer): void {
  server.registerTool(
    "test_sampling",
    { description: "Asks for a completion", inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 100,
      });
      const words = "text" in content ? content.text : "No response";
      return { content: text(`LLM response: ${words}`) };
    },
  );
  server.registerTool(
    "test_elicitation",
    { description: "Asks the user", inputSchema: z.object({ message: z.string() }) },
    async ({ message }, context) => {
      const form = { response: { type: "string", description: "User's response" } };
      const answer = await elicit(context, message, form, ["response"]);
      return { content: text(`User response: ${answer}`) };
    },
  );
  for (const [name, form] of Object.entries(FORMS)) {
    server.registerTool(name, { description: name, inputSchema: NONE }, async (_, context) => {
      const answer = await elicit(context, "Please fill in the form", form, []);
      return { content: text(`Elicitation completed: ${answer}`) };
    });
  }
}

function resources(server: McpServer): void {
  const fixed = {
    "test://static-text": {
      mimeType: "text/plain",
      text: "This is the content of the static text resource.",
    },
    "test://static-binary": { mimeType: "image/png", blob: PIXEL },
    "test://watched-resource": { mimeType: "text/plain", text: "Watched resource content" },
  };
  for (const [uri, content] of Object.entries(fixed)) {
    const { mimeType } = content;
    server.registerResource(
      uri.slice("test://".length),
      uri,
      { title: uri, description: uri, mimeType },
      () => ({ contents: [{ uri, ...content }] }),
    );
  }
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { title: "Template", description: "A resource template", mimeType: "application/json" },
    ({ href: uri }, { id }) => ({
      contents: [{
        uri,
        mimeType: "application/json",
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      }],
    }),
  );
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

function prompts(server: McpServer): void {
  const user = (content: Content[number]) => ({ role: "user" as const, content });
  const words = (said: string) => user({ type: "text", text: said });
  server.registerPrompt(
    "test_simple_prompt",
    { title: "Simple", description: "Without arguments" },
    () => ({ messages: [words("This is a simple prompt for testing.")] }),
  );
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      title: "Arguments",
      description: "With arguments",
      argsSchema: z.object({ arg1: z.string(), arg2: z.string() }),
    },
    ({ arg1, arg2 }) => ({
      messages: [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    {
      title: "Resource",
      description: "With a resource",
      argsSchema: z.object({ resourceUri: z.string() }),
    },
    ({ resourceUri: uri }) => ({
      messages: [
        user({
          type: "resource",
          resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." },
        }),
        words("Please process the embedded resource above."),
      ],
    }),
  );
  server.registerPrompt(
    "test_prompt_with_image",
    { title: "Image", description: "With an image" },
    () => ({ messages: [user(image), words("Please analyze the image above.")] }),
  );
}

/** Adds the kit's tools, resources and prompts to a server. */
function register(server: McpServer): void {
  server.server.registerCapabilities({
    logging: {},
    completions: {},
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
  });
  contentTools(server);
  notifyingTools(server);
  askingTools(server);
  resources(server);
  prompts(server);
  schemaTools(server);
  registerRounds(server);
  registerTasks(server);
  server.server.setRequestHandler("completion/complete", () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
}

/** The kit's tools, resources and prompts. */
export const extension: ServerExtension = {
  requestState: { verify: (state, context) => states.verify(state, context) },
  bus,
  register,
};
