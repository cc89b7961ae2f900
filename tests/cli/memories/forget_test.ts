import assert from "node:assert/strict";
import { ed25519 } from "@noble/curves/ed25519.js";
import { receiptMessage } from "../../../src/wire/signing/receipts.ts";
import { SignedIn } from "./signed_in.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const seed = new Uint8Array(32).fill(7);
const KEY = ed25519.getPublicKey(seed).toHex();
const hour = (n: number) => new Date(Date.now() + n * 3_600_000 + 60_000).toISOString();

/** A receipt as a relayer makes it. */
function receiptOf(members: object = {}) {
  const statement = JSON.stringify({
    v: 1,
    type: "svc-deletion",
    owner: "0x" + "b2".repeat(32),
    namespace: "default",
    memory_ids: [ID],
    deleted_at: new Date().toISOString(),
    issued_at: new Date().toISOString(),
    erased: true,
    survives: [],
    ...members,
  });
  return {
    statement,
    signature: ed25519.sign(receiptMessage(statement), seed).toHex(),
    public_key: KEY,
  };
}

/** Something of it is left. */
const LEFT = receiptOf({
  erased: false,
  survives: [
    { what: "files", until: hour(1) },
    { what: "blob", memory_ids: [ID], until: hour(3) },
    { what: "odd\u001b[2J" },
  ],
});

const made = (answers: Readonly<Record<string, unknown>>): SignedIn["between"] => (request) => {
  const answer = answers[`${request.method} ${new URL(request.url).pathname}`];
  return answer === undefined ? undefined : Response.json(answer);
};

const deleted = <T extends object>(more: T) => ({
  memory_id: ID,
  deleted: true,
  blob: "deleted",
  ...more,
});

Deno.test("forget shows a memory and asks before it deletes it", async () => {
  await using here = await SignedIn.open();
  const id = await here.svc.remember("I like \u001b[31mtea");
  for (const typed of ["n\n", "\n", "", "yes please\n"]) {
    const no = await here.onTerminal(["forget", id], typed);
    assert.deepEqual([no.code, no.err], [1, "Delete it for good? [y/N] Nothing was deleted.\n"]);
    assert.match(
      no.out,
      /^I like \\u\{1b\}\[31mtea\ndefault · accepted just now · by test …[0-9a-f]{8} · version 1\n$/,
    );
  }
  assert(!here.asked.some((request) => request.startsWith("DELETE")));
  const yes = await here.onTerminal(["forget", id], "y\n");
  assert.equal(yes.code, 0);
  assert.match(yes.out, /\nForgotten\./);
  assert.equal((await here.run(["get", id])).code, 1);
});

Deno.test("forget asks nobody with --yes, and refuses where nobody can be asked", async () => {
  await using here = await SignedIn.open();
  const id = await here.svc.remember("tea");
  const refused = await here.run(["forget", id]);
  assert.deepEqual(refused, {
    code: 2,
    out: "",
    err: "This deletes the memory for good. Add --yes if you mean it.\n",
  });
  const piped = await here.onTerminal(["forget", id], "y\n", { isInputTerminal: false });
  assert.equal(piped.code, 2);
  assert.deepEqual(here.asked, []);
  const cases: [string[], RegExp][] = [
    [["forget"], /needs the id of a memory, or --namespace/],
    [["forget", "--yes", "--namespace="], /needs the id of a memory/],
    [["forget", id, "--yes", "--dry-run"], /Unknown flag --dry-run: nothing is deleted/],
    [["forget", "tea", "--namespace", "work", "--yes"], /"tea" is no id.*nothing is deleted/],
    [["forget", "--namespace", "work"], /every memory of "work" for good. Add --yes/],
    [["forget", id, "--yes", "--receipt"], /--receipt has no value/],
    [["forget", id, "--yes", "--receipt="], /--receipt has no value/],
  ];
  for (const [args, message] of cases) {
    const { code, out, err } = await here.run(args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, message);
  }
  // The namespace of a variable is no order to delete it.
  const variable = await here.run(["forget", "--yes"], { env: { SVC_NAMESPACE: "default" } });
  assert.equal(variable.code, 2);
  assert.deepEqual(here.asked, []);
  const short = await here.run(["forget", id.slice(0, 20), "--yes"]);
  assert.match(short.out, /^Forgotten\./);
  const again = await here.run(["forget", id, "--yes"]);
  assert.deepEqual([again.code, again.out], [1, ""]);
  assert.match(again.err, /no memory with the id/);
});

Deno.test("forget deletes a namespace, by its flag or by a word that is no id", async () => {
  await using here = await SignedIn.open();
  for (const args of [["forget", "--namespace", "old notes"], ["forget", "old notes"]]) {
    await here.svc.remember("tea", { namespace: "old notes" });
    await here.svc.remember("coffee", { namespace: "old notes" });
    const { code, out, err } = await here.run([...args, "--yes"]);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /^Deleted 2 memories of "old notes"\./);
  }
  await here.svc.remember("tea", { namespace: "work" });
  const wrong = await here.run(["forget", "--namespace", "wrok", "--yes"]);
  assert.equal(wrong.out, 'There are no memories in "wrok". Did you mean "work"?\n');
  // What could be the beginning of an id is never taken for a namespace.
  await here.svc.remember("tea", { namespace: "20260101" });
  assert.equal((await here.run(["forget", "20260101", "--yes"])).code, 1);
  assert.match((await here.run(["list", "--ns", "20260101"])).out, /tea\n$/);
});

Deno.test("forget says whether anything is left, and keeps the receipt", async () => {
  await using here = await SignedIn.open();
  const gone = deleted({ erased: true, receipt: receiptOf() });
  here.between = made({ [`DELETE /api/memories/${ID}`]: gone });
  const args = ["forget", ID, "--yes"];
  const erased = await here.run([...args, "--receipt", "~/gone.json"]);
  assert.deepEqual(erased, {
    code: 0,
    out: "Forgotten. Nothing of it is left anywhere.\n",
    err: "",
  });
  assert.deepEqual(JSON.parse(await here.terminal.read("gone.json")), gone.receipt);
  const { mode } = await Deno.stat(`${here.terminal.home}/gone.json`);
  if (Deno.build.os !== "windows") assert.equal(mode! & 0o777, 0o600);
  assert.deepEqual(await here.json(args), gone);
  here.between = made({
    [`DELETE /api/memories/${ID}`]: deleted({ erased: false, receipt: LEFT }),
  });
  assert.equal(
    (await here.run(args)).out,
    "Forgotten. What is left: traces in files of the relayer, gone in 1 hour; " +
      "encrypted in the blob store, gone in 3 hours; " +
      "odd\\u{1b}[2J, for how long is not known.\n" +
      `To ask again later: svc-mcp receipt ${ID}\n`,
  );
  const forged = { ...receiptOf(), statement: receiptOf().statement.replace(ID, ID.slice(1)) };
  here.between = made({ [`DELETE /api/memories/${ID}`]: deleted({ receipt: forged }) });
  const wrong = await here.run(args);
  assert.deepEqual([wrong.code, wrong.out], [
    1,
    "Forgotten. The relayer's receipt is not valid: do not rely on it.\n",
  ]);
  for (const [ids, words] of [[["a"], "is one memory"], [["a", "b"], "are 2 memories"]] as const) {
    const answer = deleted({ restatements: ids, erased: true, receipt: receiptOf() });
    here.between = made({ [`DELETE /api/memories/${ID}`]: answer });
    const { out } = await here.run(args);
    assert.match(out, new RegExp(`^Forgotten\\. So ${words} that said the same\\.`));
  }
  here.between = made({ [`DELETE /api/memories/${ID}`]: deleted({}) });
  const none = await here.run([...args, "--receipt", "~/none.json"]);
  assert.deepEqual([none.code, none.out], [1, "Forgotten.\n"]);
  assert.match(none.err, /gave no receipt/);
  assert.deepEqual(await here.terminal.list(""), [".svc", "gone.json"]);
});

Deno.test("nothing is deleted where the receipt cannot be kept", async () => {
  await using here = await SignedIn.open();
  const id = await here.svc.remember("tea");
  const { code, err } = await here.run(["forget", id, "--yes", "--receipt", "~/no/such.json"]);
  assert.deepEqual([code, err], [1, "~/no/such.json cannot be written (ENOENT).\n"]);
  assert.match((await here.run(["get", id])).out, /^tea\n/);
  const unknown = await here.run(["forget", ID, "--yes", "--receipt", "~/unknown.json"]);
  assert.equal(unknown.code, 1);
  assert.deepEqual(await here.terminal.list(""), [".svc"]);
});

Deno.test("receipt asks how things are now, and keeps the answer", async () => {
  await using here = await SignedIn.open();
  const many = receiptOf({
    memory_ids: [ID, ID],
    namespace: "work",
    erased: false,
    survives: [{ what: "blob", memory_ids: [ID], until: hour(-2) }],
  });
  let sent = "";
  here.between = async (request) => {
    if (!request.url.endsWith("/api/receipts")) return undefined;
    sent = await request.text();
    return Response.json({ erased: false, receipt: many });
  };
  const said = await here.run(["receipt", ID, ID, "--ns", "work", "--output", "~/r.json"]);
  assert.deepEqual(said, {
    code: 0,
    out: '2 memories of "work" were deleted just now; said just now.\n' +
      "What is left: encrypted in the blob store of 1 memory, due to be gone 1 hour ago.\n" +
      "The receipt is in ~/r.json.\n",
    err: "",
  });
  assert.deepEqual(JSON.parse(sent), { namespace: "work", memory_ids: [ID, ID] });
  assert.match((await here.run(["receipt", ID])).out, /To keep it: --output <file>\n$/);
  const refusals: [string[], RegExp][] = [
    [["receipt"], /needs an id/],
    [["receipt", "0198c2a4"], /no whole id/],
    [["receipt", ID, "--key", KEY], /--key is a flag of receipt verify/],
    [["receipt", "verify"], /takes one file/],
    [["receipt", "verify", "a", "b"], /takes one file/],
    [["receipt", "verify", "a", "--key", "00"], /64 hex characters/],
    [["receipt", "verify", "a", "--output", "b"], /not a flag of receipt verify/],
  ];
  for (const [args, message] of refusals) {
    const { code, err } = await here.run(args);
    assert.equal(code, 2, args.join(" "));
    assert.match(err, message);
  }
  const error = (code: string, status: number) => () =>
    Response.json({ error: "x", code, request_id: "r" }, { status });
  here.between = error("memory_not_found", 404);
  assert.match((await here.run(["receipt", ID])).err, /Not all of these were deleted in "default"/);
  here.between = error("not_found", 404);
  assert.match((await here.run(["receipt", ID])).err, /of an earlier version/);
});

Deno.test("receipt verify needs no network, and finds every changed byte", async () => {
  await using here = await SignedIn.open();
  const text = JSON.stringify(receiptOf());
  await here.terminal.write("r.json", text);
  const noNetwork = () => {
    throw new Error("nothing is sent");
  };
  const verify = ["receipt", "verify", "~/r.json"];
  const good = await here.run([...verify, "--key", KEY.toUpperCase()], { fetch: noNetwork });
  assert.deepEqual(good, {
    code: 0,
    out: "The receipt is valid. It was made by the key you gave.\n" +
      '1 memory of "default" was deleted just now; said just now.\n' +
      "Nothing of it is left anywhere.\n",
    err: "",
  });
  const other = await here.run([...verify, "--key", "ab".repeat(32)], { fetch: noNetwork });
  assert.deepEqual([other.code, other.out], [1, ""]);
  assert.match(other.err, /r\.json is not valid\. The receipt was made by another key\.\n$/);
  for (const at of [30, 100, text.length - 90, text.length - 10]) {
    const letter = text[at] === "a" ? "b" : "a";
    await here.terminal.write("r.json", text.slice(0, at) + letter + text.slice(at + 1));
    const { code, out, err } = await here.run([...verify, "--key", KEY]);
    assert.deepEqual([code, out], [1, ""], String(at));
    assert.match(err, /is not valid|is no receipt/);
  }
  for (
    const [content, why] of [["{", "it is not JSON"], ["{}", "are expected"], ["7", "expected"]]
  ) {
    await here.terminal.write("r.json", content!);
    const { code, err } = await here.run(verify);
    assert.equal(code, 1);
    assert.match(err, new RegExp(`^~/r\\.json is no receipt of svc: .*${why}`));
  }
  const missing = await here.run(["receipt", "verify", "~/none.json"]);
  assert.deepEqual([missing.code, missing.err], [1, "~/none.json cannot be read (ENOENT).\n"]);
});

Deno.test("receipt verify compares with the key that the relayer publishes, where it can", async () => {
  await using here = await SignedIn.open();
  // An answer of a relayer, as --json prints it, is read as well.
  await here.terminal.write("r.json", JSON.stringify({ erased: true, receipt: receiptOf() }));
  const verify = ["receipt", "verify", "~/r.json"];
  const published = (public_key: string) =>
    made({ "GET /.well-known/svc-receipt-key": { algorithm: "Ed25519", public_key } });
  here.between = published(KEY);
  const known = await here.run(verify);
  assert.match(
    known.out,
    /^The receipt is valid\. It was made by the key of http:\/\/localhost:8000\./,
  );
  const machine = await here.json(verify);
  assert.deepEqual([machine.valid, machine.key_known, machine.statement.memory_ids], [true, true, [
    ID,
  ]]);
  here.between = published("ab".repeat(32));
  const foreign = await here.run(verify);
  assert.deepEqual([foreign.code, foreign.out], [1, ""]);
  assert.match(
    foreign.err,
    /was not altered, but .* not made by the key of http:\/\/localhost:8000/,
  );
  const away = await here.run(verify, { fetch: () => Promise.reject(new TypeError("away")) });
  assert.equal(away.code, 0);
  assert.match(away.out, new RegExp(`Nothing here says whose key it is.*\nKey: ${KEY}\n`));
  await Deno.remove(here.terminal.credentialsPath);
  const signedOut = await here.run(verify, {
    fetch: () => {
      throw new Error("nothing is sent");
    },
  });
  assert.equal(signedOut.code, 0);
});

Deno.test("a relayer's own receipt says what was deleted, and is valid", async () => {
  await using here = await SignedIn.open();
  const id = await here.svc.remember("tea");
  const gone = await here.run(["forget", id, "--yes", "--receipt", "~/gone.json"]);
  assert.equal(gone.code, 0, gone.err);
  const now = await here.run(["receipt", id, "--output", "~/now.json"]);
  assert.match(now.out, /^1 memory of "default" was deleted just now; said just now\.\n/);
  for (const file of ["~/gone.json", "~/now.json"]) {
    const { code, out } = await here.run(["receipt", "verify", file]);
    assert.equal(code, 0);
    assert.match(out, /^The receipt is valid\. It was made by the key of http:/);
  }
  // One of something else is none of this deletion.
  const other = JSON.parse(await here.terminal.read("now.json"));
  here.between = made({ [`DELETE /api/memories/${ID}`]: deleted({ receipt: other }) });
  const wrong = await here.run(["forget", ID, "--yes"]);
  assert.deepEqual([wrong.code, wrong.out.includes("not valid")], [1, true]);
});

Deno.test("a memory that changes behind the question is not deleted", async () => {
  await using here = await SignedIn.open();
  const id = await here.svc.remember("I live in Berlin");
  here.between = async ({ method }) => {
    if (method !== "DELETE") return undefined;
    here.between = () => undefined;
    await here.svc.send("PUT", `/api/memories/${id}`, { text: "I live in Lisbon" });
    return undefined;
  };
  const said = await here.onTerminal(["forget", id], "y\n");
  assert.equal(said.code, 1);
  assert.match(said.err, /The memory has another version/);
  await here.svc.relayer.idle();
  assert.deepEqual(await here.svc.recall("Lisbon"), ["I live in Lisbon"]);
  // Whoever says yes at once means whatever it says.
  assert.equal((await here.run(["forget", id, "--yes"])).code, 0);
});
