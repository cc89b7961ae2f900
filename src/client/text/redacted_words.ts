/** Secrets that were taken out, as answers have them. */
type Redacted = readonly { readonly kind: string; readonly count: number }[];

/** A kind of secret as words: `aws access key`. */
const kindWords = (kind: string): string => kind.replaceAll("_", " ");

/** What was taken out of a text, such as `Left out: 1 × password.`; absent where nothing was. */
export function redactedWords(redacted: Redacted | undefined): string | undefined {
  if (redacted === undefined || redacted.length === 0) return undefined;
  const parts = redacted.map(({ kind, count }) => `${count} × ${kindWords(kind)}`);
  return `Left out: ${parts.join(", ")}.`;
}

/** What was found where by a relayer that refused, such as `password, 9 characters at 14`. */
export function secretWords(extra: Readonly<Record<string, string | number>> = {}): string {
  const { kind, offset, length } = extra;
  if (kind === undefined) return "secret";
  const place = offset === undefined || length === undefined
    ? ""
    : `, ${length} characters at ${offset}`;
  return kindWords(String(kind)) + place;
}
