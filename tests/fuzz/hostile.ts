import type { Random } from "../contracts/differential/random.ts";

const FOLDER = new URL("../testdata/", import.meta.url);
const NAUGHTY: readonly string[] = JSON.parse(
  Deno.readTextFileSync(new URL("blns/blns.json", FOLDER)),
);
const SUITE = new URL("json/test_parsing/", FOLDER);
const TEXTS: readonly Uint8Array[] = [...Deno.readDirSync(SUITE)].map(({ name }) => name).sort()
  .map((name) => Deno.readFileSync(new URL(encodeURIComponent(name), SUITE)));

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** A text that programs stumble over. */
export function hostileText(random: Random): string {
  if (!random.once(4)) return random.pick(NAUGHTY);
  return random.pick([
    "",
    " ",
    "\0",
    "\ud800",
    "\u202e\u2066",
    "../../../etc/passwd",
    "__proto__",
    "constructor",
    "a\r\nx-injected: 1",
    "9".repeat(400),
    "é".repeat(random.below(3000)),
    "x".repeat(random.below(70_000)),
    "2026-02-30T25:61:61Z",
    "0x" + "f".repeat(64),
    "00000000-0000-0000-0000-000000000000",
  ]);
}

function hostileValue(random: Random): unknown {
  if (random.once(2)) return hostileText(random);
  return random.pick<unknown>([
    null,
    true,
    0,
    -1,
    -0,
    1.5,
    1e308,
    -1e308,
    2 ** 53,
    [],
    {},
    [null],
    [[]],
    { a: undefined },
    { toString: 1, length: -1, then: 1 },
    Array.from({ length: random.below(2000) }, (_, i) => i),
    nested(random.below(90)),
  ]);
}

/** A copy of a value with one thing changed somewhere in it. */
export function mutated(value: unknown, random: Random): unknown {
  if (random.once(4)) return hostileValue(random);
  if (Array.isArray(value)) {
    const items = [...value];
    const at = random.below(items.length + 1);
    const turn = random.below(3);
    if (turn === 0) items.splice(at, 1);
    if (turn === 1) return Array.from({ length: 1 + random.below(40) }, () => items[0]);
    if (turn === 2) items.splice(at, 1, mutated(items[at], random));
    return items;
  }
  if (typeof value === "object" && value !== null) return mutatedObject(value, random);
  if (typeof value === "number") {
    return random.pick([-value, value * 1e15, value + 0.5, `${value}`]);
  }
  if (typeof value === "string" && value !== "" && random.once(2)) {
    const at = random.below(value.length);
    return value.slice(0, at) + hostileText(random) + value.slice(at + random.below(3));
  }
  return hostileValue(random);
}

function mutatedObject(value: object, random: Random): unknown {
  const members = Object.entries(value);
  if (members.length === 0 || random.once(5)) {
    return Object.fromEntries([...members, [hostileText(random), hostileValue(random)]]);
  }
  const at = random.below(members.length);
  const [name, member] = members[at]!;
  const turn = random.below(6);
  if (turn === 0) members.splice(at, 1);
  else if (turn === 1) members[at] = [name.toUpperCase(), member];
  else members[at] = [name, mutated(member, random)];
  return Object.fromEntries(members);
}

/** The bytes of a value as JSON; at times what is no JSON, or is read in two ways. */
export function hostileJson(value: unknown, random: Random): Uint8Array<ArrayBuffer> {
  if (random.once(12)) return new Uint8Array(random.pick(TEXTS));
  const text = JSON.stringify(value) ?? "";
  const bytes = new TextEncoder().encode(text);
  if (!random.once(6)) return bytes;
  const at = random.below(bytes.length + 1);
  switch (random.below(7)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      return bytes.with(Math.min(at, bytes.length - 1), random.below(256)) as typeof bytes;
    case 2:
      return new TextEncoder().encode("\ufeff" + text);
    case 3:
      return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
    case 4:
      return new TextEncoder().encode(text.replace(/^\{/, '{"text":1,"__proto__":{"a":1},'));
    case 5:
      return new TextEncoder().encode("[".repeat(random.below(100_000)) + text);
    default:
      return new TextEncoder().encode(text.replace(/\d+/, `${"9".repeat(random.below(400))}e9`));
  }
}
