import {
  CARD,
  CARD_CONTENT,
  CARD_META,
  CARD_TOOLS,
  MAY_MANAGE_META,
} from "../../src/wire/card/review_card.ts";
import { isMembers, type Members, metaOf, RPC, type RpcError } from "./json_rpc.ts";
import { memoryTool } from "./tool_calls.ts";

/** What a host that shows the card is told that there is. */
export const CARD_CAPABILITIES: Members = { resources: {} };

const isOfCard = (name: unknown): boolean => {
  const tool = memoryTool(name);
  return tool !== undefined && CARD_TOOLS.includes(tool);
};

/** Tools as a host that shows the card has them listed. */
export function toolsWithCard(tools: readonly Members[]): readonly Members[] {
  return tools.map((tool) => isOfCard(tool.name) ? { ...tool, _meta: CARD_META } : tool);
}

/** A result with what the card does not see in it: whether the listed tools change memories. */
export function resultForCard(name: unknown, result: Members, tools: readonly Members[]): Members {
  if (!isOfCard(name) || !isMembers(result.structuredContent)) return result;
  const mayManage = tools.some((tool) => memoryTool(tool.name) === "forget");
  return { ...result, _meta: { ...metaOf(result), [MAY_MANAGE_META]: mayManage } };
}

/** The answer to a method of resources, of which the card is the only one; else `undefined`. */
export function cardAnswer(
  method: string,
  params: Members | undefined,
): { readonly result: Members } | { readonly error: RpcError } | undefined {
  if (method === "resources/list") return { result: { resources: [CARD] } };
  if (method === "resources/templates/list") return { result: { resourceTemplates: [] } };
  if (method !== "resources/read") return undefined;
  if (params?.uri === CARD.uri) return { result: { contents: [CARD_CONTENT] } };
  return { error: { code: RPC.invalidParams, message: "There is no such resource" } };
}
