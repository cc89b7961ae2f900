/// Making, deactivating, closing and migrating accounts.
#[test_only]
module svc::account_tests;

use svc::account::{Self, ENotOwner, EExists, EVersion};
use svc::scene;
use svc::vectors::{first, second, key, address_of, proof, identity};

const OWNER: address = @0xa;
const OTHER: address = @0xb;

#[test]
fun creates() {
    let mut s = scene::begin();
    s.at(123);
    s.create(OWNER);
    s.create(OTHER);
    assert!(s.of_owner(OWNER) == first());
    assert!(s.of_owner(OTHER) == second());
    let (r, a) = s.take(OWNER, first());
    assert!(a.owner() == OWNER && a.version() == 2 && a.generation() == 1);
    assert!(a.is_active() && a.keys() == 0 && !a.has_offer());
    scene::give_back(r, a);
    s.end()
}

#[test, expected_failure(abort_code = EExists, location = svc::account)]
fun second_account_of_an_owner() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.create(OWNER);
    abort 0
}

#[test]
fun deactivates_and_reactivates() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.deactivate(OWNER, first());
    s.deactivate(OWNER, first());
    let (r, a) = s.take(OWNER, first());
    assert!(!a.is_active() && a.generation() == 3);
    scene::give_back(r, a);
    s.reactivate(OWNER, first());
    s.reactivate(OWNER, first());
    let (r, a) = s.take(OWNER, first());
    assert!(a.is_active() && a.generation() == 3);
    scene::give_back(r, a);
    s.approve(OWNER, first(), identity(first(), 2));
    s.end()
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun deactivate_by_a_stranger() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.deactivate(OTHER, first());
    abort 0
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun reactivate_by_a_stranger() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.deactivate(OWNER, first());
    s.reactivate(OTHER, first());
    abort 0
}

#[test]
fun closes_and_starts_again() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.add(OWNER, first(), key(0), proof(0, first()), 3, 0, b"");
    s.add(OWNER, first(), key(1), proof(1, first()), 3, 0, b"");
    s.deactivate(OWNER, first());
    s.close(OWNER, first());
    assert!(s.of_owner(OWNER) != first());
    assert!(s.of_key(key(0)) != first());
    assert!(s.of_key(key(1)) != first());
    s.create(OWNER);
    assert!(s.of_owner(OWNER) != first());
    s.end()
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun nothing_to_migrate() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.migrate(OWNER, first());
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun migrate_of_a_newer_account() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.set_versions(first(), 2, 3);
    s.migrate(OWNER, first());
    abort 0
}

#[test]
fun migrates_an_older_account() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.set_versions(first(), 2, 1);
    s.migrate(OWNER, first());
    let (r, a) = s.take(OWNER, first());
    assert!(a.version() == 2);
    scene::give_back(r, a);
    s.end()
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun migrate_by_a_stranger() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.set_versions(first(), 2, 1);
    s.migrate(OTHER, first());
    abort 0
}

#[test]
fun layout_is_the_frozen_one() {
    let mut s = scene::begin();
    s.at(7);
    s.create(OWNER);
    s.add_bound(OWNER, first(), key(0), proof(0, first()), 1, 9, b"ab", vector[b"n/", b"m"]);
    s.offer(OWNER, first(), OTHER);
    let mut expected = std::bcs::to_bytes(&first());
    expected.append(x"0200000000000000"); // version
    expected.append(std::bcs::to_bytes(&OWNER));
    expected.append(x"01"); // an offer
    expected.append(std::bcs::to_bytes(&OTHER));
    expected.append(x"01"); // one key
    expected.append(x"20");
    expected.append(key(0));
    expected.append(std::bcs::to_bytes(&address_of(0)));
    expected.append(x"026162"); // label
    expected.append(x"01"); // permissions
    expected.append(x"0700000000000000"); // created_at
    expected.append(x"0900000000000000"); // expires_at
    expected.append(x"0100000000000000"); // since_generation
    expected.append(x"02026e2f016d"); // namespaces
    expected.append(x"0700000000000000"); // created_at
    expected.append(x"01"); // active
    expected.append(x"0100000000000000"); // generation
    assert!(s.bytes(first()) == expected);
    s.end()
}

#[test]
fun tells_what_happened() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.list(first(), key(0), 3, 5);
    s.list(first(), key(1), 3, 6);
    s.at(10);
    s.add(OWNER, first(), key(2), proof(2, first()), 3, 0, b"");
    let id = sui::object::id_from_address(first());
    assert!(
        sui::event::events_by_type() == vector[
            account::removed_event(id, key(0), 2),
            account::removed_event(id, key(1), 2),
        ],
    );
    s.end()
}
