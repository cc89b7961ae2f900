import assert from "node:assert/strict";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { makeRecoveryWords, seedOfRecoveryWords } from "../../src/client/recovery_words.ts";
import { makeDelegateKey } from "../../src/client/mod.ts";

/** Address of the key of some words. */
async function addressOf(words: string): Promise<string | undefined> {
  const seed = await seedOfRecoveryWords(words);
  return seed && (await makeDelegateKey(seed)).address;
}

Deno.test("recovery words make the key that a Sui wallet makes of them", async () => {
  const known = "film crazy soon outside stand loop subway crumble thrive popular green nuclear " +
    "struggle pistol arm wife phrase warfare march wheat nephew ask sunny firm";
  assert.equal(makeRecoveryWords().split(" ").length, 12);
  for (const words of [known, makeRecoveryWords(), makeRecoveryWords()]) {
    assert.equal(await addressOf(words), Ed25519Keypair.deriveKeypair(words).toSuiAddress());
  }
  assert.notEqual(makeRecoveryWords(), makeRecoveryWords());
  const typed = `  ${known.toUpperCase().replaceAll(" ", "\n  ")} `;
  assert.equal(await addressOf(typed), await addressOf(known));
});

Deno.test("what are no recovery words makes no key", async () => {
  const words = makeRecoveryWords().split(" ");
  for (
    const text of [
      "",
      "suiprivkey1qqqq",
      words.slice(1).join(" "),
      [...words.slice(1), "svc"].join(" "),
      "abandon ".repeat(12),
    ]
  ) assert.equal(await seedOfRecoveryWords(text), undefined, text);
});
