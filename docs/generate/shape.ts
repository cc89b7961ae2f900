/** As much of a JSON Schema as the source uses. */
export interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

function bounds({ minLength, minimum = minLength, maximum }: Schema): string {
  if (minimum === undefined && maximum === undefined) return "";
  return ` ${minimum ?? ""}..${maximum === Number.MAX_SAFE_INTEGER ? "" : maximum ?? ""}`;
}

/** The type of a value, such as `integer 1..100`. */
export function value(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(value).join(" | ");
  if (schema.items !== undefined) return `list of ${value(schema.items)}`;
  const type = [schema.type ?? "any"].flat().join(" | ");
  if (schema.contentEncoding !== undefined) return schema.contentEncoding;
  return (schema.format ?? type) + bounds(schema);
}

/** A schema on one line, such as `{text: string, limit?: integer 1..100 = 10}`. */
export function shape(schema: Schema): string {
  if (schema.items !== undefined) return `[${shape(schema.items)}]`;
  if (schema.anyOf !== undefined) return schema.anyOf.map(shape).join(" | ");
  if (schema.properties === undefined) return value(schema);
  const members = Object.entries(schema.properties).map(([name, member]) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    const fallback = member.default === undefined ? "" : ` = ${JSON.stringify(member.default)}`;
    return `${name}${optional}: ${shape(member)}${fallback}`;
  });
  return `{${members.join(", ")}}`;
}

/** Breaks a long line of code after its commas. */
export function broken(line: string): string {
  const lines: string[] = [];
  let text = "";
  for (const word of line.split(/(?<=, )/)) {
    if (text !== "" && text.length + word.trimEnd().length > 96) {
      lines.push(text.trimEnd());
      text = "  ";
    }
    text += word;
  }
  return [...lines, text].join("\n");
}

/** A member of an object, or of an object inside of it. */
export interface Member {
  /** Such as `results[].text`. */
  readonly path: string;
  readonly schema: Schema;
  /** Whether it may be missing. */
  readonly optional: boolean;
}

/** Every member of a schema, those of objects and lists inside of it too. */
export function members(schema: Schema, path = ""): readonly Member[] {
  const list = schema.items;
  if (list !== undefined) return members(list, `${path}[]`);
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((one) => members(one, path));
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const own = path === "" ? name : `${path}.${name}`;
    const optional = !schema.required?.includes(name);
    return [{ path: own, schema: member, optional }, ...members(member, own)];
  });
}
