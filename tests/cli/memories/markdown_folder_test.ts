import assert from "node:assert/strict";
import { verifies } from "../../requirements.ts";
import { SignedIn } from "./signed_in.ts";

const LIST = ".svc-export.sha256";

/** Exports into `~/notes`. */
const exported = (here: SignedIn, ...flags: string[]) =>
  here.run(["export", "--markdown", "~/notes", ...flags]);

const filesOf = async (here: SignedIn) =>
  (await here.terminal.list("notes")).filter((name) => name !== LIST)
    .map((name) => name.replace(/-[^-]*\.md$/, ""));

async function nameOf(here: SignedIn, start: string): Promise<string> {
  const names = await here.terminal.list("notes");
  return `notes/${names.find((name) => name.startsWith(start))}`;
}

Deno.test("a repeated export removes the files it wrote of memories that are gone", async () => {
  verifies("13.4-9");
  await using here = await SignedIn.open();
  const gone = await here.svc.remember("gone");
  const edited = await here.svc.remember("before");
  await here.svc.remember("stays");
  await exported(here);
  await here.run(["forget", gone, "--yes"]);
  await here.run(["edit", edited, "after"]);
  const { code, out, err } = await exported(here);
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(out, "2 memories: ~/notes\nRemoved 2 files of earlier exports.\n");
  assert.deepEqual(await filesOf(here), ["after", "stays"]);
  assert.equal((await exported(here)).out, "2 memories: ~/notes\n");
  // The list is one that sha256sum understands.
  assert.match(
    await here.terminal.read(`notes/${LIST}`),
    /^([0-9a-f]{64} {2}[a-z]+-\w+\.md\n){2}$/,
  );
});

Deno.test("files that the export did not write, or somebody changed, stay", async () => {
  verifies("13.4-9");
  await using here = await SignedIn.open();
  for (const text of ["changed", "copied", "linked", "kept"]) {
    await here.svc.remember(text, { namespace: "old" });
  }
  await exported(here);
  const { terminal } = here;
  const changed = await nameOf(here, "changed");
  await terminal.write(changed, `${await terminal.read(changed)} by hand`);
  await terminal.write("notes/my-own.md", await terminal.read(await nameOf(here, "copied")));
  await terminal.write("outside.md", await terminal.read(await nameOf(here, "linked")));
  const linked = `${terminal.home}/${await nameOf(here, "linked")}`;
  await Deno.remove(linked);
  await Deno.symlink(`${terminal.home}/outside.md`, linked);
  // A list that somebody else wrote leads to no other folder.
  const list = await terminal.read(`notes/${LIST}`);
  const copy = new Uint8Array(
    await crypto.subtle.digest("SHA-256", await Deno.readFile(`${terminal.home}/notes/my-own.md`)),
  ).toHex();
  await terminal.write(
    `notes/${LIST}`,
    `${list}${list.slice(0, 64)}  ../outside.md\nrubbish\n${copy}  my-own.md\n`,
  );
  await here.run(["forget", "--namespace", "old", "--yes"]);
  const machine = await here.json(["export", "--markdown", "~/notes"]);
  assert.deepEqual([machine.memories, machine.removed, machine.changed], [0, 2, 1]);
  assert.deepEqual(await filesOf(here), ["changed", "linked", "my"]);
  assert.match(await terminal.read("outside.md"), /linked$/);
  const again = await exported(here);
  assert.equal(
    again.out,
    "0 memories: ~/notes\n1 file of a memory that is gone was changed, and not removed.\n",
  );
});

Deno.test("an export of one namespace, or one that is not whole, removes no others", async () => {
  await using here = await SignedIn.open();
  const home = await here.svc.remember("home");
  const unopened = await here.svc.remember("unopened", { namespace: "work" });
  await exported(here);
  await here.run(["forget", home, "--yes"]);
  await exported(here, "--ns", "work");
  assert.deepEqual(await filesOf(here), ["home", "unopened"]);
  const answers = (lines: object[]) => (request: Request) =>
    request.url.endsWith("/api/export")
      ? new Response(lines.map((line) => JSON.stringify(line)).join("\n"))
      : undefined;
  here.between = answers([{ type: "header" }]);
  assert.equal((await exported(here)).code, 1);
  assert.deepEqual(await filesOf(here), ["home", "unopened"]);
  here.between = answers([
    { type: "header" },
    { type: "error", memory_id: unopened, namespace: "work", code: "storage_unavailable" },
    { type: "end", memories: 0, errors: 1 },
  ]);
  await exported(here);
  assert.deepEqual(await filesOf(here), ["unopened"]);
});
