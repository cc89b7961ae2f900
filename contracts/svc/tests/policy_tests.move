/// Whom Seal gives keys.
#[test_only]
module svc::policy_tests;

use svc::account::{EBadId, EInactive, ENoAccess};
use svc::scene::{Self, Scene};
use svc::vectors::{first, key, address_of, proof, identity};

const OWNER: address = @0xa;

/// An account of generation 3 with a key that may read until 100.
fun account(): Scene {
    let mut s = scene::begin();
    s.create(OWNER);
    s.add(OWNER, first(), key(0), proof(0, first()), 1, 100, b"");
    s.set_generation(first(), 3);
    s
}

#[test]
fun owner_and_reader_of_every_generation() {
    let mut s = account();
    s.at(99);
    s.add(OWNER, first(), key(1), proof(1, first()), 3, 0, b"");
    let mut generation = 1;
    while (generation <= 3) {
        s.approve(OWNER, first(), identity(first(), generation));
        s.approve(address_of(0), first(), identity(first(), generation));
        s.approve(address_of(1), first(), identity(first(), generation));
        generation = generation + 1
    };
    s.end()
}

#[test]
fun a_large_generation() {
    let mut s = account();
    let generation = 0x0102030405060708;
    s.set_generation(first(), generation);
    s.approve(OWNER, first(), identity(first(), generation));
    s.set_generation(first(), 0xffffffffffffffff);
    s.approve(OWNER, first(), identity(first(), 0xffffffffffffffff));
    s.end()
}

/// Each byte of the generation has its weight.
#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun generation_256_of_255() {
    let mut s = account();
    s.set_generation(first(), 255);
    s.approve(OWNER, first(), identity(first(), 256));
    abort 0
}

#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun one_more_than_a_large_generation() {
    let mut s = account();
    s.set_generation(first(), 0x0102030405060708);
    s.approve(OWNER, first(), identity(first(), 0x0102030405060709));
    abort 0
}

/// The owner stays the owner, whatever a key of the own address may do.
#[test]
fun owner_whose_own_key_may_not_read() {
    let owner = address_of(2);
    let mut s = scene::begin();
    s.create(owner);
    s.add(owner, first(), key(2), proof(2, first()), 2, 5, b"");
    s.approve(owner, first(), identity(first(), 1));
    s.at(5);
    s.approve(owner, first(), identity(first(), 1));
    s.end()
}

#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun somebody_the_account_is_only_offered_to() {
    let mut s = account();
    s.offer(OWNER, first(), @0xbad);
    s.approve(@0xbad, first(), identity(first(), 1));
    abort 0
}

#[test]
fun any_scope() {
    let mut s = account();
    let mut id = identity(first(), 1);
    let mut i = 40;
    while (i < 72) {
        let byte = &mut id[i];
        *byte = 0xff;
        i = i + 1
    };
    s.approve(OWNER, first(), id);
    s.end()
}

#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun generation_zero() {
    let mut s = account();
    s.approve(OWNER, first(), identity(first(), 0));
    abort 0
}

#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun generation_of_another_byte_order() {
    let mut s = account();
    s.approve(OWNER, first(), identity(first(), 0x0100000000000000));
    abort 0
}

#[test, expected_failure(abort_code = EInactive, location = svc::account)]
fun owner_of_a_deactivated_account() {
    let mut s = account();
    s.deactivate(OWNER, first());
    s.approve(OWNER, first(), identity(first(), 1));
    abort 0
}

#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun stranger() {
    let mut s = account();
    s.approve(@0xbad, first(), identity(first(), 1));
    abort 0
}
