/// Keys that are bound to namespaces: which lists they can have, and what Seal gives them.
#[test_only]
module svc::bound_tests;

use svc::account::{EBadId, EInactive, ENamespaces, ENoAccess, ENotOwner};
use svc::scene::{Self, Scene};
use svc::vectors::{first, second, key, address_of, proof, identity, identity_in};

const OWNER: address = @0xa;
const WORK: u64 = 0;
const DAY: u64 = 1;
const SECRET: u64 = 2;
const WORK2: u64 = 3;
const NOTES: u64 = 4;
const NOTES_SLASH: u64 = 5;

fun add(s: &mut Scene, permissions: u8, expires_at: u64, names: vector<vector<u8>>) {
    s.add_bound(OWNER, first(), key(0), proof(0, first()), permissions, expires_at, b"", names)
}

/// An account with a key that reads `work` and all that begins with `notes/`, until 100.
fun account(): Scene {
    let mut s = scene::begin();
    s.create(OWNER);
    add(&mut s, 1, 100, vector[b"work", b"notes/"]);
    s
}

fun ask(s: &mut Scene, caller: address, n: u64, namespace: vector<u8>) {
    s.approve_namespace(caller, first(), identity_in(first(), n), b"me", namespace)
}

fun name_of(length: u64): vector<u8> {
    let mut name = vector[];
    while (name.length() < length) name.push_back(97);
    name
}

#[test]
fun its_own_namespaces() {
    let mut s = account();
    ask(&mut s, address_of(0), WORK, b"work");
    ask(&mut s, address_of(0), DAY, b"notes/day");
    ask(&mut s, address_of(0), NOTES_SLASH, b"notes/");
    s.end()
}

#[test]
fun owner_and_unbound_keys_may_name_any() {
    let mut s = account();
    s.add(OWNER, first(), key(1), proof(1, first()), 1, 0, b"");
    ask(&mut s, OWNER, SECRET, b"secret");
    ask(&mut s, address_of(1), SECRET, b"secret");
    s.approve(address_of(1), first(), identity_in(first(), SECRET));
    s.end()
}

#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun a_foreign_namespace() {
    let mut s = account();
    ask(&mut s, address_of(0), SECRET, b"secret");
    abort 0
}

/// A name is whole unless it ends in a slash.
#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun a_namespace_that_begins_like_its_own() {
    let mut s = account();
    ask(&mut s, address_of(0), WORK2, b"work2");
    abort 0
}

#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun a_beginning_without_its_slash() {
    let mut s = account();
    ask(&mut s, address_of(0), NOTES, b"notes");
    abort 0
}

#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun a_foreign_namespace_under_its_own_name() {
    let mut s = account();
    ask(&mut s, address_of(0), SECRET, b"work");
    abort 0
}

/// The lengths are part of what is hashed.
#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun bytes_moved_from_the_owner_to_the_namespace() {
    let mut s = account();
    let id = identity_in(first(), WORK);
    s.approve_namespace(address_of(0), first(), id, b"m", b"ework");
    abort 0
}

#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun a_namespace_of_another_owner_text() {
    let mut s = account();
    s.approve_namespace(address_of(0), first(), identity_in(first(), WORK), b"you", b"work");
    abort 0
}

/// Without a name the key would be one of all namespaces.
#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun without_a_name() {
    let mut s = account();
    s.approve(address_of(0), first(), identity_in(first(), WORK));
    abort 0
}

#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun a_scope_that_is_no_hash() {
    let mut s = account();
    s.approve_namespace(address_of(0), first(), identity(first(), 1), b"", b"");
    abort 0
}

#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun another_account() {
    let mut s = account();
    s.create(@0xb);
    let id = identity_in(second(), WORK);
    s.approve_namespace(address_of(0), first(), id, b"me", b"work");
    abort 0
}

#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun a_generation_to_come() {
    let mut s = account();
    let mut id = identity_in(first(), WORK);
    let byte = &mut id[39];
    *byte = 2;
    s.approve_namespace(address_of(0), first(), id, b"me", b"work");
    abort 0
}

#[test, expected_failure(abort_code = EBadId, location = svc::account)]
fun a_shorter_identity() {
    let mut s = account();
    let mut id = identity_in(first(), WORK);
    id.pop_back();
    s.approve_namespace(address_of(0), first(), id, b"me", b"work");
    abort 0
}

#[test, expected_failure(abort_code = EInactive, location = svc::account)]
fun a_deactivated_account() {
    let mut s = account();
    s.deactivate(OWNER, first());
    ask(&mut s, address_of(0), WORK, b"work");
    abort 0
}

#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun an_expired_key() {
    let mut s = account();
    s.at(100);
    ask(&mut s, address_of(0), WORK, b"work");
    abort 0
}

#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun a_key_that_only_writes() {
    let mut s = scene::begin();
    s.create(OWNER);
    add(&mut s, 2, 0, vector[b"work"]);
    ask(&mut s, address_of(0), WORK, b"work");
    abort 0
}

#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun a_removed_key() {
    let mut s = account();
    s.remove(OWNER, first(), key(0));
    ask(&mut s, address_of(0), WORK, b"work");
    abort 0
}

#[test]
fun the_longest_list() {
    let mut s = scene::begin();
    s.create(OWNER);
    let mut names = vector[b"work"];
    while (names.length() < 32) names.push_back(name_of(256));
    add(&mut s, 1, 0, names);
    ask(&mut s, address_of(0), WORK, b"work");
    s.end()
}

#[test, expected_failure(abort_code = ENamespaces, location = svc::account)]
fun one_name_too_many() {
    let mut s = scene::begin();
    s.create(OWNER);
    let mut names = vector[];
    while (names.length() < 33) names.push_back(b"work");
    add(&mut s, 1, 0, names);
    abort 0
}

#[test, expected_failure(abort_code = ENamespaces, location = svc::account)]
fun a_name_too_long() {
    let mut s = scene::begin();
    s.create(OWNER);
    add(&mut s, 1, 0, vector[name_of(257)]);
    abort 0
}

/// To nothing at all would be to everything.
#[test, expected_failure(abort_code = ENamespaces, location = svc::account)]
fun no_names() {
    let mut s = scene::begin();
    s.create(OWNER);
    add(&mut s, 1, 0, vector[]);
    abort 0
}

#[test, expected_failure(abort_code = ENamespaces, location = svc::account)]
fun an_empty_name() {
    let mut s = scene::begin();
    s.create(OWNER);
    add(&mut s, 1, 0, vector[b"work", b""]);
    abort 0
}

#[test, expected_failure(abort_code = ENotOwner, location = svc::account)]
fun bound_by_a_stranger() {
    let mut s = scene::begin();
    s.create(OWNER);
    s.add_bound(@0xb, first(), key(0), proof(0, first()), 1, 0, b"", vector[b"work"]);
    abort 0
}

/// Somebody who was bound is bound to the new list alone, when the owner adds the key again.
#[test, expected_failure(abort_code = ENoAccess, location = svc::account)]
fun added_again_with_another_list() {
    let mut s = account();
    s.remove(OWNER, first(), key(0));
    add(&mut s, 1, 0, vector[b"secret"]);
    ask(&mut s, address_of(0), SECRET, b"secret");
    ask(&mut s, address_of(0), WORK, b"work");
    abort 0
}
