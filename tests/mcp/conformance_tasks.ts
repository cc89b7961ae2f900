import {
  acceptedContent,
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequest,
  inputRequired,
  type InputRequiredResult,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { ask } from "./conformance_rounds.ts";

// Tools of the conformance kit that go on as tasks (extension `io.modelcontextprotocol/tasks`). The
// product offers no tasks: what these show is that its proxy, its header rules and its sessionless
// endpoint let an extension through.

const EXTENSION = "io.modelcontextprotocol/tasks";
const TTL_MS = 300_000;
const REQUIRED = { requiredCapabilities: { extensions: { [EXTENSION]: {} } } };

/** How a task ends: as the tool would have answered, or with an error of the protocol. */
type Outcome =
  | { readonly result: CallToolResult }
  | { readonly error: { readonly code: number; readonly message: string } };

/** What a tool leaves to a task. */
interface Work {
  /** Seconds until it ends, once everything is answered. */
  readonly seconds: number;
  /** What it asks the client first. */
  readonly requests: Readonly<Record<string, InputRequest>>;
  readonly outcome: Outcome;
}

function text(words: string, isError = false): Outcome {
  return { result: { content: [{ type: "text", text: words }], isError } };
}

class Task {
  readonly id = crypto.randomUUID();
  readonly #createdAt = new Date();
  readonly #work: Work;
  readonly #pending: Map<string, InputRequest>;
  #changedAt = this.#createdAt;
  #status: "working" | "input_required" | "completed" | "failed" | "cancelled" = "working";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(work: Work) {
    this.#work = work;
    this.#pending = new Map(Object.entries(work.requests));
    this.#goOn();
  }

  #become(status: "input_required" | "completed" | "failed" | "cancelled"): void {
    this.#status = status;
    this.#changedAt = new Date();
  }

  #goOn(): void {
    if (this.#pending.size > 0) return this.#become("input_required");
    this.#status = "working";
    const end = () => this.#become("error" in this.#work.outcome ? "failed" : "completed");
    this.#timer = setTimeout(end, this.#work.seconds * 1000);
  }

  answer(keys: readonly string[]): void {
    if (this.#status !== "input_required") return;
    for (const key of keys) this.#pending.delete(key);
    this.#goOn();
  }

  cancel(): void {
    if (this.#status !== "working" && this.#status !== "input_required") return;
    clearTimeout(this.#timer);
    this.#become("cancelled");
  }

  /** Its fields in the answer to the call that made it. */
  created(): Record<string, unknown> {
    return {
      taskId: this.id,
      status: this.#status,
      createdAt: this.#createdAt.toISOString(),
      lastUpdatedAt: this.#changedAt.toISOString(),
      ttlMs: TTL_MS,
      pollIntervalMs: 100,
    };
  }

  /** Its fields in the answer to `tasks/get`. */
  detailed(): Record<string, unknown> {
    const ended = this.#status === "completed" || this.#status === "failed";
    return {
      ...this.created(),
      ...(ended ? this.#work.outcome : {}),
      ...(this.#status === "input_required"
        ? { inputRequests: Object.fromEntries(this.#pending) }
        : {}),
    };
  }
}

/** Every request has a server of its own, so that tasks outlive them here. */
const tasks = new Map<string, Task>();

function create(work: Work): CallToolResult {
  const task = new Task(work);
  tasks.set(task.id, task);
  return { content: [], resultType: "task", ...task.created() };
}

function declares({ mcpReq }: ServerContext): boolean {
  const declared: ClientCapabilities =
    Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY) ?? {};
  return declared.extensions?.[EXTENSION] !== undefined;
}

/** The whole work at once, for clients that know no tasks. */
async function atOnce({ seconds, outcome }: Work): Promise<CallToolResult> {
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  if ("error" in outcome) throw new ProtocolError(outcome.error.code, outcome.error.message);
  return outcome.result;
}

type Handle = (
  args: Record<string, unknown>,
  context: ServerContext,
) => CallToolResult | InputRequiredResult | Promise<CallToolResult>;

function working(work: (args: Record<string, unknown>) => Work): Handle {
  return (args, context) => {
    const given = work(args);
    return declares(context) && given.seconds > 0 ? create(given) : atOnce(given);
  };
}

const CONFIRM = ask("Please confirm", "confirm", "boolean");

const TOOLS: Readonly<Record<string, { input: z.ZodObject; handle: Handle }>> = {
  greet: {
    input: z.object({ name: z.string() }),
    handle: ({ name }) => atOnce({ seconds: 0, requests: {}, outcome: text(`Hello, ${name}!`) }),
  },
  slow_compute: {
    input: z.object({ seconds: z.number(), label: z.string().optional() }),
    handle: working(({ seconds, label }) => ({
      seconds: Number(seconds),
      requests: {},
      outcome: text(`Computed ${label ?? "it"}`),
    })),
  },
  failing_job: {
    input: z.object({}),
    handle: working(() => ({ seconds: 1, requests: {}, outcome: text("It failed", true) })),
  },
  protocol_error_job: {
    input: z.object({}),
    handle: working(() => ({
      seconds: 0.1,
      requests: {},
      outcome: { error: { code: ProtocolErrorCode.InternalError, message: "It broke" } },
    })),
  },
  confirm_delete: {
    input: z.object({ filename: z.string() }),
    handle: working(({ filename }) => ({
      seconds: 0.1,
      requests: { confirm: CONFIRM },
      outcome: text(`Deleted ${filename}`),
    })),
  },
  multi_input: {
    input: z.object({}),
    handle: working(() => ({
      seconds: 0.1,
      requests: { first: CONFIRM, second: ask("What is your name?", "name") },
      outcome: text("Both came"),
    })),
  },
  test_tool_with_task: {
    input: z.object({}),
    handle: (_, { mcpReq }) => {
      const name = acceptedContent(mcpReq.inputResponses, "user_name")?.["name"];
      return name === undefined
        ? inputRequired({ inputRequests: { user_name: ask("What is your name?", "name") } })
        : create({ seconds: 0.1, requests: {}, outcome: text(`Hello, ${name}!`) });
    },
  },
};

/** Tools that end in a task or not at all. */
const NEED_TASKS = ["failing_job", "protocol_error_job", "confirm_delete", "multi_input"];

/** Adds the tools, and the methods of the extension, to a server. */
export function registerTasks(server: McpServer): void {
  server.server.registerCapabilities({ extensions: { [EXTENSION]: {} } });
  for (const [name, { input, handle }] of Object.entries(TOOLS)) {
    server.registerTool(name, { description: name, inputSchema: input }, handle);
  }
  // What a tool throws becomes its result, but a missing capability is an error of the request;
  // set through the public method, a second handler would read the state of a round twice.
  const handlers: Map<string, (request: CallToolRequest, context: ServerContext) => unknown> =
    Reflect.get(server.server, "_requestHandlers");
  const call = handlers.get("tools/call")!;
  handlers.set("tools/call", (request, context) => {
    if (NEED_TASKS.includes(request.params.name) && !declares(context)) {
      return Promise.reject(new MissingRequiredClientCapabilityError(REQUIRED));
    }
    return call(request, context);
  });
  const method = (
    name: string,
    answer: (task: Task, answered: readonly string[]) => Record<string, unknown> | void,
  ) =>
    server.server.setRequestHandler(
      `tasks/${name}`,
      { params: z.object({ taskId: z.string() }) },
      ({ taskId }, context) => {
        if (!declares(context)) throw new MissingRequiredClientCapabilityError(REQUIRED);
        const task = tasks.get(taskId);
        if (task === undefined) {
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such task");
        }
        return answer(task, Object.keys(context.mcpReq.inputResponses ?? {})) ?? {};
      },
    );
  method("get", (task) => task.detailed());
  method("update", (task, answered) => task.answer(answered));
  method("cancel", (task) => task.cancel());
}
