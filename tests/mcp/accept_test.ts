import assert from "node:assert/strict";
import { checkAccept } from "../../src/mcp/message_body.ts";

const BOTH = ["application/json", "text/event-stream"];
const check = (accept: string) => checkAccept(new Headers({ accept }), BOTH);

Deno.test("a type is accepted by its name, its kind or any, whatever its weight above 0", () => {
  for (
    const accept of [
      "application/json, text/event-stream",
      "*/*",
      "application/*;q=0.5,TEXT/*",
      "application/json;q=0.001, text/event-stream; Q=1.000",
      "application/json;charset=utf-8, text/event-stream;q=0.9;ext=0",
      "text/*;q=0, */*;q=0, text/event-stream;q=0.1, application/json",
    ]
  ) check(accept);
});

Deno.test("a type of weight 0 is not accepted, also where a wider range is", () => {
  for (
    const accept of [
      "application/json",
      "application/json, text/event-stream;q=0",
      "application/json, text/event-stream ; Q=0.000",
      "application/json;charset=utf-8;q=0, text/event-stream",
      "*/*, text/event-stream;q=0",
      "*/*, text/*;q=0.0",
      "*/*;q=0",
    ]
  ) assert.throws(() => check(accept), { code: "not_acceptable" }, accept);
});
