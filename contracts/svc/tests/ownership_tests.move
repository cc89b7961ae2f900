/// Transfer of ownership in two steps.
#[test_only]
module svc::ownership_tests;

use svc::account::{ENotOwner, EExists, ENoOffer};
use svc::scene::{Self, Scene};
use svc::vectors::{first, second, key, address_of, proof, identity};

const OWNER: address = @0xa;
const OTHER: address = @0xb;
const THIRD: address = @0xc;

fun account(): Scene {
    let mut s = scene::begin();
    s.create(OWNER);
    s
}

#[test]
fun transfers() {
    let mut s = account();
    s.add(OWNER, first(), key(0), proof(0, first()), 3, 0, b"");
    s.offer(OWNER, first(), THIRD);
    s.offer(OWNER, first(), OTHER);
    let (r, a) = s.take(OWNER, first());
    assert!(a.owner() == OWNER && a.has_offer() && a.generation() == 1);
    scene::give_back(r, a);
    s.accept(OTHER, first());
    let (r, a) = s.take(OWNER, first());
    assert!(a.owner() == OTHER && !a.has_offer() && a.generation() == 2 && a.keys() == 1);
    scene::give_back(r, a);
    assert!(s.of_owner(OTHER) == first() && s.of_owner(OWNER) != first());
    s.approve(OTHER, first(), identity(first(), 1));
    s.approve(address_of(0), first(), identity(first(), 2));
    s.create(OWNER);
    s.close(OTHER, first());
    s.end()
}

#[test]
fun a_deactivated_account_stays_so() {
    let mut s = account();
    s.deactivate(OWNER, first());
    s.offer(OWNER, first(), OTHER);
    s.accept(OTHER, first());
    let (r, a) = s.take(OWNER, first());
    assert!(!a.is_active() && a.generation() == 3);
    scene::give_back(r, a);
    s.end()
}

#[test]
fun own_key_of_the_former_owner_leaves() {
    let owner = address_of(0);
    let mut s = scene::begin();
    s.create(owner);
    s.add(owner, first(), key(0), proof(0, first()), 3, 0, b"");
    s.add(owner, first(), key(1), proof(1, first()), 3, 0, b"");
    s.offer(owner, first(), OTHER);
    s.accept(OTHER, first());
    let (r, a) = s.take(OTHER, first());
    assert!(a.keys() == 1 && a.key_at(0) == key(1) && a.generation() == 2);
    scene::give_back(r, a);
    assert!(s.of_key(key(0)) != first());
    s.end()
}

/// Three keys, one of which is the former owner's own.
fun own_key_leaves_from(place: u64) {
    let owner = address_of(place);
    let mut s = scene::begin();
    s.create(owner);
    let mut i = 0;
    while (i < 3) {
        s.add(owner, first(), key(i), proof(i, first()), 3, 0, b"");
        i = i + 1
    };
    s.offer(owner, first(), OTHER);
    s.accept(OTHER, first());
    let (r, a) = s.take(OTHER, first());
    assert!(a.keys() == 2 && a.key_at(0) != key(place) && a.key_at(1) != key(place));
    scene::give_back(r, a);
    assert!(s.of_key(key(place)) != first());
    assert!(s.of_key(key((place + 1) % 3)) == first());
    assert!(s.of_key(key((place + 2) % 3)) == first());
    s.end()
}

#[test]
fun own_key_leaves_from_the_begin() { own_key_leaves_from(0) }

#[test]
fun own_key_leaves_from_the_middle() { own_key_leaves_from(1) }

#[test]
fun own_key_leaves_from_the_end() { own_key_leaves_from(2) }

/// The key of the new owner's own address stays: it is theirs.
#[test]
fun own_key_of_the_new_owner_stays() {
    let mut s = account();
    s.add(OWNER, first(), key(0), proof(0, first()), 1, 0, b"");
    s.offer(OWNER, first(), address_of(0));
    s.accept(address_of(0), first());
    let (r, a) = s.take(OWNER, first());
    assert!(a.keys() == 1 && a.owner() == address_of(0));
    scene::give_back(r, a);
    s.end()
}

/// An offer dies with the account, and binds nobody.
#[test]
fun closes_an_offered_account() {
    let mut s = account();
    s.offer(OWNER, first(), OTHER);
    s.close(OWNER, first());
    assert!(s.of_owner(OWNER) != first() && s.of_owner(OTHER) != first());
    s.create(OTHER);
    assert!(s.of_owner(OTHER) != first());
    s.end()
}

/// Who offered it can close it at any time before.
#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun close_by_whom_it_is_offered_to() {
    let mut s = account();
    s.offer(OWNER, first(), OTHER);
    s.close(OTHER, first());
    abort 0
}

#[test]
fun withdraws() {
    let mut s = account();
    s.offer(OWNER, first(), OTHER);
    s.withdraw(OWNER, first());
    let (r, a) = s.take(OWNER, first());
    assert!(!a.has_offer() && a.generation() == 1);
    scene::give_back(r, a);
    s.end()
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun offer_by_a_stranger() {
    let mut s = account();
    s.offer(OTHER, first(), OTHER);
    abort 0
}

#[test, expected_failure(abort_code = EExists, location = svc::account)]
fun offer_to_an_owner() {
    let mut s = account();
    s.create(OTHER);
    s.offer(OWNER, first(), OTHER);
    abort 0
}

#[test, expected_failure(abort_code = EExists, location = svc::account)]
fun offer_to_oneself() {
    let mut s = account();
    s.offer(OWNER, first(), OWNER);
    abort 0
}

#[test, expected_failure(abort_code = ENoOffer, location = svc::account)]
fun withdraw_nothing() {
    let mut s = account();
    s.withdraw(OWNER, first());
    abort 0
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun withdraw_by_a_stranger() {
    let mut s = account();
    s.offer(OWNER, first(), OTHER);
    s.withdraw(OTHER, first());
    abort 0
}

#[test, expected_failure(abort_code = ENoOffer, location = svc::account)]
fun accept_nothing() {
    let mut s = account();
    s.accept(OTHER, first());
    abort 0
}

#[test, expected_failure(abort_code = ENoOffer, location = svc::account)]
fun accept_a_withdrawn_offer() {
    let mut s = account();
    s.offer(OWNER, first(), OTHER);
    s.withdraw(OWNER, first());
    s.accept(OTHER, first());
    abort 0
}

#[test, expected_failure(abort_code = ENoOffer, location = svc::account)]
fun accept_twice() {
    let mut s = account();
    s.offer(OWNER, first(), OTHER);
    s.accept(OTHER, first());
    s.accept(OTHER, first());
    abort 0
}

#[test, expected_failure(abort_code = EExists, location = svc::account)]
fun accept_with_an_own_account() {
    let mut s = account();
    s.offer(OWNER, first(), OTHER);
    s.create(OTHER);
    s.accept(OTHER, first());
    abort 0
}

#[test]
fun accept_after_closing_the_own_account() {
    let mut s = account();
    s.create(OTHER);
    s.close(OTHER, second());
    s.offer(OWNER, first(), OTHER);
    s.accept(OTHER, first());
    s.end()
}
