import assert from "node:assert/strict";
import { RelayerKey } from "../../src/sealing/relayer_key.ts";
import { createLogger } from "../../src/log.ts";
import { verifies } from "../requirements.ts";
import { TestKey } from "../relayer_fixture.ts";
import { pkce, startOAuth } from "./fixture.ts";

/** Everything that a thief finds in a folder, as bytes. */
async function loot(folder: string): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await loot(`${folder}/${name}`));
    else found.push(await Deno.readFile(`${folder}/${name}`));
  }
  return found;
}

/** The spellings in which a secret may have been written down. */
function spellings(secret: Uint8Array): string[] {
  const latin1 = String.fromCharCode(...secret);
  return [
    latin1,
    secret.toHex(),
    secret.toHex().toUpperCase(),
    secret.toBase64().slice(0, 40),
    secret.toBase64({ alphabet: "base64url" }).slice(0, 40),
    // In base64 behind one or two other bytes.
    new Uint8Array([0, ...secret]).toBase64().slice(2, 40),
    new Uint8Array([0, 0, ...secret]).toBase64().slice(3, 40),
  ];
}

Deno.test("data, relayer key and logs open no app's key", async () => {
  verifies("11.1-27");
  const dataDir = await Deno.makeTempDir();
  const relayerKey = crypto.getRandomValues(new Uint8Array(32));
  const logs: string[] = [];
  const logger = createLogger({ level: "debug", format: "json", write: (line) => logs.push(line) });
  await using test = await startOAuth({ dataDir, relayerKey, logger });
  const secrets: Uint8Array[] = [];
  const texts: string[] = [];
  /** One app with its code waiting, and one with a refresh token that was renewed. */
  for (const redeems of [false, true]) {
    const client_id = await test.register();
    const { verifier, challenge } = await pkce();
    const request = await test.question({ client_id, code_challenge: challenge });
    const key = new TestKey();
    secrets.push(key.seed);
    await test.svc.backends.accounts.admin!.addKey(test.svc.account.accountId, {
      publicKey: key.publicKey,
      label: "app",
      permissions: ["read"],
    });
    const { body } = await test.consent("/approve", {
      request,
      account_id: test.svc.account.accountId,
      private_key: key.seed.toHex(),
    });
    const code = new URL(body.redirect_to).searchParams.get("code")!;
    texts.push(code, verifier);
    if (!redeems) continue;
    const first = await test.redeem(code, verifier, client_id);
    const second = await test.refresh(first.body.refresh_token, client_id);
    assert.equal(second.status, 200);
    texts.push(first.body.refresh_token, first.body.access_token);
    texts.push(second.body.refresh_token, second.body.access_token);
    assert.equal((await test.message(second.body.access_token)).status, 200);
  }
  for (const text of texts) {
    const tail = text.slice(text.indexOf(".") + 1);
    const encoded = tail.slice(0, tail.length - tail.length % 4);
    secrets.push(Uint8Array.fromBase64(encoded, { alphabet: "base64url" }).slice(16, 48));
  }
  const found = [...await loot(dataDir), new TextEncoder().encode(logs.join("\n"))];
  const everything = found.map((bytes) => new TextDecoder("latin1").decode(bytes)).join("\0");
  for (const text of texts) assert.ok(!everything.includes(text.slice(6, 40)));
  for (const secret of secrets) {
    for (const spelling of spellings(secret)) assert.ok(!everything.includes(spelling));
  }
  // With the relayer key: everything that is sealed under it alone is tried on every row.
  const { DatabaseSync } = await import("node:sqlite");
  const copy = await Deno.makeTempFile();
  for (const end of ["", "-wal"]) {
    await Deno.copyFile(`${dataDir}/core.db${end}`, copy + end).catch(() => {});
  }
  const database = new DatabaseSync(copy);
  const rows = database.prepare("select * from oauth_grant").all();
  assert.equal(rows.length, 2);
  const key = new RelayerKey(relayerKey);
  for (const row of rows) {
    const { id, generation, sealed, secret_hash } = row as Record<string, Uint8Array>;
    const boundTo = `${id!.toHex()} ${generation}`;
    const guesses = ["", id!.toHex(), secret_hash!.toHex()];
    for (const purpose of guesses.map((guess) => `oauth grant ${guess}`)) {
      assert.throws(() => key.sealer(purpose).open(sealed!, boundTo));
    }
  }
  database.close();
  await Deno.remove(dataDir, { recursive: true });
});
