/** A value of a query as `Request` leaves it. */
export function inQuery(value: string): string {
  return encodeURIComponent(value).replaceAll("'", "%27");
}

/** Names that are easily taken for one another, or for something else. */
export const HOSTILE: readonly string[] = [
  "default",
  "Default",
  " default",
  "default ",
  "caf\u00e9",
  "cafe\u0301",
  "a/b",
  "../a",
  "a%2fb",
  "' or '1'='1",
  "%",
  "_",
  "日本",
  "\u{1f600}",
  "\uffff",
  "__proto__",
  "constructor",
  '{"a":1}',
  "x".repeat(256),
];
