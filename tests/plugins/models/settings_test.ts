import { deepStrictEqual } from "node:assert/strict";
import ollama from "../../../plugins/ollama/mod.ts";
import openai from "../../../plugins/openai/mod.ts";
import type { Field } from "../../../src/interfaces/fields.ts";
import { ALL_FIELDS } from "../../../src/program/settings/table.ts";
import { verifies } from "../../requirements.ts";

Deno.test("the plugins read their settings as the reference says", () => {
  verifies("15-27");
  const said = new Map(ALL_FIELDS.map((field) => [field.env, field]));
  for (const { fields } of [ollama, openai]) {
    for (const field of Object.values<Field<unknown>>(fields)) {
      const listed = said.get(field.env);
      deepStrictEqual(field.doc, listed?.doc, field.env);
      // One setting chooses the model of any embedder: its default is the chosen plugin's.
      if (field.env === "SVC_EMBEDDING_MODEL") continue;
      deepStrictEqual(field.fallback, listed?.fallback, field.env);
    }
  }
});
