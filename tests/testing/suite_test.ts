import { deepStrictEqual, rejects, throws } from "node:assert/strict";
import { type Case, conform, runSuite, type Suite } from "../../testing/mod.ts";

function item(name: string, run: Case<string>["run"]): Case<string> {
  return { name, run };
}

const SUITE: Suite<string> = {
  name: "Word",
  cases: [
    item("is there", async (make) => {
      deepStrictEqual((await make()).length > 0, true);
      return undefined;
    }),
    item("has an optional letter", () => Promise.resolve("the backend has no letter")),
  ],
};

conform(SUITE, "x", () => "x");
conform(SUITE, "", () => "", { skip: { "is there": "it is the empty word" } });

Deno.test("runSuite answers one result a case", async () => {
  deepStrictEqual(await runSuite(SUITE, () => "x"), [
    { name: "is there", status: "passed" },
    {
      name: "has an optional letter",
      status: "skipped",
      reason: "the backend has no letter",
    },
  ]);
});

Deno.test("runSuite answers what failed, and why", async () => {
  const error = new Error("cannot be made");
  const results = await runSuite(SUITE, () => Promise.reject(error));
  deepStrictEqual(results[0], { name: "is there", status: "failed", error });
});

Deno.test("runSuite answers skips with their reason", async () => {
  const results = await runSuite(SUITE, () => "", { skip: { "is there": "why not" } });
  deepStrictEqual(results[0], { name: "is there", status: "skipped", reason: "why not" });
});

Deno.test("a skip needs a reason and a case", async () => {
  for (const skip of [{ "is there": " " }, { "is here": "why not" }]) {
    throws(() => conform(SUITE, "x", () => "x", { skip }), TypeError);
    await rejects(runSuite(SUITE, () => "x", { skip }), TypeError);
  }
});
