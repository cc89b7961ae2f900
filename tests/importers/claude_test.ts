import { deepStrictEqual } from "node:assert/strict";
import { reportOfJson, skippedOf, textsOf } from "./reports.ts";

// After the files of an export of Claude (Settings, Privacy, Export data) of 2025, whose form
// Anthropic does not document.
const CONVERSATION = {
  uuid: "b6be860d-77a4-4c67-b747-d70d13d56910",
  name: "Hexagonal architecture",
  summary: "",
  created_at: "2025-01-01T12:00:00.123456Z",
  updated_at: "2025-01-01T12:10:00Z",
  account: { uuid: "a" },
  chat_messages: [
    {
      uuid: "1",
      text: "What is a port?",
      content: [{ type: "text", text: "What is a port?", citations: [] }],
      sender: "human",
      created_at: "2025-01-01T12:00:00.123456+00:00",
      attachments: [],
      files: [],
    },
    {
      uuid: "2",
      text: "```\nThis block is not supported on your current device yet.\n```\n\nAn edge.",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "An edge." },
        { type: "text", text: "See also adapters." },
      ],
      sender: "assistant",
      created_at: "2025-01-01T12:00:09Z",
    },
    { uuid: "3", text: "", content: [], sender: "human", files: [{ file_name: "a.png" }] },
    { uuid: "4", text: "older form", sender: "human" },
    { uuid: "5", sender: "tool", text: "x" },
    7,
  ],
};

Deno.test("conversations of Claude keep their turns, and what is no text is noted", () => {
  const report = reportOfJson("conversations.json", [CONVERSATION, {
    uuid: "e",
    chat_messages: [],
  }]);
  deepStrictEqual(report.format, "claude");
  deepStrictEqual(report.conversations, [{
    title: "Hexagonal architecture",
    startedAt: "2025-01-01T12:00:00.123Z",
    turns: [
      { speaker: "user", text: "What is a port?", at: "2025-01-01T12:00:00.123Z" },
      {
        speaker: "assistant",
        text: "An edge.\nSee also adapters.",
        at: "2025-01-01T12:00:09.000Z",
      },
      { speaker: "user", text: "older form" },
    ],
  }]);
  deepStrictEqual(skippedOf(report), [
    "[0].chat_messages[2] no_text",
    "[0].chat_messages[4] unknown_shape",
    "[0].chat_messages[5] unknown_shape",
    "[1] no_text",
  ]);
  deepStrictEqual(report.notes, [{ where: "[0].chat_messages[1]", kind: "parts_left" }]);
});

const MEMORIES = {
  conversations_memory:
    "**Work context**\n\nArjun is a senior advisor.\n\n**Personal context**\n\n- Has a dog\n- Lives in Graz\n\n**Prefers short answers**",
  project_memories: {
    "0198f2c0-1111-7000-8000-000000000000": "**Purpose**\n\nWriting helper.",
    "not an id": "Uses tabs.",
    "0198f2c0-2222-7000-8000-000000000000": "",
    bad: 3,
  },
  account_uuid: "acct",
};

Deno.test("what Claude remembers is a memory for each paragraph, under its heading", () => {
  for (const root of [[MEMORIES], MEMORIES]) {
    const report = reportOfJson("memories.json", root);
    deepStrictEqual(report.format, "claude");
    deepStrictEqual(report.memories, [
      { text: "Arjun is a senior advisor.", metadata: { heading: "Work context" } },
      { text: "Has a dog", metadata: { heading: "Personal context" } },
      { text: "Lives in Graz", metadata: { heading: "Personal context" } },
      // Nothing stands below it: it is no heading.
      { text: "Prefers short answers" },
      {
        text: "Writing helper.",
        metadata: { project: "0198f2c0-1111-7000-8000-000000000000", heading: "Purpose" },
      },
      { text: "Uses tabs.", metadata: { project: "not an id" } },
    ]);
    deepStrictEqual(skippedOf(report), [
      "[0].project_memories.0198f2c0-2222-7000-8000-000000000000 empty",
      "[0].project_memories.bad not_text",
    ]);
  }
});

Deno.test("files of memories, and accounts without any, are read as well", () => {
  const report = reportOfJson("memories.json", [
    { conversations_memory: null, project_memories: {}, account_uuid: "a" },
    {
      conversations_memory: "One.",
      project_memories: [],
      memory_files: [{ path: "/notes.md", content: "Two." }, {}],
    },
  ]);
  deepStrictEqual(textsOf(report), ["One.", "Two."]);
  deepStrictEqual(report.memories[1]?.metadata, { file: "/notes.md" });
  deepStrictEqual(skippedOf(report), [
    "[1].project_memories unknown_shape",
    "[1].memory_files[1] not_text",
  ]);
});
