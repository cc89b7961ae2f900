/// Accounts of svc, the keys that act for them, and the policy by which Seal's key servers give out
/// decryption keys.
///
/// - An owner has at most one account, a delegate key is listed in at most one. The registry's
///   dynamic fields map both to the account's id, so that one look-up finds it.
/// - A key is listed only with a proof that somebody holds it, for this very account.
/// - A key may be bound to namespaces: then Seal gives it the keys of these, and of no other.
/// - Whatever ends somebody's access raises the account's `generation`. New data is encrypted for
///   the current generation, so a key that was fetched before does not open it.
/// - Every function checks the version of the data it is given. After an upgrade the code of this
///   version refuses accounts that were migrated to the next one.
module svc::account;

use std::string::String;
use sui::clock::Clock;
use sui::dynamic_field as field;
use sui::event;
use svc::identity;
use svc::key_proof;
use svc::namespaces as names;

const ENotOwner: u64 = 1; // The caller is not the owner, nor whom the account was offered to.
const EBadKey: u64 = 2; // The public key does not have 32 bytes, or is of low order.
const EBadProof: u64 = 3; // The proof is not a signature by the key over the account's id.
const EKeyTaken: u64 = 4; // An account lists the key.
const ENoKey: u64 = 5; // The account does not list the key.
const ETooMany: u64 = 6; // The account has as many keys as it can.
const ELabel: u64 = 7; // The label is too long.
const EInactive: u64 = 8; // The account is deactivated.
const EExists: u64 = 9; // The address has an account.
const EVersion: u64 = 10; // The data is of another version than the code.
const EPermissions: u64 = 11; // The permissions are not a combination of READ, WRITE and MANAGE.
const EExpiry: u64 = 12; // The expiry is in the past.
const ENoOffer: u64 = 13; // The account is not offered to anybody.
const ENamespaces: u64 = 14; // The namespaces are not 1 to 32 of 1 to 256 bytes each.
const ENoAccess: u64 = 100; // The identity is another account's, or the caller may not read it.
const EBadId: u64 = 101; // Another form, no generation that exists, or not of the namespace.

const VERSION: u64 = 2; // Of the data that this code understands.
const FIRST_GENERATION: u64 = 1;
const MAX_KEYS: u64 = 20;
const MAX_LABEL: u64 = 64; // Bytes of UTF-8.

const READ: u8 = 1; // Seal gives the key's holder decryption keys.
const WRITE: u8 = 2; // A relayer takes memories from the key's holder.
const MANAGE: u8 = 4; // Correcting and forgetting by tools; relayers check it.

/// Finds accounts: dynamic fields `OwnerKey` and `DelegateIndex`, both to the account's id.
public struct Registry has key { id: UID, version: u64 }

/// Name of the field for an owner.
public struct OwnerKey has copy, drop, store { owner: address }

/// Name of the field for a delegate key.
public struct DelegateIndex has copy, drop, store { public_key: vector<u8> }

/// An account. Times are milliseconds since the epoch.
public struct SvcAccount has key {
    id: UID,
    version: u64,
    owner: address,
    /// Who may become the owner.
    pending_owner: Option<address>,
    delegate_keys: vector<DelegateKey>,
    created_at: u64,
    /// While false, nobody is given decryption keys, the owner included.
    active: bool,
    generation: u64,
}

/// A key that acts for an account.
public struct DelegateKey has copy, drop, store {
    /// Ed25519, 32 bytes.
    public_key: vector<u8>,
    /// Derived from the key on chain.
    sui_address: address,
    label: String,
    /// READ, WRITE or both.
    permissions: u8,
    created_at: u64,
    /// From then on it is worth nothing; 0 = never.
    expires_at: u64,
    /// Generation of the account when it was added.
    since_generation: u64,
    /// What it is bound to, each as it is or a beginning that ends in `/`; empty = all.
    namespaces: vector<String>,
}

public struct AccountCreated has copy, drop { account_id: ID, owner: address }

public struct KeyAdded has copy, drop {
    account_id: ID,
    public_key: vector<u8>,
    sui_address: address,
    permissions: u8,
    expires_at: u64,
}

/// `generation` is the one that begins with the removal.
public struct KeyRemoved has copy, drop { account_id: ID, public_key: vector<u8>, generation: u64 }

public struct ActiveChanged has copy, drop { account_id: ID, active: bool, generation: u64 }

/// Without `pending_owner`, an offer was withdrawn.
public struct OwnershipOffered has copy, drop {
    account_id: ID,
    owner: address,
    pending_owner: Option<address>,
}

public struct OwnershipTransferred has copy, drop {
    account_id: ID,
    from: address,
    to: address,
    generation: u64,
}

public struct AccountClosed has copy, drop { account_id: ID, owner: address }

fun init(ctx: &mut TxContext) { share_registry(ctx) }

/// Shares the one registry of this package. Not in `init` itself, which tests cannot call.
fun share_registry(ctx: &mut TxContext) {
    transfer::share_object(Registry { id: object::new(ctx), version: VERSION })
}

/// Makes the sender's account, without keys.
entry fun create_account(registry: &mut Registry, clock: &Clock, ctx: &mut TxContext) {
    assert!(registry.version == VERSION, EVersion);
    let owner = ctx.sender();
    assert!(!field::exists_(&registry.id, OwnerKey { owner }), EExists);
    let account = SvcAccount {
        id: object::new(ctx),
        version: VERSION,
        owner,
        pending_owner: option::none(),
        delegate_keys: vector[],
        created_at: clock.timestamp_ms(),
        active: true,
        generation: FIRST_GENERATION,
    };
    let account_id = object::id(&account);
    field::add(&mut registry.id, OwnerKey { owner }, account_id);
    event::emit(AccountCreated { account_id, owner });
    transfer::share_object(account)
}

/// Lists a key of all namespaces. Keys that have expired leave the account first.
///
/// - `proof`: the key's signature over `svc-delegate-v1:` and the 32 bytes of the account's id.
/// - `permissions`: one or more of READ, WRITE and MANAGE.
/// - `expires_at`: milliseconds since the epoch; 0 = never.
entry fun add_delegate_key(
    registry: &mut Registry,
    account: &mut SvcAccount,
    public_key: vector<u8>,
    proof: vector<u8>,
    permissions: u8,
    expires_at: u64,
    label: String,
    clock: &Clock,
    ctx: &TxContext,
) {
    assert!(registry.version == VERSION, EVersion);
    account.check_owner(ctx);
    let key = new_key(account, public_key, permissions, expires_at, label, vector[], clock);
    registry.list(account, key, proof)
}

/// Lists a key that is bound to namespaces, as `add_delegate_key` lists others.
///
/// - `namespaces`: 1 to 32, each as it is, or a beginning that ends in `/`.
entry fun add_bound_key(
    registry: &mut Registry,
    account: &mut SvcAccount,
    public_key: vector<u8>,
    proof: vector<u8>,
    permissions: u8,
    expires_at: u64,
    label: String,
    namespaces: vector<String>,
    clock: &Clock,
    ctx: &TxContext,
) {
    assert!(registry.version == VERSION, EVersion);
    account.check_owner(ctx);
    assert!(names::are_acceptable(&namespaces), ENamespaces);
    let key = new_key(account, public_key, permissions, expires_at, label, namespaces, clock);
    registry.list(account, key, proof)
}

/// A key as it is listed, if all but its proof and its place is right.
fun new_key(
    account: &SvcAccount,
    public_key: vector<u8>,
    permissions: u8,
    expires_at: u64,
    label: String,
    namespaces: vector<String>,
    clock: &Clock,
): DelegateKey {
    assert!(account.active, EInactive);
    assert!(key_proof::is_acceptable(&public_key), EBadKey);
    assert!(permissions > 0 && permissions <= READ | WRITE | MANAGE, EPermissions);
    let now = clock.timestamp_ms();
    assert!(expires_at == 0 || expires_at > now, EExpiry);
    assert!(label.length() <= MAX_LABEL, ELabel);
    DelegateKey {
        public_key,
        sui_address: key_proof::address_of(&public_key),
        label,
        permissions,
        created_at: now,
        expires_at,
        since_generation: account.generation,
        namespaces,
    }
}

/// Lists a new key, which no account may list, in an account that has room.
fun list(registry: &mut Registry, account: &mut SvcAccount, mut key: DelegateKey, proof: vector<u8>) {
    registry.drop_expired(account, key.created_at);
    key.since_generation = account.generation;
    assert!(account.delegate_keys.length() < MAX_KEYS, ETooMany);
    let account_id = object::id(account);
    let DelegateKey { public_key, sui_address, permissions, expires_at, .. } = key;
    assert!(key_proof::is_held(&public_key, &proof, account_id), EBadProof);
    let name = DelegateIndex { public_key };
    assert!(!field::exists_(&registry.id, name), EKeyTaken);
    field::add(&mut registry.id, name, account_id);
    account.delegate_keys.push_back(key);
    event::emit(KeyAdded { account_id, public_key, sui_address, permissions, expires_at })
}

/// Takes a key off the list; works on a deactivated account too.
entry fun remove_delegate_key(
    registry: &mut Registry,
    account: &mut SvcAccount,
    public_key: vector<u8>,
    ctx: &TxContext,
) {
    assert!(registry.version == VERSION, EVersion);
    account.check_owner(ctx);
    let mut i = 0;
    let count = account.delegate_keys.length();
    while (i < count && account.delegate_keys[i].public_key != public_key) i = i + 1;
    assert!(i < count, ENoKey);
    account.generation = account.generation + 1;
    registry.drop_key(account, i)
}

/// Stops everybody's access to keys, the owner's included, until `reactivate_account`.
entry fun deactivate_account(account: &mut SvcAccount, ctx: &TxContext) {
    account.check_owner(ctx);
    account.generation = account.generation + 1;
    account.set_active(false)
}

/// Ends a deactivation; the listed keys work again.
entry fun reactivate_account(account: &mut SvcAccount, ctx: &TxContext) {
    account.check_owner(ctx);
    account.set_active(true)
}

/// Offers the account to an address without one; replaces an earlier offer. Nothing else changes
/// until the address accepts.
entry fun offer_ownership(
    registry: &Registry,
    account: &mut SvcAccount,
    new_owner: address,
    ctx: &TxContext,
) {
    assert!(registry.version == VERSION, EVersion);
    account.check_owner(ctx);
    assert!(!field::exists_(&registry.id, OwnerKey { owner: new_owner }), EExists);
    account.set_offer(option::some(new_owner))
}

/// Takes the offer back.
entry fun withdraw_offer(account: &mut SvcAccount, ctx: &TxContext) {
    account.check_owner(ctx);
    assert!(account.pending_owner.is_some(), ENoOffer);
    account.set_offer(option::none())
}

/// Makes the sender, whom the account was offered to, its owner. Delegate keys stay, except one of
/// the former owner's own address: they would keep access by it.
entry fun accept_ownership(registry: &mut Registry, account: &mut SvcAccount, ctx: &TxContext) {
    assert!(registry.version == VERSION, EVersion);
    assert!(account.version == VERSION, EVersion);
    assert!(account.pending_owner.is_some(), ENoOffer);
    let from = account.owner;
    let to = ctx.sender();
    assert!(account.pending_owner.contains(&to), ENotOwner);
    assert!(!field::exists_(&registry.id, OwnerKey { owner: to }), EExists);
    let account_id: ID = field::remove(&mut registry.id, OwnerKey { owner: from });
    field::add(&mut registry.id, OwnerKey { owner: to }, account_id);
    account.owner = to;
    account.pending_owner = option::none();
    account.generation = account.generation + 1;
    let mut i = 0;
    while (i < account.delegate_keys.length()) {
        if (account.delegate_keys[i].sui_address == from) registry.drop_key(account, i)
        else i = i + 1
    };
    event::emit(OwnershipTransferred { account_id, from, to, generation: account.generation })
}

/// Deletes the account. Seal never gives out one of its keys again, whoever makes an account later.
entry fun close_account(registry: &mut Registry, account: SvcAccount, ctx: &TxContext) {
    assert!(registry.version == VERSION, EVersion);
    account.check_owner(ctx);
    let account_id = object::id(&account);
    let SvcAccount { id, owner, mut delegate_keys, .. } = account;
    while (delegate_keys.length() > 0) {
        let DelegateKey { public_key, .. } = delegate_keys.pop_back();
        let _: ID = field::remove(&mut registry.id, DelegateIndex { public_key });
    };
    let _: ID = field::remove(&mut registry.id, OwnerKey { owner });
    id.delete();
    event::emit(AccountClosed { account_id, owner })
}

/// Lifts an account's data to this version. There is nothing to lift: accounts of version 1 have
/// another form, and belong to packages of their own.
entry fun migrate_account(account: &mut SvcAccount, ctx: &TxContext) {
    assert!(account.owner == ctx.sender(), ENotOwner);
    assert!(account.version < VERSION, EVersion);
    account.version = VERSION
}

/// Passes when a key server may give the sender the decryption key of an identity. In every branch
/// the identity must be of this account, and of a generation that exists. Keys that are bound to
/// namespaces ask `seal_approve_namespace`.
///
/// - `id`: the identity without the package's prefix, as module `identity` describes it.
entry fun seal_approve(id: vector<u8>, account: &SvcAccount, clock: &Clock, ctx: &TxContext) {
    account.check_identity(&id);
    account.check_reader(&vector[], clock, ctx)
}

/// As `seal_approve`, for keys that are bound to namespaces, too: the caller says which namespace
/// the identity is of, and the identity's hash must prove it.
///
/// - `owner`: text of the owner that the identity's scope was made with.
/// - `namespace`: name of the namespace, UTF-8.
entry fun seal_approve_namespace(
    id: vector<u8>,
    owner: vector<u8>,
    namespace: vector<u8>,
    account: &SvcAccount,
    clock: &Clock,
    ctx: &TxContext,
) {
    account.check_identity(&id);
    assert!(identity::is_in(&id, &owner, &namespace), EBadId);
    account.check_reader(&namespace, clock, ctx)
}

fun check_identity(account: &SvcAccount, id: &vector<u8>) {
    assert!(account.version == VERSION, EVersion);
    assert!(account.active, EInactive);
    assert!(identity::has_form(id), EBadId);
    assert!(identity::is_of(id, object::id(account)), ENoAccess);
    let generation = identity::generation(id);
    assert!(generation >= FIRST_GENERATION && generation <= account.generation, EBadId)
}

/// - `namespace`: empty where it is not known, which is none that a key can be bound to.
fun check_reader(account: &SvcAccount, namespace: &vector<u8>, clock: &Clock, ctx: &TxContext) {
    let caller = ctx.sender();
    let is_reader = caller == account.owner
        || account.may_read(caller, namespace, clock.timestamp_ms());
    assert!(is_reader, ENoAccess)
}

/// Whether an address is that of a listed key that may read a namespace, and has not expired.
fun may_read(account: &SvcAccount, caller: address, namespace: &vector<u8>, now: u64): bool {
    let mut i = 0;
    while (i < account.delegate_keys.length()) {
        let key = &account.delegate_keys[i];
        if (key.sui_address == caller) {
            return key.permissions & READ != 0
                && !key.is_expired(now)
                && (key.namespaces.is_empty() || names::include(&key.namespaces, namespace))
        };
        i = i + 1;
    };
    false
}

fun is_expired(key: &DelegateKey, now: u64): bool { key.expires_at != 0 && key.expires_at <= now }

/// Drops every expired key; together they begin one new generation.
fun drop_expired(registry: &mut Registry, account: &mut SvcAccount, now: u64) {
    let mut found = false;
    let mut i = 0;
    while (i < account.delegate_keys.length()) {
        if (!account.delegate_keys[i].is_expired(now)) {
            i = i + 1;
            continue
        };
        if (!found) account.generation = account.generation + 1;
        found = true;
        registry.drop_key(account, i)
    }
}

/// Takes the key at a position out of the list and of the index.
fun drop_key(registry: &mut Registry, account: &mut SvcAccount, i: u64) {
    let DelegateKey { public_key, .. } = account.delegate_keys.remove(i);
    let account_id: ID = field::remove(&mut registry.id, DelegateIndex { public_key });
    event::emit(KeyRemoved { account_id, public_key, generation: account.generation })
}

fun set_active(account: &mut SvcAccount, active: bool) {
    account.active = active;
    let generation = account.generation;
    event::emit(ActiveChanged { account_id: object::id(account), active, generation })
}

fun set_offer(account: &mut SvcAccount, pending_owner: Option<address>) {
    account.pending_owner = pending_owner;
    let owner = account.owner;
    event::emit(OwnershipOffered { account_id: object::id(account), owner, pending_owner })
}

fun check_owner(account: &SvcAccount, ctx: &TxContext) {
    assert!(account.version == VERSION, EVersion);
    assert!(account.owner == ctx.sender(), ENotOwner)
}
