import assert from "node:assert/strict";
import { createLogger, errorFields, type LogFields, silentLogger } from "../src/log.ts";
import { verifies } from "./requirements.ts";

function collect(format: "text" | "json", level: "debug" | "info" | "warn" | "error" = "debug") {
  const lines: string[] = [];
  const logger = createLogger({ format, level, write: (line) => lines.push(line), now: () => 0 });
  return { lines, logger };
}

Deno.test("a text line has time, level, event and fields", () => {
  const { lines, logger } = collect("text");
  logger.info("request", { route: "/api/recall", status: 200, ms: 1.5 });
  assert.deepEqual(lines, [
    "1970-01-01T00:00:00.000Z info request route=/api/recall status=200 ms=1.5\n",
  ]);
});

Deno.test("a json line is one object", () => {
  verifies("15-31");
  const { lines, logger } = collect("json");
  logger.error("failed", { code: "internal_error" });
  assert.deepEqual(JSON.parse(lines[0]!), {
    time: "1970-01-01T00:00:00.000Z",
    level: "error",
    event: "failed",
    code: "internal_error",
  });
});

Deno.test("fields outside the allow-list are dropped", () => {
  for (const format of ["text", "json"] as const) {
    const { lines, logger } = collect(format);
    const fields: LogFields = {
      text: "peanuts",
      query: "peanuts",
      authorization: "peanuts",
      owner: "peanuts",
      status: 200,
      job_id: undefined,
    };
    logger.warn("request", fields);
    assert.ok(!lines[0]!.includes("peanuts"));
    assert.ok(lines[0]!.includes("200"));
    assert.ok(!lines[0]!.includes("job_id"));
  }
});

Deno.test("a value cannot forge a line or a field", () => {
  const { lines, logger } = collect("text");
  logger.info("a\nb", { reason: "x\n1970 error forged status=500", method: "GET x" });
  assert.equal(lines[0]!.split("\n").length, 2);
  assert.ok(lines[0]!.includes(String.raw`reason="x\n1970 error forged status=500"`));
  assert.ok(lines[0]!.includes(`method="GET x"`));
});

Deno.test("a value cannot steer the terminal or turn the line", () => {
  const { lines, logger } = collect("text");
  logger.info("x", { reason: "a\u202eb\u009bc\u2028d" });
  assert.ok(lines[0]!.endsWith(String.raw`reason="a\u{202e}b\u{9b}c\u{2028}d"` + "\n"));
});

Deno.test("long values are cut", () => {
  const { lines, logger } = collect("json");
  logger.info("x", { reason: "a".repeat(10_000) });
  assert.ok(lines[0]!.length < 700);
});

Deno.test("lines below the level are not written", () => {
  const { lines, logger } = collect("text", "warn");
  logger.debug("a");
  logger.info("b");
  logger.warn("c");
  logger.error("d");
  assert.equal(lines.length, 2);
  silentLogger.error("nothing happens");
});

Deno.test("what is logged of an error never holds its message", () => {
  const cause = new SyntaxError(`Unexpected token, "peanuts" is not valid JSON`);
  const fields = errorFields(new Error("outer", { cause }));
  assert.equal(fields.error, "SyntaxError");
  assert.match(String(fields.at), /log_test\.ts/);
  assert.ok(!JSON.stringify(fields).includes("peanuts"));
  assert.deepEqual(errorFields("peanuts"), { error: "string" });
});
