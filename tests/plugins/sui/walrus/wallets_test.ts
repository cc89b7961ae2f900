import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { parseWallets, Wallets } from "../../../../plugins/sui/walrus/upload/wallets.ts";

const HEX = "11".repeat(32);
const PAIR = Ed25519Keypair.fromSecretKey(Uint8Array.fromHex(HEX));
const NONE: ReadonlySet<string> = new Set();

Deno.test("wallets are read from both spellings of a key, each once", () => {
  const other = new Ed25519Keypair();
  const pairs = parseWallets(` ${HEX}, ${PAIR.getSecretKey()} ,0x${HEX},${other.getSecretKey()}`);
  deepStrictEqual(pairs.map((pair) => pair.toSuiAddress()), [
    PAIR.toSuiAddress(),
    other.toSuiAddress(),
  ]);
});

Deno.test("a key that is none is refused without a word of it", () => {
  for (const key of ["", "secret-words", `${HEX},nonsense`, HEX.slice(2)]) {
    throws(() => parseWallets(key), (error: Error) => {
      ok(!error.message.includes("secret-words") && !error.message.includes("1111"));
      return "code" in error && error.code === "invalid_parameter";
    });
  }
});

Deno.test("a wallet is taken by one at a time", () => {
  const wallets = new Wallets([PAIR, new Ed25519Keypair()]);
  const [first = "", second = ""] = wallets.addresses;
  const lease = wallets.takeAny(0, NONE);
  strictEqual(lease?.address, first);
  strictEqual(wallets.take(first), undefined);
  strictEqual(wallets.isFree(first), false);
  using other = wallets.takeAny(0, NONE);
  strictEqual(other?.address, second);
  strictEqual(wallets.takeAny(0, NONE), undefined);
  lease[Symbol.dispose]();
  strictEqual(wallets.takeAny(0, new Set([first])), undefined);
  strictEqual(wallets.takeAny(0, NONE)?.address, first);
});

Deno.test("a wallet that cannot pay is left alone for a while", () => {
  const wallets = new Wallets([PAIR]);
  wallets.setPoor(PAIR.toSuiAddress(), 100);
  strictEqual(wallets.takeAny(99, NONE), undefined);
  strictEqual(wallets.poor(99), 1);
  strictEqual(wallets.poor(100), 0);
  using lease = wallets.takeAny(100, NONE);
  strictEqual(lease?.address, PAIR.toSuiAddress());
});
