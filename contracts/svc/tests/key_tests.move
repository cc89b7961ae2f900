/// Adding and removing delegate keys.
#[test_only]
module svc::key_tests;

use svc::account::{
    ENotOwner,
    EBadKey,
    EBadProof,
    EKeyTaken,
    ENoKey,
    ETooMany,
    ELabel,
    EInactive,
    EPermissions,
    EExpiry
};
use svc::scene::{Self, Scene};
use svc::vectors::{first, key, address_of, proof};

const OWNER: address = @0xa;
const OTHER: address = @0xb;
const NOW: u64 = 1000;

fun account(): Scene {
    let mut s = scene::begin();
    s.at(NOW);
    s.create(OWNER);
    s
}

/// Adds the first key, all but one argument being right.
fun add(s: &mut Scene, permissions: u8, expires_at: u64, label: vector<u8>) {
    s.add(OWNER, first(), key(0), proof(0, first()), permissions, expires_at, label)
}

fun add_key(s: &mut Scene, key: vector<u8>, proof: vector<u8>) {
    s.add(OWNER, first(), key, proof, 3, 0, b"")
}

#[test]
fun adds() {
    let mut s = account();
    add(&mut s, 3, 0, b"Laptop");
    s.add(OWNER, first(), key(1), proof(1, first()), 1, NOW + 1, b"");
    s.add(OWNER, first(), key(2), proof(2, first()), 2, 0, x"c3a9");
    let (r, a) = s.take(OWNER, first());
    assert!(a.keys() == 3 && a.generation() == 1);
    let mut i = 0;
    while (i < 3) {
        assert!(a.key_at(i) == key(i) && a.key_address(i) == address_of(i));
        i = i + 1
    };
    scene::give_back(r, a);
    assert!(s.of_key(key(0)) == first() && s.of_key(key(2)) == first());
    s.end()
}

#[test]
fun label_of_64_bytes() {
    let mut s = account();
    add(&mut s, 3, 0, b"0123456789012345678901234567890123456789012345678901234567890123");
    s.end()
}

#[test, expected_failure(abort_code = ELabel, location = svc::account)]
fun label_of_65_bytes() {
    let mut s = account();
    add(&mut s, 3, 0, b"01234567890123456789012345678901234567890123456789012345678901234");
    abort 0
}

/// Bytes count, not characters.
#[test, expected_failure(abort_code = ELabel, location = svc::account)]
fun label_of_64_characters() {
    let mut s = account();
    add(&mut s, 3, 0, x"c3a9303132333435363738393031323334353637383930313233343536373839303132333435363738393031323334353637383930313233343536373839303132");
    abort 0
}

#[test]
fun every_permission() {
    let mut s = account();
    add(&mut s, 7, 0, b"");
    s.end();
}

#[test, expected_failure(abort_code = EPermissions, location = svc::account)]
fun no_permission() {
    let mut s = account();
    add(&mut s, 0, 0, b"");
    abort 0
}

#[test, expected_failure(abort_code = EPermissions, location = svc::account)]
fun unknown_permission() {
    let mut s = account();
    add(&mut s, 8, 0, b"");
    abort 0
}

#[test, expected_failure(abort_code = EPermissions, location = svc::account)]
fun too_many_permissions() {
    let mut s = account();
    add(&mut s, 255, 0, b"");
    abort 0
}

#[test, expected_failure(abort_code = EExpiry, location = svc::account)]
fun expires_now() {
    let mut s = account();
    add(&mut s, 3, NOW, b"");
    abort 0
}

#[test, expected_failure(abort_code = EExpiry, location = svc::account)]
fun expired_long_ago() {
    let mut s = account();
    add(&mut s, 3, 1, b"");
    abort 0
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun add_by_a_stranger() {
    let mut s = account();
    s.add(OTHER, first(), key(0), proof(0, first()), 3, 0, b"");
    abort 0
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun add_by_a_delegate() {
    let mut s = account();
    add(&mut s, 3, 0, b"");
    s.add(address_of(0), first(), key(1), proof(1, first()), 3, 0, b"");
    abort 0
}

#[test, expected_failure(abort_code = EInactive, location = svc::account)]
fun add_to_a_deactivated_account() {
    let mut s = account();
    s.deactivate(OWNER, first());
    add(&mut s, 3, 0, b"");
    abort 0
}

#[test, expected_failure(abort_code = EBadKey, location = svc::account)]
fun key_of_31_bytes() {
    let mut s = account();
    let mut short = key(0);
    short.pop_back();
    add_key(&mut s, short, proof(0, first()));
    abort 0
}

#[test, expected_failure(abort_code = EBadKey, location = svc::account)]
fun key_of_33_bytes() {
    let mut s = account();
    let mut long = key(0);
    long.push_back(0);
    add_key(&mut s, long, proof(0, first()));
    abort 0
}

#[test, expected_failure(abort_code = EBadKey, location = svc::account)]
fun no_key() {
    let mut s = account();
    add_key(&mut s, x"", proof(0, first()));
    abort 0
}

#[test, expected_failure(abort_code = EBadProof, location = svc::account)]
fun proof_of_63_bytes() {
    let mut s = account();
    let mut short = proof(0, first());
    short.pop_back();
    add_key(&mut s, key(0), short);
    abort 0
}

#[test, expected_failure(abort_code = EBadProof, location = svc::account)]
fun proof_with_a_flipped_bit() {
    let mut s = account();
    let mut bad = proof(0, first());
    let byte = &mut bad[10];
    *byte = *byte ^ 1;
    add_key(&mut s, key(0), bad);
    abort 0
}

#[test, expected_failure(abort_code = EBadProof, location = svc::account)]
fun key_that_is_no_point() {
    let mut s = account();
    add_key(
        &mut s,
        x"0200000000000000000000000000000000000000000000000000000000000000",
        proof(0, first()),
    );
    abort 0
}

#[test, expected_failure(abort_code = EKeyTaken, location = svc::account)]
fun key_twice() {
    let mut s = account();
    add(&mut s, 3, 0, b"");
    add(&mut s, 1, 0, b"");
    abort 0
}

#[test]
fun twenty_keys() {
    let mut s = account();
    let mut i = 0;
    while (i < 20) {
        add_key(&mut s, key(i), proof(i, first()));
        i = i + 1
    };
    let (r, a) = s.take(OWNER, first());
    assert!(a.keys() == 20);
    scene::give_back(r, a);
    s.end()
}

#[test, expected_failure(abort_code = ETooMany, location = svc::account)]
fun twenty_one_keys() {
    let mut s = account();
    let mut i = 0;
    while (i < 20) {
        s.list(first(), key(i), 3, NOW + 1);
        i = i + 1
    };
    add_key(&mut s, key(20), proof(20, first()));
    abort 0
}

#[test]
fun expired_keys_make_room() {
    let mut s = account();
    let mut i = 0;
    while (i < 20) {
        s.list(first(), key(i), 3, if (i % 2 == 0) NOW + 1 else 0);
        i = i + 1
    };
    s.at(NOW + 1);
    add_key(&mut s, key(20), proof(20, first()));
    let (r, a) = s.take(OWNER, first());
    assert!(a.keys() == 11 && a.generation() == 2);
    assert!(a.key_at(0) == key(1) && a.key_since(0) == 1);
    assert!(a.key_at(10) == key(20) && a.key_since(10) == 2);
    scene::give_back(r, a);
    assert!(s.of_key(key(0)) != first() && s.of_key(key(1)) == first());
    s.end()
}

#[test]
fun expired_key_returns() {
    let mut s = account();
    add(&mut s, 3, NOW + 1, b"");
    s.at(NOW + 1);
    add(&mut s, 1, 0, b"");
    let (r, a) = s.take(OWNER, first());
    assert!(a.keys() == 1 && a.generation() == 2 && a.key_since(0) == 2);
    scene::give_back(r, a);
    s.end()
}

#[test]
fun removes() {
    let mut s = account();
    add_key(&mut s, key(0), proof(0, first()));
    add_key(&mut s, key(1), proof(1, first()));
    add_key(&mut s, key(2), proof(2, first()));
    s.remove(OWNER, first(), key(1));
    let (r, a) = s.take(OWNER, first());
    assert!(a.keys() == 2 && a.generation() == 2);
    assert!(a.key_at(0) == key(0) && a.key_at(1) == key(2));
    scene::give_back(r, a);
    assert!(s.of_key(key(1)) != first());
    s.deactivate(OWNER, first());
    s.remove(OWNER, first(), key(0));
    s.reactivate(OWNER, first());
    add_key(&mut s, key(1), proof(1, first()));
    let (r, a) = s.take(OWNER, first());
    assert!(a.generation() == 4 && a.key_since(1) == 4);
    scene::give_back(r, a);
    s.end()
}

#[test, expected_failure(abort_code = ENoKey, location = svc::account)]
fun remove_an_unknown_key() {
    let mut s = account();
    add(&mut s, 3, 0, b"");
    s.remove(OWNER, first(), key(1));
    abort 0
}

#[test, expected_failure(abort_code = ENoKey, location = svc::account)]
fun remove_twice() {
    let mut s = account();
    add(&mut s, 3, 0, b"");
    s.remove(OWNER, first(), key(0));
    s.remove(OWNER, first(), key(0));
    abort 0
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun remove_by_a_stranger() {
    let mut s = account();
    add(&mut s, 3, 0, b"");
    s.remove(OTHER, first(), key(0));
    abort 0
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun remove_by_the_delegate() {
    let mut s = account();
    add(&mut s, 3, 0, b"");
    s.remove(address_of(0), first(), key(0));
    abort 0
}
