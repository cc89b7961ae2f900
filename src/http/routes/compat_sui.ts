import { isObjectId } from "../../wire/keys.ts";
import type { AnswerOf } from "../../wire/routes.ts";

type Json = Readonly<Record<string, unknown>>;

/** The package as published clients of the older naming read it (docs/protocol.md#17.3). */
function packageObject(id: string): Json {
  return {
    data: {
      objectId: id,
      version: "1",
      digest: "11111111111111111111111111111111",
      type: "package",
      owner: "Immutable",
      content: { dataType: "package", disassembled: {} },
    },
  };
}

function read(id: unknown, packageId: string): Json {
  const text = typeof id === "string" ? id : "";
  return isObjectId(text) && text.toLowerCase() === packageId
    ? packageObject(packageId)
    : { error: { code: "notExists", object_id: text } };
}

/** Answers one JSON-RPC call; it reads no chain. */
export function answerCompatSui(body: unknown, packageId: string): AnswerOf<"POST /compat/sui"> {
  const call = typeof body === "object" && body !== null ? body as Json : {};
  const id = typeof call.id === "string" || typeof call.id === "number" ? call.id : null;
  const params: readonly unknown[] = Array.isArray(call.params) ? call.params : [];
  const [first] = params;
  if (call.method === "sui_getObject") {
    return { jsonrpc: "2.0", id, result: read(first, packageId) };
  }
  if (call.method === "sui_multiGetObjects" && Array.isArray(first)) {
    return { jsonrpc: "2.0", id, result: first.map((item) => read(item, packageId)) };
  }
  return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
}
