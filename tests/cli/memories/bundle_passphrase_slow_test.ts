import assert from "node:assert/strict";
import { verifies } from "../../requirements.ts";
import { SignedIn } from "./signed_in.ts";

const BUNDLE = "~/all.age";

Deno.test("a passphrase is asked for on the terminal, or read from a file", async () => {
  verifies("13.5-3");
  await using here = await SignedIn.open();
  await here.svc.remember("tea");
  const hidden: boolean[] = [];
  const hideTyping = (isHidden: boolean) => void hidden.push(isHidden);
  const typedIn = (args: string[], text: string) => here.onTerminal(args, text, { hideTyping });
  const differ = await typedIn(["export", "--bundle", BUNDLE], "one\rtwo\r");
  assert.match(differ.err, /The passphrases differ/);
  const given = await typedIn(["export", "--bundle", BUNDLE], "on\u0003");
  assert.match(given.err, /Given up/);
  assert.equal((await typedIn(["export", "--bundle", BUNDLE], "\r")).code, 2);
  assert.deepEqual(await here.terminal.list(""), [".svc"]);
  hidden.length = 0;
  const made = await typedIn(["export", "--bundle", BUNDLE], "tree hx\u007forse\rtree horse\r");
  assert.equal(made.code, 0, made.err);
  assert.deepEqual(hidden, [true, false, true, false]);
  assert.match(made.out, /^1 memory: ~\/all\.age\nEncrypted for the passphrase, and signed/);
  assert.doesNotMatch(made.out + made.err, /horse/);
  const wrong = await typedIn(["export", "verify", BUNDLE], "tree cow\r");
  assert.deepEqual([wrong.code, wrong.out], [1, ""]);
  assert.match(wrong.err, /all\.age: the passphrase does not open it\./);
  await here.terminal.write("phrase", "tree horse\n");
  const verified = await here.run(["export", "verify", BUNDLE, "--passphrase-file", "~/phrase"]);
  assert.match(verified.out, /: 1 memory\.\n$/);
  // The bundle by standard input, which is copied as it is, and the copy removed.
  const stdin = (await Deno.open(`${here.terminal.home}/all.age`)).readable;
  const piped = await here.run(["import", "-", "--passphrase-file", "~/phrase"], { stdin });
  assert.match(piped.out, /1 is there already/);
  assert.deepEqual(await here.terminal.list(".svc"), ["credentials.json"]);
  const nobody = await here.run(["import", BUNDLE]);
  assert.match(nobody.err, /it has a passphrase: add --passphrase-file <file>/);
});
