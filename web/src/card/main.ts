/**
 * The review card: what `svc_recall` and `svc_list` found, in hosts that show pages of MCP Apps.
 *
 * @module
 */
import { foundIn, type FoundMemory, saidIn } from "./found.ts";
import { Host, isMembers, type Members } from "./host.ts";
import { type Changes, element, list, type Outcome } from "./rows.ts";

/** What the card knows so far; the host tells it piece by piece, in any order. */
interface Known {
  /** Prefix of the names of tools; those of earlier clients have another. */
  prefix: string;
  /** Whether the host lets pages call tools. */
  canCall: boolean;
  /** What was looked for. */
  query: string;
  result: Members | undefined;
}

const known: Known = { prefix: "svc_", canCall: false, query: "", result: undefined };
const card = document.getElementById("card")!;

const host = new Host(window, {
  "ui/notifications/tool-input": ({ arguments: given }) => {
    if (isMembers(given) && typeof given.query === "string") known.query = given.query;
    show();
  },
  "ui/notifications/tool-result": (result) => {
    known.result = result;
    show();
  },
  "ui/notifications/tool-cancelled": () => {
    known.result = { content: [{ type: "text", text: "The search was cancelled." }] };
    show();
  },
  "ui/notifications/host-context-changed": takeContext,
});

function takeContext({ theme, toolInfo }: Members): void {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const tool = isMembers(toolInfo) && isMembers(toolInfo.tool) ? toolInfo.tool.name : undefined;
  const prefix = /^(?:\w+_)?(?=recall$|list$)/.exec(String(tool))?.[0];
  if (prefix !== undefined) known.prefix = prefix;
}

/** What came of a call of a tool that changes something. */
function outcomeOf(result: Members): Outcome {
  const { structuredContent: data, isError } = result;
  const said = saidIn(result);
  if (isError === true || !isMembers(data)) return { state: "failed", words: said || "Not done." };
  const { status, confirmation } = data;
  if (status === "needs_confirmation" && typeof confirmation === "string") {
    // What the tool says to models ends with how they confirm it.
    const question = /Nothing was changed\. ([^]*\?) Ask the user\./.exec(said)?.[1];
    return { state: "asks", question: question ?? "Do it?", confirmation };
  }
  const isDone = status === "updated" || status === "forgotten";
  return { state: isDone ? "done" : "failed", words: isDone ? said.split("\n")[0]! : said };
}

async function change(
  tool: "update" | "forget",
  { id }: FoundMemory,
  more: Members,
  confirmation: string | undefined,
): Promise<Outcome> {
  const given = { memory_id: id, ...more, ...confirmation === undefined ? {} : { confirmation } };
  try {
    const outcome = outcomeOf(await host.call(known.prefix + tool, given));
    const did = tool === "update" ? "corrected" : "deleted";
    if (outcome.state === "done") host.note(`In the card the user ${did} the memory ${id}.`);
    return outcome;
  } catch (error) {
    return { state: "failed", words: error instanceof Error ? error.message : "Not done." };
  }
}

const changes: Changes = {
  forget: (memory, confirmation) => change("forget", memory, {}, confirmation),
  correct: (memory, text, confirmation) => change("update", memory, { text }, confirmation),
};

function show(): void {
  if (known.result === undefined) return;
  const { memories, nearest, message, mayManage = true } = foundIn(known.result);
  const offered = known.canCall && mayManage ? changes : undefined;
  const title = known.query === ""
    ? "Memories"
    : element("span", "", "Found for “", element("bdi", "", known.query), "”");
  card.replaceChildren(
    element("h1", "", title),
    list(memories, offered),
    ...(nearest.length === 0
      ? []
      : [element("h2", "", "Nothing close enough; nearest"), list(nearest, offered)]),
    ...(message === "" ? [] : [element("p", "message", message)]),
  );
}

new ResizeObserver(() => {
  const { width, height } = document.documentElement.getBoundingClientRect();
  host.resized(Math.ceil(width), Math.ceil(height));
}).observe(document.documentElement);

const { hostCapabilities, hostContext } = await host.greet();
known.canCall = isMembers(hostCapabilities) && hostCapabilities.serverTools !== undefined;
if (isMembers(hostContext)) takeContext(hostContext);
show();
