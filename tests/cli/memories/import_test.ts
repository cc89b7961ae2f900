import assert from "node:assert/strict";
import { verifies } from "../../requirements.ts";
import { exportOf, HEADER, type Line, ndjson } from "./exports.ts";
import { SignedIn } from "./signed_in.ts";

const imports = (here: SignedIn) =>
  here.asked.filter((request) => request.startsWith("POST /api/import")).length;

const refusal = (code: string, status: number, headers: Record<string, string> = {}) =>
  Response.json({ error: "No", code, request_id: "r" }, { status, headers });

Deno.test("an import that breaks off says so, and goes on when it is repeated", async () => {
  verifies("13.4-3", "10.11-5");
  await using here = await SignedIn.open();
  await here.terminal.write("all.ndjson", exportOf(1000));
  let left = 2;
  const away: SignedIn["between"] = (request) => {
    if (!request.url.includes("/api/import") || left-- > 0) return undefined;
    throw new TypeError("connection reset");
  };
  here.between = away;
  const broken = await here.run(["import", "~/all.ndjson"]);
  assert.deepEqual([broken.code, broken.out], [4, ""]);
  assert.match(
    broken.err,
    /^The import broke off: 400 memories were taken\. Run the same command again: .*\n.*cannot be reached/,
  );
  here.between = () => undefined;
  const rest = await here.run(["import", "~/all.ndjson"]);
  assert.deepEqual([rest.code, rest.out], [0, "Took 600 memories.\n  400 are there already\n"]);
  here.between = (request) =>
    request.url.includes("/api/import") ? refusal("quota_exceeded", 402) : undefined;
  const full = await here.run(["import", "~/all.ndjson", "--json"]);
  assert.equal(full.code, 1);
  assert.match(full.err, /"code":"quota_exceeded"/);
});

Deno.test("a relayer that is busy or has a limit is waited for", async () => {
  await using here = await SignedIn.open();
  await here.terminal.write("all.ndjson", exportOf(300));
  const keys = new Set<string>();
  let busy = 7;
  here.between = (request) => {
    if (!request.url.includes("/api/import")) return undefined;
    keys.add(request.headers.get("idempotency-key")!);
    if (busy-- <= 0) return undefined;
    return busy % 2 === 0
      ? refusal("overloaded", 503, { "retry-after": "1" })
      : refusal("rate_limited", 429, { "retry-after": "45" });
  };
  const { code, out } = await here.run(["import", "~/all.ndjson"]);
  assert.deepEqual([code, out], [0, "Took 300 memories.\n"]);
  assert.equal(keys.size, 2);
  assert(here.slept.includes(45_000));
  assert(here.slept.every((ms) => ms <= 60_000));
});

Deno.test("lines of other kinds, damaged ones and those that are refused", async () => {
  await using here = await SignedIn.open();
  const gone = await here.svc.remember("gone", { namespace: "home" });
  await here.run(["forget", gone, "--yes"]);
  const there = await here.svc.remember("tea");
  await here.terminal.write(
    "lines.ndjson",
    "\ufeff" + ndjson([
      HEADER,
      { text: "no id, no type" },
      "",
      "{broken",
      "[1]",
      { type: "memory", text: " " },
      { type: "error", memory_id: "x", code: "manual_memory" },
      { type: "memory", text: "bad importance \u001b[2J", importance: 7 },
      { type: "memory", memory_id: there, text: "tea" },
      { type: "memory", memory_id: gone, namespace: "home", text: "gone" },
      { type: "memory", text: "over", expires_at: "2020-01-01T00:00:00Z" },
      { type: "later", text: "unknown" },
      { type: "end", memories: 4, errors: 1 },
    ]),
  );
  const { code, out, err } = await here.run(["import", "~/lines.ndjson"]);
  assert.equal(code, 1);
  assert.equal(
    out,
    "Took 1 memory.\n  1 is there already\n" +
      "  1 was deleted earlier: --bring-back takes it all the same\n  1 has expired\n",
  );
  assert.match(
    err,
    /^4 memories could not be taken:\n {2}~\/lines\.ndjson line 4: the line is not JSON\n {2}.* line 5: the line is no object\n {2}.* line 6: it has no text\n {2}~\/lines\.ndjson line 8: .*invalid_parameter\)\n$/,
  );
  const back = await here.run(["import", "~/lines.ndjson", "--bring-back"]);
  assert.match(back.out, /^Took 1 memory\.\n {2}2 are there already\n {2}1 has expired\n$/);
  const machine = await here.run(["import", "~/lines.ndjson", "--json"]);
  const answer = JSON.parse(machine.out);
  assert.deepEqual(answer.skipped, {
    exists: 2,
    older: 0,
    deleted: 1,
    expired: 1,
    history: 0,
  });
  assert.deepEqual([answer.accepted, answer.failed, answer.failures.length], [0, 4, 4]);
});

Deno.test("an export without its last line is imported, and named as incomplete", async () => {
  await using here = await SignedIn.open();
  await here.terminal.write("cut.ndjson", ndjson([HEADER, { type: "memory", text: "tea" }]));
  const { code, out, err } = await here.run(["import", "~/cut.ndjson"]);
  assert.deepEqual([code, out], [0, "Took 1 memory.\n"]);
  assert.equal(err, "~/cut.ndjson: the export has no last line: it is not complete.\n");
  await here.terminal.write("empty.ndjson", ndjson([HEADER, { type: "end", memories: 0 }]));
  const empty = await here.run(["import", "~/empty.ndjson"]);
  assert.deepEqual([empty.code, empty.out], [1, ""]);
  assert.match(empty.err, /svc was recognised, but it is empty/);
});

Deno.test("files of other products become memories, and a bad one stops no other", async () => {
  await using here = await SignedIn.open();
  const { terminal } = here;
  await terminal.write(
    "in/mem0.json",
    JSON.stringify({
      memories: [
        { memory: "Ada likes tea", created_at: "2026-01-02T03:04:05Z", categories: ["food"] },
        { memory: "" },
        { memory: "Ada likes tea" },
      ],
    }),
  );
  await terminal.write("in/b.json", "{ broken");
  await terminal.write("in/notes.md", "# Food\n\n- no nuts\n");
  await terminal.write("in/binary.txt", "x");
  await Deno.writeFile(`${terminal.home}/in/binary.txt`, new Uint8Array([0xff, 0xfe, 0x80]));
  await terminal.write("in/.hidden/secret.md", "secret");
  await terminal.write("in/node_modules/readme.md", "secret");
  await terminal.write("in/picture.png", "png");
  await Deno.symlink("/etc/hostname", `${terminal.home}/in/link.txt`);
  const { code, out, err } = await here.run(["import", "~/in", "--ns", "food"]);
  assert.deepEqual([code, out], [1, "Took 2 memories.\n"]);
  assert.match(err, /^~\/in\/b\.json: this is not JSON; the file may be incomplete$/m);
  assert.match(err, /^~\/in\/binary\.txt: it is not text in UTF-8; unpack an archive first$/m);
  assert.match(err, /^~\/in\/mem0\.json: left out:\n {2}1: it is empty \(memories\[1\]\)$/m);
  assert.match(err, /1: the same is in this file before \(memories\[2\]\)/);
  assert.match(err, /1 other file passed over/);
  const { memories } = await here.json(["list", "--ns", "food"]);
  assert.deepEqual(memories.map(({ text }: Line) => text).sort(), ["Ada likes tea", "no nuts"]);
  const tea = memories.find(({ text }: Line) => text === "Ada likes tea");
  assert.deepEqual([tea.metadata.categories, tea.occurred_at], [
    "food",
    "2026-01-02T03:04:05.000Z",
  ]);
  assert.equal((await here.run(["list"])).out.includes("secret"), false);
  const again = await here.run(["import", "~/in/mem0.json", "--ns", "food"]);
  assert.match(again.out, /^Took 0 memories\.\n {2}1 is there already\n$/);
});

Deno.test("a preview shows what would be taken and what not, and sends nothing", async () => {
  await using here = await SignedIn.open();
  const { terminal } = here;
  await terminal.write(
    "notes.md",
    `# A\n\n${Array.from({ length: 8 }, (_, i) => `- fact ${i} \u001b[2J`).join("\n")}\n`,
  );
  await terminal.write("all.ndjson", exportOf(4).replace('"work"', '" w"'));
  await terminal.write("bad.json", "{");
  await Deno.remove(terminal.credentialsPath);
  const { code, out, err } = await here.run(
    ["import", "~/notes.md", "~/all.ndjson", "~/bad.json", "--preview"],
  );
  assert.equal(code, 1);
  assert.match(out, /^~\/notes\.md \(markdown\): 8 memories\n {2}fact 0 \\u\{1b\}\[2J\n/);
  assert.match(out, / {2}fact 4 .*\n {2}and 3 more\n/);
  assert.match(
    out,
    /~\/all\.ndjson \(svc\): 4 memories\n {2}home: 2 memories\n {2}" w": 1 memory\n {2}work: 1 memory\n/,
  );
  assert.match(out, /Nothing was saved: this is a preview\.\n$/);
  assert.equal(err, "~/bad.json: this is not JSON; the file may be incomplete\n");
  const machine = await here.run(["import", "~/notes.md", "--preview", "--json"]);
  const answer = JSON.parse(machine.out);
  assert.deepEqual([answer.preview, answer.files[0].memories, answer.problems], [true, 8, []]);
  assert(!machine.out.includes("fact"));
  assert.deepEqual(here.asked, []);
});

const CONVERSATION = [{
  uuid: "c1",
  name: "Tea",
  chat_messages: [
    { sender: "human", text: "I am allergic to peanuts. I live in Oslo.", uuid: "m1" },
    { sender: "assistant", text: "Noted.", uuid: "m2" },
  ],
}];

Deno.test("conversations are analyzed after somebody said yes, and not twice", async () => {
  await using here = await SignedIn.open();
  await here.terminal.write("conversations.json", JSON.stringify(CONVERSATION));
  const args = ["import", "~/conversations.json"];
  const preview = await here.run([...args, "--preview"]);
  assert.match(preview.out, /\(claude\): 1 conversation in 1 text to analyze\n/);
  const nobody = await here.run(args);
  assert.equal(nobody.code, 1);
  assert.match(nobody.err, /it has 1 conversation, 1 text to analyze: add --yes if you want that/);
  const no = await here.onTerminal(args, "n\n");
  assert.equal(no.code, 0);
  assert.match(no.err, /save the facts in them\? \[y\/N\] 1 conversation left alone/);
  assert(!here.asked.some((request) => request.includes("analyze")));
  const yes = await here.onTerminal(args, "y\n");
  assert.equal(yes.code, 0);
  assert.match(yes.out, /^Analyzed 1 text and saved \d+ facts?\.\n$/);
  assert.match(yes.err, /no language model/);
  await here.svc.relayer.idle();
  const before = (await here.json(["list"])).memories.length;
  assert(before > 0);
  const again = await here.json([...args, "--yes"]);
  assert.equal(again.texts, 1);
  await here.svc.relayer.idle();
  assert.equal((await here.json(["list"])).memories.length, before);
});

Deno.test("what is typed ahead answers the questions of further files", async () => {
  await using here = await SignedIn.open();
  for (const name of ["a", "b"]) {
    await here.terminal.write(`${name}.json`, JSON.stringify(CONVERSATION));
  }
  const { err } = await here.onTerminal(["import", "~/a.json", "~/b.json"], "n\ny\n");
  assert.match(err, /1 conversation left alone/);
  assert.equal(here.asked.filter((request) => request.includes("analyze")).length, 1);
});

Deno.test("import refuses what it does not know", async () => {
  await using here = await SignedIn.open();
  const { terminal } = here;
  await terminal.write("notes.md", "tea\n");
  await terminal.write("empty/x.png", "");
  const cases: [string[], number, RegExp][] = [
    [["import"], 2, /needs a file/],
    [
      ["import", "~/notes.md", "--from", "chatgtp"],
      2,
      /Unknown format "chatgtp"\. Did you mean "chatgpt"/,
    ],
    [["import", "~/notes.md", "--dry-run"], 2, /Unknown flag --dry-run: nothing was done/],
    [["import", "~/none.md"], 1, /^~\/none\.md cannot be read \(ENOENT\)\.\n$/],
    [["import", "~/empty"], 1, /has no file that can be imported/],
    [["import", "~/notes.md", "--from", "mem0"], 1, /this is not JSON/],
    [["import", "~/notes.md", "--from", "svc-markdown"], 1, /not have the form of svc-markdown/],
    [["import", "~/notes.md", "--from", "svc"], 1, /1 memory could not be taken[^]*not JSON/],
  ];
  for (const [args, exit, message] of cases) {
    const { code, err } = await here.run(args);
    assert.equal(code, exit, args.join(" "));
    assert.match(err, message);
  }
  assert.equal(imports(here), 0);
  await Deno.remove(terminal.credentialsPath);
  const signedOut = await here.run(["import", "~/notes.md"]);
  assert.equal(signedOut.code, 3);
  assert.doesNotMatch(signedOut.err, /broke off/);
});
