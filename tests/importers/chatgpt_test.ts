import { deepStrictEqual } from "node:assert/strict";
import { reportOf, reportOfJson, skippedOf, textsOf } from "./reports.ts";

const message = (role: string, parts: unknown, more: Record<string, unknown> = {}) => ({
  id: "m",
  author: { role, name: null, metadata: {} },
  create_time: 1712345679.25,
  content: { content_type: "text", parts },
  recipient: "all",
  metadata: {},
  ...more,
});

const node = (parent: string | null, said: unknown = null, children: string[] = []) => ({
  message: said,
  parent,
  children,
});

// After `conversations.json` of an export of 2025, whose form OpenAI does not document; read from
// the description in mitkury/chatgpt-export-parser.
const CONVERSATION = {
  title: "Deploy timeout",
  create_time: 1712345678.5,
  update_time: 1712345999,
  conversation_id: "c1",
  current_node: "n6",
  mapping: {
    "client-created-root": node(null, null, ["n1"]),
    n1: node(
      "client-created-root",
      message("system", [""], { metadata: { is_visually_hidden_from_conversation: true } }),
      ["n2"],
    ),
    n2: node("n1", message("user", ["The deploy fails.\n\nWhy?"]), ["n3", "old"]),
    old: node("n2", message("assistant", ["An answer that was replaced"])),
    n3: node(
      "n2",
      message("assistant", null, {
        content: { content_type: "code", language: "python", text: "print(1)" },
        recipient: "python",
      }),
      ["n4"],
    ),
    n4: node("n3", message("tool", ["1"]), ["n5"]),
    n5: node(
      "n4",
      message("assistant", null, {
        content: { content_type: "thoughts", thoughts: [{ content: "secret" }] },
      }),
      ["n6"],
    ),
    n6: node(
      "n5",
      message("assistant", null, {
        content: {
          content_type: "multimodal_text",
          parts: [{ content_type: "image_asset_pointer" }, "Retry with backoff"],
        },
        create_time: null,
      }),
    ),
  },
};

Deno.test("the branch that is current is the conversation, and every other message is reported", () => {
  const report = reportOfJson("conversations.json", [CONVERSATION]);
  deepStrictEqual(report.format, "chatgpt");
  deepStrictEqual(report.conversations, [{
    title: "Deploy timeout",
    startedAt: "2024-04-05T19:34:38.500Z",
    turns: [
      { speaker: "user", text: "The deploy fails.\n\nWhy?", at: "2024-04-05T19:34:39.250Z" },
      { speaker: "assistant", text: "Retry with backoff" },
    ],
  }]);
  deepStrictEqual(skippedOf(report), [
    "[0].mapping.n1 system_message",
    "[0].mapping.n3 tool_message",
    "[0].mapping.n4 tool_message",
    "[0].mapping.n5 hidden_message",
    "[0].mapping.old hidden_branch",
  ]);
  deepStrictEqual(report.notes, [{ where: "[0].mapping.n6", kind: "parts_left" }]);
});

Deno.test("a tree whose links go in a circle or nowhere is read from its end", () => {
  const circle = {
    title: " ",
    current_node: "c",
    mapping: {
      a: node("c", message("user", ["one"])),
      b: node("a", message("assistant", ["two"])),
      c: node("b", message("user", ["three"])),
      d: node("gone", message("user", ["four"])),
    },
  };
  const nowhere = { current_node: "gone", mapping: { a: node("x", message("user", ["five"])) } };
  const self = { mapping: { a: node("a", message("user", ["six"])) } };
  const report = reportOfJson("c.json", [circle, nowhere, self]);
  deepStrictEqual(
    report.conversations.map(({ turns }) => turns.map(({ text }) => text)),
    [["one", "two", "three"], ["five"], ["six"]],
  );
  deepStrictEqual(skippedOf(report), ["[0].mapping.d hidden_branch"]);
  deepStrictEqual(report.notes.map(({ where, kind }) => `${where} ${kind}`), [
    "[0] chain_broken",
    "[1] chain_broken",
    "[2] chain_broken",
  ]);
});

Deno.test("damaged conversations are reported, and ids that might be texts are not shown", () => {
  const report = reportOf(
    "conversations.json",
    `[{"mapping": 5}, {"mapping": {}}, null,
      {"current_node": "a", "mapping": {
        "__proto__": {"message": {"author": {"role": "user"}, "content": {"parts": ["x"]}}},
        "a": {"message": {"author": {"role": "user"}, "content": {"parts": ["fine"]}}, "parent": null},
        "my secret text": 7,
        "b": {"message": 3},
        "c": {"message": {"author": "user"}}
      }},
      {"current_node": "e", "mapping": {
        "a": {"message": {"author": {"role": "user"}, "content": {"parts": [{}]}}},
        "b": {"message": {"author": {"role": "user"}, "content": {"parts": "x"}}, "parent": "a"},
        "c": {"message": {"author": {"role": "ghost"}}, "parent": "b"},
        "d": {"message": {"author": {"role": "user"}, "content": {"parts": [""]}}, "parent": "c"},
        "e": {"message": {"author": {"role": "user"}, "content": {"parts": ["${
      "x".repeat(2_097_152)
    }"]}}, "parent": "d"}
      }}]`,
  );
  deepStrictEqual(report.conversations, [{ turns: [{ speaker: "user", text: "fine" }] }]);
  deepStrictEqual(skippedOf(report), [
    "[0] unknown_shape",
    "[1] no_text",
    "[2] unknown_shape",
    "[3].mapping.__proto__ hidden_branch",
    "[3].mapping[2] unknown_shape",
    "[3].mapping.b hidden_branch",
    "[3].mapping.c hidden_branch",
    "[4].mapping.a no_text",
    "[4].mapping.b unknown_shape",
    "[4].mapping.c unknown_shape",
    "[4].mapping.d empty",
    "[4].mapping.e too_long",
  ]);
});

Deno.test("what was spoken is kept as it was written down", () => {
  const parts = [
    { content_type: "audio_transcription", text: "Hello there", direction: "in" },
    { content_type: "real_time_user_audio_video_asset_pointer" },
  ];
  const said = message("user", null, { content: { content_type: "multimodal_text", parts } });
  const report = reportOfJson("c.json", [{ current_node: "a", mapping: { a: node(null, said) } }]);
  deepStrictEqual(report.conversations[0]?.turns[0]?.text, "Hello there");
  deepStrictEqual(report.notes.map(({ kind }) => kind), ["parts_left"]);
});

Deno.test("saved memories are read by any of the names that they are known under", () => {
  const report = reportOfJson("memories.json", [
    { id: "1", content: "Has a dog", created_at: "2025-02-03T04:05:06Z" },
    { text: "Lives in Graz", created_timestamp: 1712345678 },
    { content: 3 },
    "Speaks German",
    { content: "Has a dog" },
  ]);
  deepStrictEqual(report.format, "chatgpt");
  deepStrictEqual(report.memories, [
    { text: "Has a dog", occurredAt: "2025-02-03T04:05:06.000Z" },
    { text: "Lives in Graz", occurredAt: "2024-04-05T19:34:38.000Z" },
    { text: "Speaks German" },
  ]);
  deepStrictEqual(skippedOf(report), ["[2] not_text", "[4] duplicate"]);

  const answer = { memories: [{ id: "m", content: "Has a cat" }], memory_max_tokens: 1 };
  deepStrictEqual(reportOfJson("x.json", answer).format, "chatgpt");
  const other = reportOfJson("x.json", [{ memory: "Has a cat" }], "chatgpt");
  deepStrictEqual(textsOf(other), ["Has a cat"]);
});
