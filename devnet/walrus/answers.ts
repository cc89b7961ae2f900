/** Bodies as the types of Response want them. */
export type Bytes = Uint8Array<ArrayBuffer>;

const STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  413: "PAYLOAD_TOO_LARGE",
  500: "INTERNAL",
};

/** An error as Walrus' daemons and nodes answer it. @param reason Machine readable. */
export function refusal(code: number, message: string, reason?: string): Response {
  const details = reason === undefined ? [] : [{ reason, domain: "walrus" }];
  const error = { status: STATUS[code] ?? "UNKNOWN", code, message, details };
  return Response.json({ error }, { status: code });
}

/** The answer for a blob, quilt or patch that is not there. */
export function notFound(): Response {
  return refusal(
    404,
    "the requested blob ID does not exist on Walrus, ensure that it was entered correctly",
    "NOT_FOUND",
  );
}

/** The success envelope of storage nodes. */
export function success(data: unknown): Response {
  return Response.json({ success: { code: 200, data } });
}

/** Bytes of the same length that are not the same. */
export function corrupt(bytes: Uint8Array): Bytes {
  const other = bytes.length === 0 ? new Uint8Array(1) : new Uint8Array(bytes);
  const last = other.length - 1;
  other[last] = (other[last] ?? 0) ^ 1;
  return other;
}

/** Path of a request from its API version on: `/v1/…`, decoded where it is used. */
export function apiPath(request: Request): string {
  const { pathname } = new URL(request.url);
  const at = pathname.indexOf("/v1/");
  return at < 0 ? pathname : pathname.slice(at);
}
