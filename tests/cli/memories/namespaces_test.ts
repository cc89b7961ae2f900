import assert from "node:assert/strict";
import { SignedIn } from "./signed_in.ts";

Deno.test("a namespace without memories is named, with the one that may be meant", async () => {
  await using here = await SignedIn.open();
  await here.svc.remember("tea", { namespace: "work" });
  await here.svc.remember("tea", { namespace: "work " });
  const cases: [string[], string][] = [
    [["list", "--ns", "wrok"], 'There are no memories in "wrok". Did you mean "work"?\n'],
    [["recall", "tea", "--ns", "WORK"], 'There are no memories in "WORK". Did you mean "work"?\n'],
    [["list", "--ns", " work"], 'There are no memories in " work". Did you mean "work"?\n'],
    [["list"], 'There are no memories in "default". Those you have: svc-mcp namespaces\n'],
  ];
  for (const [args, text] of cases) assert.equal((await here.run(args)).out, text);
  assert.equal((await here.json(["list", "--ns", "wrok"])).memories.length, 0);
  const { out } = await here.run(["namespaces"]);
  assert.match(out, /^work +1 memory/m);
  assert.match(out, /^"work " +1 memory/m);
  assert.match((await here.run(["remember", "x", "--ns", "  "])).out, /^Remembered in " {2}"\. /);
  await using empty = await SignedIn.open();
  assert.equal((await empty.run(["list"])).out, 'There are no memories in "default".\n');
  const away = await empty.run(["recall", "x"]);
  assert.equal(away.out, 'There are no memories in "default".\n');
});

Deno.test("a key that may not read learns no names of namespaces", async () => {
  await using here = await SignedIn.open();
  await here.svc.remember("tea", { namespace: "work" });
  here.between = (request) =>
    request.url.includes("/api/namespaces")
      ? Response.json({ error: "No", code: "permission_denied", request_id: "r" }, { status: 403 })
      : undefined;
  assert.equal((await here.run(["list", "--ns", "wrok"])).out, "No memories here.\n");
});

Deno.test("remember refuses a flag nobody knows", async () => {
  await using here = await SignedIn.open();
  const { code, err } = await here.run(["remember", "tea", "--importnce"]);
  assert.equal(code, 2);
  assert.match(err, /Unknown flag --importnce: nothing was done/);
  assert.deepEqual(here.asked, []);
});
