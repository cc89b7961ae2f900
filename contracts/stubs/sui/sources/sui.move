// Interfaces of the modules at 0x2 that the contract calls. Bytecode links by address, module, name
// and signature, so these stand in for the published framework; `svc contract publish` compares
// every imported signature with the network. The bodies serve unit tests only.

module sui::address {
    public native fun from_bytes(bytes: vector<u8>): address;
}

module sui::hash {
    public native fun blake2b256(data: &vector<u8>): vector<u8>;
}

module sui::ed25519 {
    public native fun ed25519_verify(
        signature: &vector<u8>,
        public_key: &vector<u8>,
        msg: &vector<u8>,
    ): bool;
}

module sui::event {
    public native fun emit<T: copy + drop>(event: T);
    #[test_only]
    public native fun events_by_type<T: copy + drop>(): vector<T>;
}

module sui::tx_context {
    #[allow(unused_field)]
    public struct TxContext has drop {
        sender: address,
        tx_hash: vector<u8>,
        epoch: u64,
        epoch_timestamp_ms: u64,
        ids_created: u64,
    }

    public fun sender(_self: &TxContext): address { native_sender() }

    public fun fresh_object_address(_ctx: &mut TxContext): address { fresh_id() }

    native fun native_sender(): address;
    native fun fresh_id(): address;

    #[test_only]
    native fun replace(
        sender: address,
        tx_hash: vector<u8>,
        epoch: u64,
        epoch_timestamp_ms: u64,
        ids_created: u64,
        rgp: u64,
        gas_price: u64,
        gas_budget: u64,
        sponsor: vector<address>,
    );

    #[test_only]
    public fun new(
        sender: address,
        tx_hash: vector<u8>,
        epoch: u64,
        epoch_timestamp_ms: u64,
        ids_created: u64,
    ): TxContext {
        replace(sender, tx_hash, epoch, epoch_timestamp_ms, ids_created, 1, 1, 1, vector[]);
        TxContext { sender, tx_hash, epoch, epoch_timestamp_ms, ids_created }
    }

    // The hash is the hint, little-endian, filled up with zeros.
    #[test_only]
    public fun new_from_hint(
        sender: address,
        hint: u64,
        epoch: u64,
        epoch_timestamp_ms: u64,
        ids_created: u64,
    ): TxContext {
        let mut tx_hash = std::bcs::to_bytes(&hint);
        while (tx_hash.length() < 32) tx_hash.push_back(0);
        new(sender, tx_hash, epoch, epoch_timestamp_ms, ids_created)
    }
}

module sui::object {
    use sui::tx_context::TxContext;

    public struct ID has copy, drop, store { bytes: address }

    public struct UID has store { id: ID }

    public use fun id_to_bytes as ID.to_bytes;

    public fun id_to_bytes(id: &ID): vector<u8> { std::bcs::to_bytes(&id.bytes) }

    public use fun uid_to_address as UID.to_address;

    public fun uid_to_address(uid: &UID): address { uid.id.bytes }

    public fun id_from_address(bytes: address): ID { ID { bytes } }

    public fun new(ctx: &mut TxContext): UID {
        UID { id: ID { bytes: ctx.fresh_object_address() } }
    }

    public fun delete(id: UID) {
        let UID { id: ID { bytes } } = id;
        delete_impl(bytes)
    }

    public fun id<T: key>(obj: &T): ID { borrow_uid(obj).id }

    public(package) fun new_uid_from_hash(bytes: address): UID {
        record_new_uid(bytes);
        UID { id: ID { bytes } }
    }

    native fun borrow_uid<T: key>(obj: &T): &UID;
    native fun delete_impl(id: address);
    native fun record_new_uid(id: address);
}

module sui::transfer {
    public fun share_object<T: key>(obj: T) { share_object_impl(obj) }

    public(package) native fun share_object_impl<T: key>(obj: T);
}

module sui::clock {
    use sui::object::UID;
    #[test_only]
    use sui::tx_context::TxContext;

    public struct Clock has key { id: UID, timestamp_ms: u64 }

    public fun timestamp_ms(clock: &Clock): u64 { clock.timestamp_ms }

    #[test_only]
    public fun create_for_testing(ctx: &mut TxContext): Clock {
        Clock { id: sui::object::new(ctx), timestamp_ms: 0 }
    }

    #[test_only]
    public fun set_for_testing(clock: &mut Clock, timestamp_ms: u64) {
        clock.timestamp_ms = timestamp_ms
    }

    #[test_only]
    public fun destroy_for_testing(clock: Clock) {
        let Clock { id, timestamp_ms: _ } = clock;
        id.delete()
    }
}

module sui::dynamic_field {
    use sui::object::{Self, UID};

    public struct Field<Name: copy + drop + store, Value: store> has key {
        id: UID,
        name: Name,
        value: Value,
    }

    public fun add<Name: copy + drop + store, Value: store>(
        object: &mut UID,
        name: Name,
        value: Value,
    ) {
        let parent = object.to_address();
        let child = hash_type_and_key(parent, name);
        assert!(!has_child_object(parent, child), 0);
        let id = object::new_uid_from_hash(child);
        add_child_object(parent, Field { id, name, value })
    }

    public fun borrow<Name: copy + drop + store, Value: store>(object: &UID, name: Name): &Value {
        let child = hash_type_and_key(object.to_address(), name);
        &borrow_child_object<Field<Name, Value>>(object, child).value
    }

    public fun remove<Name: copy + drop + store, Value: store>(
        object: &mut UID,
        name: Name,
    ): Value {
        let parent = object.to_address();
        let child = hash_type_and_key(parent, name);
        let Field { id, name: _, value } = remove_child_object<Field<Name, Value>>(parent, child);
        id.delete();
        value
    }

    public fun exists_<Name: copy + drop + store>(object: &UID, name: Name): bool {
        let parent = object.to_address();
        has_child_object(parent, hash_type_and_key(parent, name))
    }

    public(package) native fun hash_type_and_key<K: copy + drop + store>(
        parent: address,
        k: K,
    ): address;
    public(package) native fun add_child_object<Child: key>(parent: address, child: Child);
    public(package) native fun borrow_child_object<Child: key>(object: &UID, id: address): &Child;
    public(package) native fun remove_child_object<Child: key>(parent: address, id: address): Child;
    public(package) native fun has_child_object(parent: address, id: address): bool;
}

// Transactions of a test, and the objects that one leaves to the next.
#[test_only]
module sui::test_scenario {
    use std::option::Option;
    use sui::object::{Self, ID};
    use sui::transfer;
    use sui::tx_context::{Self, TxContext};

    public struct Scenario { txn_number: u64, ctx: TxContext }

    public struct Entry<K: copy, V> has copy, drop, store { key: K, value: V }

    public struct VecMap<K: copy, V> has copy, drop, store { contents: vector<Entry<K, V>> }

    #[allow(unused_field)]
    public struct TransactionEffects has drop {
        created: vector<ID>,
        written: vector<ID>,
        deleted: vector<ID>,
        transferred_to_account: VecMap<ID, address>,
        transferred_to_object: VecMap<ID, ID>,
        shared: vector<ID>,
        frozen: vector<ID>,
        num_user_events: u64,
    }

    public fun begin(sender: address): Scenario {
        Scenario { txn_number: 0, ctx: tx_context::new_from_hint(sender, 0, 0, 0, 0) }
    }

    public fun next_tx(scenario: &mut Scenario, sender: address): TransactionEffects {
        scenario.txn_number = scenario.txn_number + 1;
        scenario.ctx = tx_context::new_from_hint(sender, scenario.txn_number, 0, 0, 0);
        end_transaction()
    }

    public fun end(scenario: Scenario): TransactionEffects {
        let Scenario { txn_number: _, ctx: _ } = scenario;
        end_transaction()
    }

    public fun ctx(scenario: &mut Scenario): &mut TxContext { &mut scenario.ctx }

    public fun take_shared<T: key>(scenario: &Scenario): T {
        let mut id = most_recent_id_shared<T>().to_vec();
        take_shared_by_id(scenario, id.pop_back())
    }

    public fun return_shared<T: key>(t: T) {
        assert!(was_taken_shared(object::id(&t)), 0);
        transfer::share_object_impl(t)
    }

    public native fun take_shared_by_id<T: key>(scenario: &Scenario, id: ID): T;
    public native fun most_recent_id_shared<T: key>(): Option<ID>;
    native fun was_taken_shared(id: ID): bool;
    native fun end_transaction(): TransactionEffects;
}
