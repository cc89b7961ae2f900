/// Events, byte for byte: relayers and wallets read them.
#[test_only]
module svc::event_tests;

use svc::account;
use svc::scene::{Self, Scene};
use svc::vectors::{first, key, address_of, proof};

const OWNER: address = @0xa;
const OTHER: address = @0xb;

/// The transaction emitted one event of a kind, and none of another. Kinds are in the order of the
/// source: created, key added, key removed, active, offered, transferred, closed.
fun emitted(kind: u64, fields: vector<vector<u8>>) {
    let mut expected = vector[];
    let mut i = 0;
    while (i < 7) {
        expected.push_back(if (i == kind) 1 else 0);
        if (i == kind) {
            expected.append(std::bcs::to_bytes(&first()));
            let mut n = 0;
            while (n < fields.length()) {
                expected.append(fields[n]);
                n = n + 1
            }
        };
        i = i + 1
    };
    assert!(account::event_bytes() == expected)
}

fun bytes(owner: address): vector<u8> { std::bcs::to_bytes(&owner) }

/// BCS of a key: its length stands first.
fun key_bytes(n: u64): vector<u8> {
    let mut bytes = x"20";
    bytes.append(key(n));
    bytes
}

fun account(): Scene {
    let mut s = scene::begin();
    s.create(OWNER);
    emitted(0, vector[bytes(OWNER)]);
    s
}

#[test]
fun keys() {
    let mut s = account();
    s.add(OWNER, first(), key(0), proof(0, first()), 2, 7, b"label");
    let sui_address = bytes(address_of(0));
    emitted(1, vector[key_bytes(0), sui_address, x"02", x"0700000000000000"]);
    s.remove(OWNER, first(), key(0));
    emitted(2, vector[key_bytes(0), x"0200000000000000"]);
    s.end()
}

#[test]
fun activity() {
    let mut s = account();
    s.deactivate(OWNER, first());
    emitted(3, vector[x"00", x"0200000000000000"]);
    s.reactivate(OWNER, first());
    emitted(3, vector[x"01", x"0200000000000000"]);
    s.end()
}

#[test]
fun ownership() {
    let mut s = account();
    s.offer(OWNER, first(), OTHER);
    emitted(4, vector[bytes(OWNER), x"01", bytes(OTHER)]);
    s.withdraw(OWNER, first());
    emitted(4, vector[bytes(OWNER), x"00"]);
    s.offer(OWNER, first(), OTHER);
    s.accept(OTHER, first());
    emitted(5, vector[bytes(OWNER), bytes(OTHER), x"0200000000000000"]);
    s.close(OTHER, first());
    emitted(6, vector[bytes(OTHER)]);
    s.end()
}
