import type { FieldInfo, IMessageType, MessageType } from "@protobuf-ts/runtime";

type Message = Record<string, unknown>;

function maskedField(field: FieldInfo, value: unknown, below: readonly string[]): unknown {
  if (below.includes("") || field.kind !== "message" || value === undefined) return value;
  const type = field.T() as IMessageType<object>;
  return Array.isArray(value)
    ? value.map((each: object) => mask(type, each, below))
    : mask(type, value as object, below);
}

/** What the paths say below one field: "" for all of it. */
function pathsBelow(paths: readonly string[], name: string): string[] {
  return paths.filter((path) => path === name || path.startsWith(`${name}.`))
    .map((path) => path.slice(name.length + 1));
}

/**
 * What a read mask (`google.protobuf.FieldMask`) leaves of a message: fields that no path names are
 * absent. Paths are in snake case, `a.b` for a field of a field, `*` for everything.
 */
export function mask<T extends object>(
  type: IMessageType<T> | MessageType<T>,
  message: T,
  paths: readonly string[],
): T {
  if (paths.includes("*")) return message;
  const masked: Message = {};
  const source = message as Message;
  for (const field of type.fields) {
    if (field.oneof !== undefined) {
      maskOneof(field, source, masked, paths);
      continue;
    }
    const below = pathsBelow(paths, field.name);
    if (below.length > 0) {
      masked[field.localName] = maskedField(field, source[field.localName], below);
    } else if (field.repeat) masked[field.localName] = [];
    else if (field.kind === "map") masked[field.localName] = {};
  }
  // A message of the same type with fields removed; every field of a message may be absent.
  return masked as T;
}

/** Members of a oneof share one property that also says which of them is set. */
function maskOneof(
  field: FieldInfo,
  source: Message,
  masked: Message,
  paths: readonly string[],
): void {
  const group = field.oneof ?? "";
  masked[group] ??= { oneofKind: undefined };
  const value = source[group] as Message | undefined;
  const below = pathsBelow(paths, field.name);
  if (below.length === 0 || value?.oneofKind !== field.localName) return;
  masked[group] = {
    oneofKind: field.localName,
    [field.localName]: maskedField(field, value[field.localName], below),
  };
}
