import assert from "node:assert/strict";
import { verifies } from "../../requirements.ts";
import { SignedIn } from "./signed_in.ts";

const isWindows = Deno.build.os === "windows";

const parsed = (text: string) => text.trimEnd().split("\n").map((line) => JSON.parse(line));

/** An export that ends after some memories. */
function cut(memories: number, whole = false): SignedIn["between"] {
  const lines = [
    { type: "header", format: "svc-export/1", owner: "0x1", exported_at: "2026-01-01T00:00:00Z" },
    ...Array.from({ length: memories }, (_, i) => ({
      type: "memory",
      memory_id: `11111111-2222-4333-8444-${String(i).padStart(12, "0")}`,
      namespace: "default",
      text: `memory ${i}`,
    })),
    ...(whole ? [{ type: "end", memories, errors: 0 }] : []),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  return (request) => request.url.endsWith("/api/export") ? new Response(text) : undefined;
}

async function modeOf(path: string): Promise<number> {
  return (await Deno.stat(path)).mode! & 0o777;
}

Deno.test("export writes every memory, or those of a namespace, as lines of JSON", async () => {
  await using here = await SignedIn.open();
  await here.svc.remember("tea \u001b[31m\u009b2J\u202e\u{e0001}☕");
  await here.svc.remember("coffee", { namespace: "work" });
  const { code, out, err } = await here.run(["export"]);
  assert.deepEqual([code, err], [0, ""]);
  // deno-lint-ignore no-control-regex -- what a terminal would obey
  assert.doesNotMatch(out, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u{e0001}]/u);
  const lines = parsed(out);
  assert.deepEqual(lines.map(({ type }) => type), ["header", "memory", "memory", "end"]);
  assert.deepEqual(lines.slice(1, 3).map(({ text }) => text).sort(), [
    "coffee",
    "tea \u001b[31m\u009b2J\u202e\u{e0001}☕",
  ]);
  const work = await here.run(["export", "--ns", "work"], { isErrorTerminal: true });
  assert.deepEqual(parsed(work.out).map(({ text }) => text), [undefined, "coffee", undefined]);
  assert.match(work.err, /^\r.*\r.*1 memory of "work"\.\n$/s);
  const variable = await here.run(["export"], { env: { SVC_NAMESPACE: "work" } });
  assert.equal(parsed(variable.out).length, 3);
  assert.equal(variable.err, "Note: only work, which SVC_NAMESPACE names.\n");
  const wrong = await here.run(["export", "--ns", "wrok"]);
  assert.equal(wrong.err, 'There are no memories in "wrok". Did you mean "work"?\n');
});

Deno.test("export into a file that only the user may read, under its name when it is whole", async () => {
  verifies("13.4-3");
  await using here = await SignedIn.open();
  await here.svc.remember("tea");
  await here.terminal.write("all.ndjson", "an earlier one");
  await Deno.symlink("/dev/null", `${here.terminal.home}/all.ndjson.part`);
  const { code, out, err } = await here.run(["export", "--output", "~/all.ndjson"]);
  assert.deepEqual([code, out, err], [0, "1 memory: ~/all.ndjson\n", ""]);
  assert.equal(parsed(await here.terminal.read("all.ndjson")).length, 3);
  if (!isWindows) assert.equal(await modeOf(`${here.terminal.home}/all.ndjson`), 0o600);
  assert.deepEqual(await here.terminal.list(""), [".svc", "all.ndjson"]);
  const machine = await here.json(["export", "--output", "~/all.ndjson"]);
  assert.deepEqual([machine.memories, machine.errors], [1, {}]);
});

Deno.test("an export that breaks off is an error that names what there is", async () => {
  verifies("10.11-2");
  await using here = await SignedIn.open();
  here.between = cut(1234);
  const cutShort = await here.run(["export", "--output", "~/all.ndjson"]);
  assert.deepEqual(cutShort, {
    code: 1,
    out: "",
    err: "The export broke off after 1,234 memories. It is not complete. " +
      "What came so far is in ~/all.ndjson.part.\n",
  });
  assert.deepEqual(await here.terminal.list(""), [".svc", "all.ndjson.part"]);
  assert.equal(parsed(await here.terminal.read("all.ndjson.part")).length, 1235);
  here.between = (request) => {
    if (!request.url.endsWith("/api/export")) return undefined;
    const pieces = ['{"type":"header"}\n', '{"type":"mem'];
    const lines = new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.error(new Error("reset"));
        else controller.enqueue(new TextEncoder().encode(piece));
      },
    });
    return new Response(lines);
  };
  const broken = await here.run(["export"]);
  assert.equal(broken.code, 1);
  assert.match(
    broken.err,
    /broke off after 0 memories: .*ended the export too early.*no whole export/,
  );
  here.between = cut(3, true);
  const whole = await here.run(["export", "--output", "~/all.ndjson"]);
  assert.equal(whole.out, "3 memories: ~/all.ndjson\n");
  assert.deepEqual(await here.terminal.list(""), [".svc", "all.ndjson"]);
});

Deno.test("an export that never began leaves no file", async () => {
  await using here = await SignedIn.open();
  const away = await here.run(["export", "--output", "~/all.ndjson"], {
    fetch: () => Promise.reject(new TypeError("away")),
  });
  assert.deepEqual([away.code, away.out], [4, ""]);
  const unwritable = await here.run(["export", "--output", "~/no/all.ndjson"]);
  assert.deepEqual([unwritable.code, unwritable.err], [
    1,
    "~/no/all.ndjson cannot be written (ENOENT).\n",
  ]);
  for (
    const args of [
      ["export", "--output", "~/a", "--markdown", "~/b"],
      ["export", "everything"],
      ["export", "--output="],
      ["export", "--outptu", "x"],
    ]
  ) {
    assert.equal((await here.run(args)).code, 2, args.join(" "));
  }
  assert.deepEqual(here.asked, []);
  await Deno.remove(here.terminal.credentialsPath);
  const signedOut = await here.run(["export", "--output", "~/all.ndjson"]);
  assert.equal(signedOut.code, 3);
  assert.deepEqual(await here.terminal.list(""), [".svc"]);
});

Deno.test("memories that are not in the export are counted, and named", async () => {
  await using here = await SignedIn.open();
  const lines = [
    { type: "header" },
    { type: "error", memory_id: "a", namespace: "default", code: "manual_memory" },
    { type: "error", memory_id: "b", namespace: "default", code: "manual_memory" },
    { type: "end", memories: 0, errors: 2 },
  ];
  const answer = (all: object[]) => () =>
    new Response(all.map((line) => JSON.stringify(line)).join("\n"));
  here.between = answer(lines);
  const manual = await here.run(["export"]);
  assert.equal(manual.code, 0);
  assert.match(manual.err, /^2 memories are not in it: the app that saved it .*\n {2}a, b\n$/);
  here.between = answer([...lines, { type: "error", memory_id: "c", code: "storage\u001b[2J" }]);
  const closed = await here.run(["export", "--output", "~/all.ndjson"]);
  assert.equal(closed.code, 1);
  assert.match(
    closed.err,
    /1 memory is not in it: it could not be opened \(storage\\u\{1b\}\[2J\)/,
  );
  assert.deepEqual(await here.terminal.list(""), [".svc", "all.ndjson"]);
});

Deno.test("memories as Markdown files come back as they were, with ids and versions", async () => {
  await using here = await SignedIn.open();
  const { svc } = here;
  const text = "# Ada\n\nlikes tea  \n---\nand 日本語 ☕\n";
  const id = await svc.remember("first");
  await here.run(["edit", id, text]);
  await svc.remember("../../etc/passwd", { namespace: "  ", metadata: { a: "x\u2028y", n: null } });
  await svc.remember("odd", { namespace: "work" });
  const before = parsed((await here.run(["export"])).out).filter(({ type }) => type === "memory");
  const { code, out } = await here.run(["export", "--markdown", "~/notes/here"]);
  assert.deepEqual([code, out], [0, "3 memories: ~/notes/here\n"]);
  const isMemory = (name: string) => name.endsWith(".md");
  const files = (await here.terminal.list("notes/here")).filter(isMemory);
  assert.equal(files.length, 3);
  assert(files.some((name) => name.startsWith("etc-passwd-")), files.join());
  if (!isWindows) {
    assert.equal(await modeOf(`${here.terminal.home}/notes/here`), 0o700);
    assert.equal(await modeOf(`${here.terminal.home}/notes/here/${files[0]}`), 0o600);
  }
  // Once more over the files that are there.
  await here.run(["export", "--markdown", "~/notes/here"]);
  assert.deepEqual((await here.terminal.list("notes/here")).filter(isMemory), files);
  await using there = await SignedIn.open();
  const taken = await there.run(["import", `${here.terminal.home}/notes`]);
  assert.deepEqual(taken, { code: 0, out: "Took 3 memories.\n", err: "" });
  const after = parsed((await there.run(["export"])).out).filter(({ type }) => type === "memory");
  const known = (
    { source: _, written_by: __, written_by_label: ___, ...memory }: Record<string, unknown>,
  ) => memory;
  const byId = (a: Record<string, unknown>, b: Record<string, unknown>) =>
    String(a.memory_id) < String(b.memory_id) ? -1 : 1;
  assert.deepEqual(after.map(known).sort(byId), before.map(known).sort(byId));
  const again = await there.run(["import", `${here.terminal.home}/notes`]);
  assert.equal(again.out, "Took 0 memories.\n  3 are there already\n");
  // Everything into one namespace, because the flag says so.
  await there.run(["import", `${here.terminal.home}/notes`, "--namespace", "all"]);
  assert.match((await there.run(["namespaces"])).out, /^all +3 memories/m);
});

Deno.test("two memories whose ids end alike have two files", async () => {
  await using here = await SignedIn.open();
  const ids = ["11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555"];
  const lines = [
    ...ids.map((memory_id) => ({ type: "memory", memory_id, namespace: "default", text: "tea" })),
    { type: "end", memories: 2, errors: 0 },
  ];
  here.between = () => new Response(lines.map((line) => JSON.stringify(line)).join("\n"));
  await here.run(["export", "--markdown", "~/notes"]);
  assert.deepEqual(await here.terminal.list("notes"), [
    ".svc-export.sha256",
    "tea-555555555555.md",
    `tea-${ids[1]}.md`,
  ]);
  here.between = () => new Response('{"type":"memory","memory_id":"../x","text":"a"}\n');
  const odd = await here.run(["export", "--markdown", "~/odd"]);
  assert.equal(odd.code, 1);
  assert.match(odd.err, /is no memory/);
});

Deno.test("an export that a busy relayer refuses is asked for again", async () => {
  await using here = await SignedIn.open();
  await here.svc.remember("tea");
  let busy = 2;
  here.between = (request) => {
    if (!request.url.endsWith("/api/export") || busy-- <= 0) return undefined;
    const body = { error: "No", code: "rate_limited", request_id: "r" };
    return Response.json(body, { status: 429, headers: { "retry-after": "3" } });
  };
  const { code, out } = await here.run(["export"]);
  assert.deepEqual([code, parsed(out).length], [0, 3]);
  assert.deepEqual(here.slept, [3000, 3000]);
});
