import type { Findings } from "./findings.ts";
import { isObject, type JsonObject, memberOf, parseJson, textOf } from "./json_members.ts";

/** A longer name is none: every memory of its entity would carry it. */
const NAME_UNITS = 1000;

/** Lines of a file, with either kind of line end. */
export function linesOf(content: string): string[] {
  return content.split(/\r\n|\n|\r/);
}

/** Whether a line is one of the two that the server writes. */
export function isGraphLine(line: unknown): boolean {
  const type = memberOf(line, "type");
  return (type === "entity" && typeof memberOf(line, "name") === "string") ||
    (type === "relation" && typeof memberOf(line, "from") === "string");
}

function readEntity(found: Findings, entity: JsonObject, where: string): void {
  const name = textOf(entity, "name");
  const observations = memberOf(entity, "observations");
  const type = textOf(entity, "entityType") ?? "";
  const isNamed = name !== undefined && name.length + type.length <= NAME_UNITS;
  if (!isNamed || !Array.isArray(observations)) {
    found.expect(1);
    return found.skip(where, "unknown_shape");
  }
  if (observations.length === 0) {
    found.expect(1);
    return found.skip(where, "no_text");
  }
  const subject = type === "" ? name : `${name} (${type})`;
  found.expect(observations.length);
  observations.forEach((observation: unknown, at) => {
    const isSaid = typeof observation === "string" && observation.trim() !== "";
    found.memory(`${where}.observations[${at}]`, {
      text: isSaid ? `${subject}: ${observation}` : observation,
      metadata: [["entity", name], ...(type === "" ? [] : [["entity_type", type] as const])],
    });
  });
}

function readRelation(found: Findings, relation: JsonObject, where: string): void {
  found.expect(1);
  const from = textOf(relation, "from");
  const to = textOf(relation, "to");
  const type = textOf(relation, "relationType");
  if (from === undefined || to === undefined || type === undefined) {
    return found.skip(where, "unknown_shape");
  }
  found.memory(where, {
    text: `${from} ${type.replaceAll("_", " ")} ${to}`,
    metadata: [["from", from], ["relation", type], ["to", to]],
  });
}

/**
 * Reads the knowledge graph of `@modelcontextprotocol/server-memory`, a JSON object a line: an
 * entry is an observation, a relation, an entity without observations, or a line that is neither.
 *
 * @returns Whether any line is JSON.
 */
export function readMcpMemory(found: Findings, content: string): boolean {
  let isJson = false;
  linesOf(content).forEach((line, at) => {
    if (line.trim() === "") return;
    const where = `line ${at + 1}`;
    const value = parseJson(line);
    isJson ||= value !== undefined;
    const type = memberOf(value, "type");
    if (isObject(value) && type === "entity") return readEntity(found, value, where);
    if (isObject(value) && type === "relation") return readRelation(found, value, where);
    found.expect(1);
    found.skip(where, value === undefined ? "not_json" : "unknown_shape");
  });
  return isJson;
}
