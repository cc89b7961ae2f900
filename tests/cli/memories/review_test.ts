import assert from "node:assert/strict";
import { SignedIn } from "./signed_in.ts";

Deno.test("review lists what a rule found, and takes a decision", async () => {
  await using here = await SignedIn.open({ config: { conflicts: "suggest" } });
  const { svc } = here;
  const empty = await here.run(["review"]);
  assert.deepEqual([empty.code, empty.out], [0, "Nothing to review in default.\n"]);
  const old = await svc.remember("My locker is number 15");
  const id = await svc.remember("My locker is number 92");
  const { code, out, err } = await here.run(["review"]);
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(
    out,
    "My locker is number 92\n" +
      "  says something else than: My locker is number 15 (rule number, 95 %)\n" +
      `  ${id} · just now\n\n` +
      "Right or wrong: svc-mcp review accept <id>, or undo <id>\n",
  );
  const whole = await here.run(["get", id]);
  assert(whole.out.endsWith(`\nsays something else than ${old} · rule number, 95 %\n`), whole.out);
  const machine = await here.json(["review"]);
  assert.deepEqual([machine.total, machine.items[0].links[0].memory_id], [1, old]);
  assert.match(
    (await here.run(["review", "accept", id.slice(0, 30)])).out,
    /^Accepted\. .* version 2/,
  );
  const { body } = await svc.get(`/api/memories/${old}`);
  assert.equal(body.superseded_by, id);
  const again = await here.run(["review", "accept", id]);
  assert.equal(again.code, 1);
  assert.match(again.err, /nothing to decide/);
  assert.match((await here.run(["review", "undo", id, old])).out, /^Undone\. .* version 3/);
  assert.equal((await svc.get(`/api/memories/${old}`)).body.superseded_by, undefined);
});

Deno.test("review chooses what becomes of contradictions", async () => {
  await using here = await SignedIn.open({ config: { conflicts: "suggest" } });
  const chosen = await here.run(["review", "policy", "auto", "--ns", "work"]);
  assert.deepEqual([chosen.code, chosen.out], [0, "Contradictions in work: auto.\n"]);
  const back = await here.run(["review", "policy", "default", "--ns", "work"]);
  assert.equal(back.out, "Contradictions in work: suggest.\n");
  const keep = await here.run(["review", "duplicates", "keep", "--ns", "work"]);
  assert.match(keep.out, /in work is kept as often as it is written/);
  const fold = await here.run(["review", "duplicates", "fold"]);
  assert.match(fold.out, /is kept once/);
  for (
    const words of [
      ["duplicates"],
      ["duplicates", "fold", "keep"],
      ["policy"],
      ["policy", "loud"],
      ["accept"],
      ["delete", "all"],
    ]
  ) {
    assert.equal((await here.run(["review", ...words])).code, 2, words.join(" "));
  }
});
