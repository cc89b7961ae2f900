import { ALL_TOOLS } from "../../cli/bridge/local_tools.ts";
import { TOOL_DEFINITIONS, toolsOf } from "../../src/wire/tool_definitions.ts";
import { ERROR_CODES, SvcError } from "../../src/errors.ts";
import { code, table } from "./markdown.ts";
import { routesTable, routeText } from "./routes.ts";
import { broken, type Schema, shape } from "./shape.ts";

/** Constants of a source file with the comment above each, as `[name, value, comment]`. */
function documented(path: string, line: RegExp): readonly string[][] {
  const source = Deno.readTextFileSync(new URL(`../../${path}`, import.meta.url));
  return [...source.matchAll(line)].map(([, comment = "", name = "", value = ""]) => [
    name,
    value,
    comment,
  ]);
}

function headers(): string {
  const rows = documented("src/wire/headers.ts", /^ {2}\/\*\* (.*) \*\/\n {2}(\w+): "(.*)",$/gm);
  return table([["Header", "Meaning"], ...rows.map(([, name, text]) => [code(name!), text!])]);
}

function limits(): string {
  const rows = documented(
    "src/wire/limits.ts",
    /^\/\*\* (.*) \*\/\nexport const (\w+) = ([\d_]+);$/gm,
  );
  return table([
    ["Limit", "Value"],
    ...rows.map(([, value, text]) => [text!.replace(/\.$/, ""), value!.replaceAll("_", "")]),
  ]);
}

function errors(): string {
  const rows = ERROR_CODES.map((name) => {
    const { status, message, retryAfter } = new SvcError(name);
    return [String(status), code(name), message, retryAfter === undefined ? "" : `${retryAfter} s`];
  });
  return table([["Status", "Code", "Text", "`Retry-After` unless another is known"], ...rows]);
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly annotations: Readonly<Record<string, boolean>>;
  readonly inputSchema: Schema;
  readonly outputSchema: Schema;
}

/** @param profile `search` for the tools of research; else all others. */
function tools(profile: string): string {
  const research = toolsOf("search").map((name) => ({ name, ...TOOL_DEFINITIONS[name] }));
  const all: unknown = profile === "search" ? research : ALL_TOOLS;
  const blocks = (all as readonly Tool[]).map((tool) => {
    const { name, title, annotations, inputSchema, outputSchema } = tool;
    const hints = HINTS.filter((hint) => annotations[hint]).join(", ") || "no hint";
    return [
      `${name} (${title}; ${hints})`,
      broken(shape(inputSchema)),
      broken(`→ ${shape(outputSchema)}`),
    ].join("\n");
  });
  return "```\n" + blocks.join("\n\n") + "\n```";
}

/**
 * What a page of docs/ may ask for with `<!-- generated: name words -->`, by name. Each is given the
 * words after its name.
 */
export const BLOCKS: Readonly<Record<string, (words: string) => string>> = {
  errors,
  headers,
  limits,
  route: routeText,
  routes: routesTable,
  tools,
};
