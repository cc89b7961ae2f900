import assert from "node:assert/strict";
import { SignedIn } from "./signed_in.ts";

const UNKNOWN = "11111111-2222-4333-8444-555555555555";

Deno.test("get shows a memory whole, and below it what is known about it", async () => {
  await using here = await SignedIn.open();
  const { svc } = here;
  const id = await svc.remember("first line\nsecond\tline \u001b[31mred\u202e", {
    namespace: " work",
    importance: 0.9,
    metadata: { from: "a\u001b[2Jb", pages: 3 },
    occurred_at: new Date(Date.now() - 3 * 86_400_000 - 60_000).toISOString(),
    expires_at: new Date(Date.now() + 2 * 86_400_000 + 60_000).toISOString(),
  });
  const { code, out, err } = await here.run(["get", id]);
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(
    out,
    "first line\nsecond\tline \\u{1b}[31mred\\u{202e}\n" +
      '" work" · said 3 days ago · accepted just now · by test …' +
      `${svc.key.publicKey.slice(-8)} · version 1 · importance 0.9 · ` +
      "from: a\\u{1b}[2Jb · pages: 3 · ends in 2 days\n",
  );
  const machine = await here.json(["get", id]);
  assert.equal(machine.text, "first line\nsecond\tline \u001b[31mred\u202e");
  assert.equal(machine.memory_id, id);
  const coloured = await here.run(["get", id], { isTerminal: true });
  assert(coloured.out.includes('\n\u001b[2m" work" · ') && coloured.out.endsWith("\u001b[22m\n"));
  const plain = await here.run(["get", id], { isTerminal: true, env: { NO_COLOR: "1" } });
  assert(!plain.out.includes("\u001b"));
});

Deno.test("a memory may be named by the beginning of its id, if it is the only one", async () => {
  await using here = await SignedIn.open();
  const { svc } = here;
  const ids = [await svc.remember("tea"), await svc.remember("coffee")];
  const at = [...ids[0]!].findIndex((letter, i) => letter !== ids[1]![i]);
  const alone = ids[0]!.slice(0, Math.max(8, at + 1));
  assert.match((await here.run(["get", alone])).out, /^tea\n/);
  assert.match((await here.run(["get", alone.toUpperCase()])).out, /^tea\n/);
  if (at >= 8) {
    const both = await here.run(["get", ids[0]!.slice(0, 8)]);
    assert.equal(both.code, 2);
    assert.match(both.err, /^2 memories in "default" begin with [0-9a-f]{8}: .*, /);
  }
  const none = await here.run(["get", "00000000"]);
  assert.equal(none.code, 1);
  assert.match(none.err, /No memory in "default" .* begins with 00000000.*--namespace.*not_found/);
  assert.match((await here.run(["get", alone, "--ns", "work"])).err, /No memory in "work"/);
  for (const word of ["tea", "0198c2a", "../../account", "0198c2a4;x"]) {
    const odd = await here.run(["get", word]);
    assert.equal(odd.code, 2, word);
    assert.match(odd.err, /is no id of a memory: .*svc-mcp list/);
  }
  assert.equal((await here.run(["get", alone, alone])).code, 2);
});

Deno.test("what is not there is named, with where to look", async () => {
  await using here = await SignedIn.open();
  const id = await here.svc.remember("tea");
  const unknown = await here.run(["get", UNKNOWN]);
  assert.deepEqual(unknown, {
    code: 1,
    out: "",
    err: `You have no memory with the id ${UNKNOWN}. ` +
      "Those of a namespace: svc-mcp list (code: memory_not_found)\n",
  });
  const version = await here.run(["get", id, "--version", "7", "--json"]);
  assert.equal(version.code, 1);
  assert.equal(JSON.parse(version.err).code, "memory_not_found");
  assert.match(JSON.parse(version.err).error, /never had a version 7.*svc-mcp history/);
  for (const raw of ["0", "-1", "x", "1.5", "="]) {
    assert.equal((await here.run(["get", id, `--version=${raw}`])).code, 2, raw);
  }
  assert.equal((await here.run(["get"])).code, 2);
});

Deno.test("edit corrects, history shows, and undo goes back", async () => {
  await using here = await SignedIn.open();
  const id = await here.svc.remember("Ada likes tea");
  const edited = await here.run(["edit", id, "Ada", "likes", "coffee"]);
  assert.deepEqual(edited, { code: 0, out: `Corrected. ${id} version 2\n`, err: "" });
  const piped = await here.run(["edit", id, "-", "--importance", "0.9"], {
    stdin: new Blob(["Ada likes\ncocoa \u001b[1m\n"]).stream(),
  });
  assert.equal(piped.out, `Corrected. ${id} version 3\n`);
  const versions = await here.run(["history", id]);
  assert.equal(
    versions.out,
    "3  just now  Ada likes↵cocoa \\u{1b}[1m\n" +
      "2  just now  Ada likes coffee\n1  just now  Ada likes tea\n",
  );
  const two = await here.run(["history", id, "--limit", "2"]);
  assert.equal(two.out.split("\n").length, 3);
  assert.match(two.err, /^1 earlier versions are not shown/);
  const back = await here.run(["edit", id, "--undo"]);
  assert.equal(back.out, `Taken back. ${id} version 4\n`);
  assert.match((await here.run(["get", id])).out, /^Ada likes coffee\n.*version 4 of 4/);
  assert.match((await here.run(["get", id, "--version", "1"])).out, /^Ada likes tea\n.*1 of 4/);
  const first = await here.json(["edit", id, "--undo", "--from", "1"]);
  assert.deepEqual([first.version, first.recallable, first.memory_id], [5, true, id]);
  assert.match((await here.run(["recall", "Ada"])).out, /^1\. Ada likes tea\n/);
  await here.run(["edit", id, "--importance", "0.3"]);
  const weighed = await here.json(["get", id]);
  assert.deepEqual([weighed.text, weighed.importance], ["Ada likes tea", 0.3]);
  const all = await here.json(["history", id]);
  assert.deepEqual(all.versions.map(({ version }: { version: number }) => version), [
    6,
    5,
    4,
    3,
    2,
    1,
  ]);
});

Deno.test("edit refuses what is not meant, and says what to do about a change in between", async () => {
  await using here = await SignedIn.open();
  const id = await here.svc.remember("tea");
  const cases: [string[], RegExp][] = [
    [["edit", id], /needs the new text/],
    [["edit"], /needs an id/],
    [["edit", id, "x", "--undo"], /leave one of them out/],
    [["edit", id, "x", "--from", "1"], /--from goes with --undo/],
    [["edit", id, "x", "--importance", "2"], /0 to 1/],
    [["edit", id, "x", "--expect", "one"], /--expect must be a number/],
    [["edit", id, "x", "--dry-run"], /Unknown flag --dry-run: nothing was done/],
    [["edit", id, "x", "--expct", "1"], /Did you mean "--expect"/],
    [["edit", id, "-"], /text is empty/],
  ];
  for (const [args, message] of cases) {
    const { code, out, err } = await here.run(args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, message);
  }
  assert(!here.asked.some((request) => request.startsWith("PUT")));
  const alone = await here.run(["edit", id, "--undo"]);
  assert.deepEqual([alone.code, alone.err], [1, "There is no earlier version to go back to.\n"]);
  const late = await here.run(["edit", id, "coffee", "--expect", "3"]);
  assert.equal(late.code, 1);
  assert.match(
    late.err,
    /another version than the expected one.*svc-mcp history .*version_conflict/,
  );
  const unknown = await here.run(["edit", UNKNOWN, "x"]);
  assert.match(unknown.err, /no memory with the id/);
  const version = await here.run(["edit", id, "--undo", "--from", "9"]);
  assert.match(version.err, /never had a version 9/);
});

Deno.test("a table fits the terminal, also with wide characters", async () => {
  await using here = await SignedIn.open();
  await here.svc.remember(`${"a long text ".repeat(30)}`);
  await here.svc.remember("日本語の長い文章".repeat(30));
  const { out } = await here.onTerminal(["list"], "", { columns: 80 });
  const lines = out.trimEnd().split("\n");
  assert(lines.every((line) => line.endsWith("…")), out);
  assert.equal(lines[1]!.length <= 80 && lines[1]!.length > 76, true, out);
  assert.equal(lines[0]!.length < 70, true, out);
  assert.match((await here.run(["list"], { columns: 80 })).out, /(a long text ){30}/);
});
