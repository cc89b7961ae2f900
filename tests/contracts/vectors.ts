import { blake2b } from "@noble/hashes/blake2.js";
import { scopeHash } from "../../plugins/sui/seal/keys/wrapped_key.ts";
import { TestKey } from "./test_key.ts";

/** Keys that the Move tests know. */
export const KEYS: readonly TestKey[] = Array.from({ length: 21 }, (_, i) => new TestKey(i + 1));

/** Namespaces whose scopes the Move tests know. */
const SCOPES = ["work", "notes/day", "secret", "work2", "notes", "notes/"];

/** What makes an id of a new object out of a digest and a counter (`HashingIntentScope`). */
const REGULAR_OBJECT_ID = 0xf1;

/**
 * Id of the object that a transaction of `sui::test_scenario` creates first. Such a transaction's
 * digest is its number, little-endian, filled up with zeros.
 */
export function scenarioId(transaction: number): string {
  const bytes = new Uint8Array(1 + 32 + 8);
  bytes[0] = REGULAR_OBJECT_ID;
  new DataView(bytes.buffer).setBigUint64(1, BigInt(transaction), true);
  return "0x" + blake2b(bytes, { dkLen: 32 }).toHex();
}

const list = (name: string, values: readonly string[]): string =>
  `const ${name}: vector<vector<u8>> = vector[\n${
    values.map((value) => `    x"${value}",\n`).join("")
  }];\n`;

/** Text of `contracts/svc/tests/vectors.move`. */
export function renderVectors(): string {
  const [first, second] = [scenarioId(1), scenarioId(2)];
  return `// Made by tests/contracts/vectors.ts.

/// Keys, their addresses, and proofs that somebody holds them for the accounts of a scene.
#[test_only]
module svc::vectors;

/// Id of the account that the first call of a scene makes.
public fun first(): address { @${first} }

/// Id of the account that the second call of a scene makes.
public fun second(): address { @${second} }

${list("KEYS", KEYS.map(({ hex }) => hex))}
${list("ADDRESSES", KEYS.map(({ address }) => address.slice(2)))}
${list("FIRST_PROOFS", KEYS.map((key) => key.proof(first).toHex()))}
${list("SECOND_PROOFS", KEYS.map((key) => key.proof(second).toHex()))}
/// Scopes of \`b"me"\`, as relayers make them.
${list("SCOPES", SCOPES.map((namespace) => scopeHash({ owner: "me", namespace }).toHex()))}
public fun key(n: u64): vector<u8> { KEYS[n] }

public fun address_of(n: u64): address { sui::address::from_bytes(ADDRESSES[n]) }

/// Proof of a key for an account of a scene.
public fun proof(n: u64, account: address): vector<u8> {
    if (account == first()) FIRST_PROOFS[n] else SECOND_PROOFS[n]
}

/// A Seal identity with a scope of zeros.
public fun identity(account: address, generation: u64): vector<u8> {
    let mut id = std::bcs::to_bytes(&account);
    let mut i = 0;
    while (i < 8) {
        id.push_back(((generation >> (56 - 8 * i)) & 0xff) as u8);
        i = i + 1
    };
    while (id.length() < 72) id.push_back(0);
    id
}

/// A Seal identity of generation 1 whose scope is a namespace of \`b"me"\`: the work, the notes of one
/// day, or the rest.
public fun identity_in(account: address, n: u64): vector<u8> {
    let mut id = identity(account, 1);
    let mut i = 0;
    while (i < 32) {
        let byte = &mut id[40 + i];
        *byte = SCOPES[n][i];
        i = i + 1
    };
    id
}
`;
}

if (import.meta.main) {
  const path = new URL("../../contracts/svc/tests/vectors.move", import.meta.url);
  await Deno.writeTextFile(path, renderVectors());
}
