/// One registry, some accounts and a clock; every call is a transaction of its own.
#[test_only]
module svc::scene;

use svc::account::{Self, Registry, SvcAccount};
use sui::clock::{Self, Clock};
use sui::test_scenario::{Self as scenario, Scenario};

public struct Scene { scenario: Scenario, clock: Clock }

/// The registry alone. The account that the first call makes is `vectors::first()`, that of the
/// second one `vectors::second()`.
public fun begin(): Scene {
    let mut s = scenario::begin(@0xdead);
    account::init_for_testing(s.ctx());
    let clock = clock::create_for_testing(s.ctx());
    Scene { scenario: s, clock }
}

public fun end(self: Scene) {
    let Scene { scenario, clock } = self;
    clock.destroy_for_testing();
    scenario.end();
}

public fun at(self: &mut Scene, ms: u64) { self.clock.set_for_testing(ms) }

public fun create(self: &mut Scene, sender: address) {
    self.scenario.next_tx(sender);
    let mut r = self.scenario.take_shared<Registry>();
    account::create(&mut r, &self.clock, self.scenario.ctx());
    scenario::return_shared(r)
}

public fun add(
    self: &mut Scene,
    sender: address,
    id: address,
    public_key: vector<u8>,
    proof: vector<u8>,
    permissions: u8,
    expires_at: u64,
    label: vector<u8>,
) {
    let (mut r, mut a) = self.take(sender, id);
    account::add(
        &mut r,
        &mut a,
        public_key,
        proof,
        permissions,
        expires_at,
        label,
        &self.clock,
        self.scenario.ctx(),
    );
    give_back(r, a)
}

/// Lists a key that is bound to namespaces.
public fun add_bound(
    self: &mut Scene,
    sender: address,
    id: address,
    public_key: vector<u8>,
    proof: vector<u8>,
    permissions: u8,
    expires_at: u64,
    label: vector<u8>,
    names: vector<vector<u8>>,
) {
    let (mut r, mut a) = self.take(sender, id);
    account::add_bound(
        &mut r,
        &mut a,
        public_key,
        proof,
        permissions,
        expires_at,
        label,
        names,
        &self.clock,
        self.scenario.ctx(),
    );
    give_back(r, a)
}

/// Lists a key without any check.
public fun list(self: &mut Scene, id: address, public_key: vector<u8>, permissions: u8, end: u64) {
    self.list_bound(id, public_key, permissions, end, vector[])
}

/// Lists a key of namespaces without any check.
public fun list_bound(
    self: &mut Scene,
    id: address,
    public_key: vector<u8>,
    permissions: u8,
    end: u64,
    names: vector<vector<u8>>,
) {
    let (mut r, mut a) = self.take(@0x0, id);
    account::list_key(&mut r, &mut a, public_key, permissions, end, names);
    give_back(r, a)
}

public fun remove(self: &mut Scene, sender: address, id: address, public_key: vector<u8>) {
    let (mut r, mut a) = self.take(sender, id);
    account::remove(&mut r, &mut a, public_key, self.scenario.ctx());
    give_back(r, a)
}

public fun deactivate(self: &mut Scene, sender: address, id: address) {
    let (r, mut a) = self.take(sender, id);
    account::deactivate(&mut a, self.scenario.ctx());
    give_back(r, a)
}

public fun reactivate(self: &mut Scene, sender: address, id: address) {
    let (r, mut a) = self.take(sender, id);
    account::reactivate(&mut a, self.scenario.ctx());
    give_back(r, a)
}

public fun offer(self: &mut Scene, sender: address, id: address, new_owner: address) {
    let (r, mut a) = self.take(sender, id);
    account::offer(&r, &mut a, new_owner, self.scenario.ctx());
    give_back(r, a)
}

public fun withdraw(self: &mut Scene, sender: address, id: address) {
    let (r, mut a) = self.take(sender, id);
    account::withdraw(&mut a, self.scenario.ctx());
    give_back(r, a)
}

public fun accept(self: &mut Scene, sender: address, id: address) {
    let (mut r, mut a) = self.take(sender, id);
    account::accept(&mut r, &mut a, self.scenario.ctx());
    give_back(r, a)
}

public fun close(self: &mut Scene, sender: address, id: address) {
    let (mut r, a) = self.take(sender, id);
    account::close(&mut r, a, self.scenario.ctx());
    scenario::return_shared(r)
}

public fun migrate(self: &mut Scene, sender: address, id: address) {
    let (r, mut a) = self.take(sender, id);
    account::migrate(&mut a, self.scenario.ctx());
    give_back(r, a)
}

/// Asks for the key of an identity.
public fun approve(self: &mut Scene, sender: address, id: address, identity: vector<u8>) {
    let (r, a) = self.take(sender, id);
    account::approve(identity, &a, &self.clock, self.scenario.ctx());
    give_back(r, a)
}

/// Asks for the key of an identity, and says which namespace it is of.
public fun approve_namespace(
    self: &mut Scene,
    sender: address,
    id: address,
    identity: vector<u8>,
    owner: vector<u8>,
    namespace: vector<u8>,
) {
    let (r, a) = self.take(sender, id);
    account::approve_namespace(identity, owner, namespace, &a, &self.clock, self.scenario.ctx());
    give_back(r, a)
}

/// Gives the registry and an account other versions.
public fun set_versions(self: &mut Scene, id: address, registry: u64, account: u64) {
    let (mut r, mut a) = self.take(@0x0, id);
    account::set_registry_version(&mut r, registry);
    account::set_account_version(&mut a, account);
    give_back(r, a)
}

public fun set_generation(self: &mut Scene, id: address, generation: u64) {
    let (r, mut a) = self.take(@0x0, id);
    account::set_generation(&mut a, generation);
    give_back(r, a)
}

/// Account of an owner; not an account's id when there is none.
public fun of_owner(self: &mut Scene, owner: address): address {
    self.scenario.next_tx(@0x0);
    let r = self.scenario.take_shared<Registry>();
    let id = r.of_owner(owner);
    scenario::return_shared(r);
    sui::address::from_bytes(id.to_bytes())
}

/// Account that lists a key; not an account's id when there is none.
public fun of_key(self: &mut Scene, public_key: vector<u8>): address {
    self.scenario.next_tx(@0x0);
    let r = self.scenario.take_shared<Registry>();
    let id = r.of_key(public_key);
    scenario::return_shared(r);
    sui::address::from_bytes(id.to_bytes())
}

/// Whether an answer of `of_owner` or `of_key` is the id of an account.
public fun is_account(self: &mut Scene, id: address): bool {
    self.scenario.next_tx(@0x0);
    let r = self.scenario.take_shared<Registry>();
    let registry = sui::object::id(&r);
    scenario::return_shared(r);
    sui::object::id_from_address(id) != registry
}

/// BCS of an account.
public fun bytes(self: &mut Scene, id: address): vector<u8> {
    let (r, a) = self.take(@0x0, id);
    let bytes = std::bcs::to_bytes(&a);
    give_back(r, a);
    bytes
}

/// Registry and account, in a new transaction.
public fun take(self: &mut Scene, sender: address, id: address): (Registry, SvcAccount) {
    self.scenario.next_tx(sender);
    let r = self.scenario.take_shared<Registry>();
    let a = self.scenario.take_shared_by_id<SvcAccount>(sui::object::id_from_address(id));
    (r, a)
}

public fun give_back(r: Registry, a: SvcAccount) {
    scenario::return_shared(r);
    scenario::return_shared(a)
}
