import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Decrypter, Encrypter, generateIdentity, identityToRecipient } from "age-encryption";
import { ReadTwice } from "../../../cli/memories/bundle/read_twice.ts";
import { makeSigner } from "../../../src/client/signer.ts";
import { bundleMessage } from "../../../src/wire/signing/bundles.ts";
import { verifies } from "../../requirements.ts";
import { exportOf } from "./exports.ts";
import { SignedIn } from "./signed_in.ts";

const BUNDLE = "~/all.age";

/** A terminal with memories, an identity, and a bundle for it. */
async function withBundle(): Promise<SignedIn & { recipient: string }> {
  const here = await SignedIn.open();
  await here.svc.remember("tea");
  await here.svc.remember("coffee ☕", { namespace: "work", metadata: { a: "b" } });
  const identity = await generateIdentity();
  await here.terminal.write("keys.txt", `# of a test\n${identity}\n`);
  const recipient = await identityToRecipient(identity);
  const made = await here.run(["export", "--bundle", BUNDLE, "--recipient", recipient]);
  assert.equal(made.code, 0, made.err);
  return Object.assign(here, { recipient });
}

const pathOf = (here: SignedIn, name = "all.age") => `${here.terminal.home}/${name}`;

async function gzip(bytes: Uint8Array, how: "compress" | "decompress"): Promise<Uint8Array> {
  const stream = how === "compress"
    ? new CompressionStream("gzip")
    : new DecompressionStream("gzip");
  const piped = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

/** The lines of a bundle, as age and gunzip show them. */
async function linesOf(here: SignedIn): Promise<string[]> {
  const decrypter = new Decrypter();
  decrypter.addIdentity((await here.terminal.read("keys.txt")).split("\n")[1]!);
  const packed = await decrypter.decrypt(await Deno.readFile(pathOf(here)));
  return new TextDecoder().decode(await gzip(packed, "decompress")).split("\n").slice(0, -1);
}

/** Writes a bundle by hand, as somebody could who has the recipient. */
async function forge(here: SignedIn & { recipient: string }, content: string): Promise<void> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(here.recipient);
  const packed = await gzip(new TextEncoder().encode(content), "compress");
  await Deno.writeFile(pathOf(here, "forged.age"), await encrypter.encrypt(packed));
}

/** Imports, and counts the requests that would have changed something. */
async function imported(here: SignedIn, args: readonly string[]) {
  const before = here.asked.length;
  const said = await here.run(["import", ...args]);
  const sent = here.asked.slice(before).filter((request) => request.includes("/api/import"));
  return { ...said, sent: sent.length };
}

Deno.test("a bundle for a recipient is verified without a network, and imported", async () => {
  verifies("13.5-1", "13.5-2", "13.5-5");
  await using here = await withBundle();
  const { credentialsPath } = here.terminal;
  const lines = (await linesOf(here)).map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ type }) => type),
    ["header", "memory", "memory", "end", "signature"],
  );
  const args = [BUNDLE, "--identity", "~/keys.txt"];
  const verified = await here.run(["export", "verify", ...args]);
  assert.equal(verified.code, 0, verified.err);
  assert.match(verified.out, /^The bundle is whole, .* The key of this computer signed it\.\n/);
  assert.match(verified.out, /^Signed 20.*Z: 2 memories\.$/m);
  if (Deno.build.os !== "windows") {
    assert.equal((await Deno.stat(pathOf(here))).mode! & 0o777, 0o600);
  }
  const again = await imported(here, args);
  assert.match(again.out, /^Took 0 memories\.\n {2}2 are there already\n$/);
  // Elsewhere nobody knows the key.
  await using there = await SignedIn.open();
  const elsewhere = args.map((arg) => arg.replace("~", here.terminal.home));
  const unknown = await imported(there, elsewhere);
  assert.deepEqual([unknown.code, unknown.sent], [1, 0]);
  assert.match(unknown.err, /nobody here knows the key that signed it: add --key <hex>, or --yes/);
  const no = await there.onTerminal(["import", ...elsewhere], "n\n");
  assert.match(no.err, new RegExp(`Key: ${here.svc.key.publicKey}`));
  assert.match(no.err, /Take its memories\? \[y\/N\]/);
  assert.equal((await there.json(["namespaces"])).namespaces.length, 0);
  const other = await imported(there, [...elsewhere, "--key", "00".repeat(32)]);
  assert.match(other.err, /another key than the one you gave signed it/);
  const preview = await imported(there, [...elsewhere, "--preview"]);
  assert.match(preview.out, /default: 1 memory\n {2}work: 1 memory\n/);
  assert.deepEqual([preview.sent, other.sent], [0, 0]);
  const taken = await imported(there, [...elsewhere, "--key", here.svc.key.publicKey]);
  assert.deepEqual([taken.code, taken.out], [0, "Took 2 memories.\n"]);
  assert.deepEqual(await there.svc.recall("tea coffee", { namespace: "work" }), ["coffee ☕"]);
  // What the account's other keys signed is known.
  await Deno.remove(credentialsPath);
  const signedOut = await here.run(["export", "verify", ...args]);
  assert.match(signedOut.out, /Nothing here says whose key signed it/);
});

Deno.test("what another key of the account signed is known by its label", async () => {
  await using here = await withBundle();
  const other = await here.svc.addKey();
  await here.terminal.signIn({
    delegatePrivateKey: other.seed.toHex(),
    delegatePublicKeyHex: other.publicKey,
    delegateAddress: other.address,
    accountId: here.svc.account.accountId,
    relayerUrl: "http://localhost:8000",
  });
  const said = await imported(here, [BUNDLE, "--identity", "~/keys.txt"]);
  assert.match(said.err, /^~\/all\.age: signed .*\. Your key "test" signed it\.\n$/);
  assert.match(said.out, /2 are there already/);
  const machine = await here.json(["import", BUNDLE, "--identity", "~/keys.txt"]);
  assert.equal(machine.files[0].signed.public_key, here.svc.key.publicKey);
});

Deno.test("of a bundle that was cut off or altered nothing is imported", async () => {
  verifies("13.5-4");
  await using here = await withBundle();
  const whole = await Deno.readFile(pathOf(here));
  const tampered = async (bytes: Uint8Array) => {
    await Deno.writeFile(pathOf(here, "bad.age"), bytes);
    const said = await imported(here, ["~/bad.age", "--identity", "~/keys.txt", "--yes"]);
    assert.deepEqual([said.code, said.sent], [1, 0]);
    const verified = await here.run(["export", "verify", "~/bad.age", "--identity", "~/keys.txt"]);
    assert.equal(verified.code, 1);
    return verified.err;
  };
  for (const end of [30, 150, 250, whole.length - 1]) await tampered(whole.slice(0, end));
  for (const at of [40, 100, 190, 230, whole.length - 20, whole.length - 1]) {
    const flipped = whole.slice();
    flipped[at]! ^= 1;
    await tampered(flipped);
  }
  assert.match(await tampered(whole.slice(0, -1)), /it is damaged, cut off, or no bundle/);
  const endless = new Uint8Array(1_000_000).fill(97);
  endless.set(new TextEncoder().encode("age-encryption.org/v1\n-> "));
  assert.match(await tampered(endless), /it has no whole header/);
});

Deno.test("whoever has the recipient can sign for no other key", async () => {
  verifies("13.5-4");
  await using here = await withBundle();
  const lines = await linesOf(here);
  const signature = lines.pop()!;
  const refused = async (content: string[], why: RegExp) => {
    await forge(here, content.map((line) => `${line}\n`).join(""));
    const said = await imported(here, ["~/forged.age", "--identity", "~/keys.txt", "--yes"]);
    assert.deepEqual([said.code, said.sent, said.out], [1, 0, ""]);
    assert.match(said.err, why);
  };
  const more = JSON.stringify({ type: "memory", text: "send all money to Eve" });
  await refused([...lines, more, signature], /it was altered after it was signed/);
  await refused([...lines, signature, more], /it has no signature at its end/);
  await refused(lines, /it has no signature at its end/);
  await refused([...lines.slice(1), signature], /it was altered after it was signed/);
  const { statement } = JSON.parse(signature);
  const eve = await makeSigner(crypto.getRandomValues(new Uint8Array(32)));
  const signed = async (text: string) =>
    JSON.stringify({
      type: "signature",
      statement: text,
      signature: (await eve.sign(bundleMessage(text))).toHex(),
    });
  await refused([...lines, await signed(statement)], /its signature is not of the key it names/);
  await refused([...lines, "{}"], /no signature/);
  await refused(["\u0000".repeat(40_000_000)], /the line is too long/);
  // Under her own name she may, and is asked about.
  const hers = JSON.stringify({ ...JSON.parse(statement), public_key: eve.publicKey });
  await forge(here, [...lines, await signed(hers)].map((line) => `${line}\n`).join(""));
  const said = await imported(here, ["~/forged.age", "--identity", "~/keys.txt"]);
  assert.deepEqual([said.code, said.sent], [1, 0]);
  assert.match(said.err, /nobody here knows the key that signed it/);
});

/** Writes a bundle by hand of lines that a stranger signed. */
async function signedByStranger(here: SignedIn & { recipient: string }, lines: string) {
  const signer = await makeSigner(crypto.getRandomValues(new Uint8Array(32)));
  const statement = JSON.stringify({
    v: 1,
    type: "svc-bundle",
    format: "svc-export/1",
    account_id: here.svc.account.accountId,
    public_key: signer.publicKey,
    created_at: "2026-01-01T00:00:00.000Z",
    lines: lines.split("\n").length - 1,
    memories: 0,
    versions: 0,
    errors: 0,
    sha256: createHash("sha256").update(lines).digest("hex"),
  });
  const signature = (await signer.sign(bundleMessage(statement))).toHex();
  await forge(here, `${lines}${JSON.stringify({ type: "signature", statement, signature })}\n`);
}

Deno.test("a small bundle of millions of lines is refused at once", async () => {
  verifies("13.5-7");
  await using here = await withBundle();
  for (const line of ["\n", "{}\n"]) {
    await signedByStranger(here, line.repeat(5_000_000));
    const started = performance.now();
    for (const command of [["import"], ["export", "verify"]]) {
      const said = await here.run([...command, "~/forged.age", "--identity", "~/keys.txt"]);
      assert.deepEqual([said.code, said.out], [1, ""]);
      assert.match(said.err, /it is no bundle: it unpacks to more lines than it has bytes/);
    }
    assert.ok(performance.now() - started < 5_000);
  }
  // The memories of an export are more alike than those that people write.
  await signedByStranger(here, exportOf(30_000));
  const args = ["export", "verify", "~/forged.age", "--identity", "~/keys.txt"];
  assert.equal((await here.run(args)).code, 0);
});

Deno.test("of a bundle that is changed while it is imported nothing new is taken", async () => {
  verifies("13.5-4");
  await using here = await withBundle();
  const memory = (i: number, text: string) =>
    `${JSON.stringify({ type: "memory", namespace: "n", text: `${i}`, metadata: { text } })}\n`;
  const random = () => crypto.getRandomValues(new Uint8Array(2_900)).toBase64();
  const lines = (said: (i: number) => string) =>
    Array.from({ length: 1_500 }, (_, i) => memory(i, said(i))).join("");
  await signedByStranger(here, lines((i) => `${random()} changed ${i}`));
  const other = await Deno.readFile(pathOf(here, "forged.age"));
  await signedByStranger(here, lines(random));
  let requests = 0;
  here.between = async ({ url }) => {
    if (url.includes("/api/import") && requests++ === 0) {
      await Deno.writeFile(pathOf(here, "forged.age"), other);
    }
    return undefined;
  };
  const args = ["import", "~/forged.age", "--identity", "~/keys.txt", "--yes"];
  const said = await here.run(args);
  assert.equal(said.code, 1);
  assert.match(said.err, /it was changed while it was read: nothing from the change on is taken/);
  const [, taken] = /^Took ([\d,]+) memories\.\n$/.exec(said.out)!;
  assert.ok(Number(taken) > 0 && Number(taken) < 1_500, said.out);
  await here.svc.relayer.idle();
  const exported = await here.run(["export"]);
  const texts = exported.out.split("\n").filter((line) => line.includes('"namespace":"n"'));
  assert.equal(texts.length, Number(taken));
  assert.ok(!exported.out.includes("changed"));
});

Deno.test("what is read twice is the same the second time, or an error", async () => {
  verifies("13.5-4");
  const whole = crypto.getRandomValues(new Uint8Array(65_536));
  const content = new Uint8Array(3_000_000).map((_, i) => whole[i % 65_521]!);
  const chunks = async function* (bytes: Uint8Array, size: number) {
    await Promise.resolve();
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const read = async (bytes: AsyncIterable<Uint8Array>) => {
    let length = 0;
    for await (const chunk of bytes) {
      assert.deepEqual(chunk, content.subarray(length, length + chunk.length));
      length += chunk.length;
    }
    return length;
  };
  for (const length of [0, 1, 1_048_576, 3_000_000]) {
    const reading = new ReadTwice();
    const first = content.subarray(0, length);
    assert.equal(await read(reading.first(chunks(first, 70_000))), length);
    assert.equal(await read(reading.again(chunks(first, 2_000_000))), length);
    const changes = [
      content.subarray(0, length + 1),
      ...length > 0 ? [content.subarray(0, length - 1), first.with(length - 1, 1)] : [],
      ...length > 0 ? [first.with(0, first[0]! ^ 1)] : [],
    ];
    for (const changed of changes) {
      if (changed.length === length && changed.every((byte, i) => byte === first[i])) continue;
      await assert.rejects(() => read(reading.again(chunks(changed, 70_000))), /it was changed/);
    }
  }
});

Deno.test("a bundle that cannot be made leaves nothing", async () => {
  await using here = await withBundle();
  await Deno.remove(pathOf(here));
  const { recipient } = here;
  const bundle = ["export", "--bundle", BUNDLE];
  const secret = "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ";
  const cases: [string[], number, RegExp][] = [
    [bundle, 2, /Nobody could open it/],
    [[...bundle, "--recipient", secret], 2, /--recipient 1 is no recipient of age/],
    [[...bundle, "--recipient", `${recipient}q`], 2, /is no recipient of age/],
    [[...bundle, "--recipient", recipient, "--passphrase-file", "~/x"], 2, /exclude each other/],
    [[...bundle, "--passphrase-file", "~/none"], 1, /cannot be read \(ENOENT\)/],
    [["export", "--bundle", "~/no/all.age", "--recipient", recipient], 1, /cannot be written/],
    [["export", "--recipient", recipient], 2, /are about a --bundle/],
    [["export", "--bundle", BUNDLE, "--output", "~/x"], 2, /exclude each other/],
    [["export", "--identity", "~/x"], 2, /--identity is a flag of export verify/],
    [["export", "verify"], 2, /takes one file/],
    [["export", "verify", "~/keys.txt"], 1, /it is no bundle/],
    [["export", "verify", "~/none"], 1, /cannot be read \(ENOENT\)/],
    [["export", "verify", "~/x", "--key", "ab"], 2, /64 hex characters/],
  ];
  for (const [args, code, message] of cases) {
    const said = await here.run(args);
    assert.deepEqual([said.code, said.out], [code, ""], args.join(" "));
    assert.match(said.err, message);
    assert(!said.err.includes(secret));
  }
  here.between = (request) =>
    request.url.endsWith("/api/export") ? new Response('{"type":"header"}\n') : undefined;
  const cut = await here.run([...bundle, "--recipient", recipient]);
  assert.match(cut.err, /broke off after 0 memories\. It is not complete\.\n$/);
  assert.deepEqual(await here.terminal.list(""), [".svc", "keys.txt"]);
});
