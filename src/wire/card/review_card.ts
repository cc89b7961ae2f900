import type { ToolName } from "../table/tools.ts";
// Built of web/src/card by `deno task web`.
import page from "./page.json" with { type: "json" };

/** Name of the extension of MCP by which hosts say that they show pages (MCP Apps, 2026-01-26). */
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";
/** What hosts say that they show. */
export const PAGE_TYPE = "text/html;profile=mcp-app";
/** Tools whose results the card shows. */
export const CARD_TOOLS: readonly ToolName[] = ["recall", "list"];

const URI = "ui://svc/review";

/** Member of a result's `_meta`: whether the key may correct and forget. */
export const MAY_MANAGE_META = "svc/may-manage";

/** What `tools/list` says of a tool whose results the card shows. */
export const CARD_META = { ui: { resourceUri: URI } } as const;

/** The card as `resources/list` has it. */
export const CARD = {
  uri: URI,
  name: "review",
  title: "Memories to review",
  description: "Shows what was found, why and who wrote it, and corrects and forgets",
  mimeType: PAGE_TYPE,
} as const;

/** The card as `resources/read` has it. It loads nothing, from nowhere. */
export const CARD_CONTENT = {
  uri: URI,
  mimeType: PAGE_TYPE,
  text: page.html,
  _meta: { ui: { prefersBorder: true } },
} as const;

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** Whether a host with these capabilities shows the card. */
export function showsCard(capabilities: unknown): boolean {
  const apps = memberOf(memberOf(capabilities, "extensions"), APPS_EXTENSION);
  const types = memberOf(apps, "mimeTypes");
  return Array.isArray(types) && types.includes(PAGE_TYPE);
}

/** Capabilities that a message declares: `initialize`, or a request of a revision without it. */
export function capabilitiesIn(message: unknown): unknown {
  const params = memberOf(message, "params");
  return memberOf(memberOf(params, "_meta"), "io.modelcontextprotocol/clientCapabilities") ??
    memberOf(params, "capabilities");
}
