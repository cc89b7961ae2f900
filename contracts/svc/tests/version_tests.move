/// Every function refuses an account, and a registry where it takes one, of another version.
#[test_only]
module svc::version_tests;

use svc::account::EVersion;
use svc::scene::{Self, Scene};
use svc::vectors::{first, second, key, proof, identity};

const OWNER: address = @0xa;
const OTHER: address = @0xb;

/// An account with a key that is offered to OTHER, and these versions.
fun of_versions(registry: u64, account: u64): Scene {
    let mut s = scene::begin();
    s.create(OWNER);
    s.add(OWNER, first(), key(0), proof(0, first()), 3, 0, b"");
    s.offer(OWNER, first(), OTHER);
    s.set_versions(first(), registry, account);
    s
}

fun stale_registry(): Scene { of_versions(3, 2) }

fun stale_account(): Scene { of_versions(2, 3) }

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun create_registry() {
    let mut s = stale_registry();
    s.create(OTHER);
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun add_registry() {
    let mut s = stale_registry();
    s.add(OWNER, first(), key(1), proof(1, first()), 3, 0, b"");
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun add_account() {
    let mut s = stale_account();
    s.add(OWNER, first(), key(1), proof(1, first()), 3, 0, b"");
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun remove_registry() {
    let mut s = stale_registry();
    s.remove(OWNER, first(), key(0));
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun remove_account() {
    let mut s = stale_account();
    s.remove(OWNER, first(), key(0));
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun deactivate_account() {
    let mut s = stale_account();
    s.deactivate(OWNER, first());
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun reactivate_account() {
    let mut s = stale_account();
    s.reactivate(OWNER, first());
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun offer_registry() {
    let mut s = stale_registry();
    s.offer(OWNER, first(), @0xc);
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun offer_account() {
    let mut s = stale_account();
    s.offer(OWNER, first(), @0xc);
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun withdraw_account() {
    let mut s = stale_account();
    s.withdraw(OWNER, first());
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun accept_registry() {
    let mut s = stale_registry();
    s.accept(OTHER, first());
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun accept_account() {
    let mut s = stale_account();
    s.accept(OTHER, first());
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun close_registry() {
    let mut s = stale_registry();
    s.close(OWNER, first());
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun close_account() {
    let mut s = stale_account();
    s.close(OWNER, first());
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun approve_newer_account() {
    let mut s = stale_account();
    s.approve(OWNER, first(), identity(first(), 1));
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun approve_older_account() {
    let mut s = of_versions(2, 1);
    s.approve(OWNER, first(), identity(first(), 1));
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun add_bound_registry() {
    let mut s = stale_registry();
    s.add_bound(OWNER, first(), key(1), proof(1, first()), 3, 0, b"", vector[b"work"]);
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun add_bound_account() {
    let mut s = stale_account();
    s.add_bound(OWNER, first(), key(1), proof(1, first()), 3, 0, b"", vector[b"work"]);
    abort 0
}

#[test, expected_failure(abort_code = EVersion, location = svc::account)]
fun approve_namespace_of_a_newer_account() {
    let mut s = stale_account();
    s.approve_namespace(OWNER, first(), identity(first(), 1), b"", b"work");
    abort 0
}

/// The control: with the versions of this code, all of it works.
#[test]
fun own_versions() {
    let mut s = of_versions(2, 2);
    s.add(OWNER, first(), key(1), proof(1, first()), 3, 0, b"");
    s.remove(OWNER, first(), key(0));
    s.deactivate(OWNER, first());
    s.reactivate(OWNER, first());
    s.approve(OWNER, first(), identity(first(), 3));
    s.offer(OWNER, first(), @0xc);
    s.withdraw(OWNER, first());
    s.offer(OWNER, first(), OTHER);
    s.accept(OTHER, first());
    s.create(OWNER);
    assert!(s.of_owner(OWNER) != second());
    s.close(OTHER, first());
    s.end()
}
