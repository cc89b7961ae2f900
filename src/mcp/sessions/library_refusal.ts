/** Names for refusals that the MCP library words itself. */
function codeOf(status: number, rpcCode: unknown): string {
  if (rpcCode === -32700) return "malformed_json";
  if (rpcCode === -32022) return "unsupported_protocol_version";
  if (rpcCode === -32601) return "not_found";
  if (status === 406) return "not_acceptable";
  if (status === 413) return "body_too_large";
  if (status === 415) return "unsupported_media_type";
  return status >= 500 ? "internal_error" : "invalid_request";
}

/** Adds code and request id to a refusal of the MCP library; other answers stay as they are. */
export async function completeRefusal(response: Response, requestId: string): Promise<Response> {
  if (response.status < 400 || !response.headers.get("content-type")?.includes("json")) {
    return response;
  }
  const body: unknown = await response.json();
  if (typeof body !== "object" || body === null || !("error" in body)) {
    return Response.json(body, { status: response.status });
  }
  const { error } = body;
  if (typeof error !== "object" || error === null) {
    return Response.json(body, { status: response.status });
  }
  const known = "data" in error && typeof error.data === "object" ? error.data : {};
  const code = codeOf(response.status, Reflect.get(error, "code"));
  const data = { code, request_id: requestId, ...known };
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return Response.json({ ...body, error: { ...error, data } }, {
    status: response.status,
    headers,
  });
}
