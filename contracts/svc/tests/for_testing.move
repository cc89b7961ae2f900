/// Opens the module to tests: entry functions are callable from transactions only. Never part of a
/// published package.
#[test_only]
extend module svc::account {
    public fun init_for_testing(ctx: &mut TxContext) { share_registry(ctx) }

    public fun create(registry: &mut Registry, clock: &Clock, ctx: &mut TxContext) {
        create_account(registry, clock, ctx)
    }

    public fun add(
        registry: &mut Registry,
        account: &mut SvcAccount,
        public_key: vector<u8>,
        proof: vector<u8>,
        permissions: u8,
        expires_at: u64,
        label: vector<u8>,
        clock: &Clock,
        ctx: &TxContext,
    ) {
        let label = std::string::utf8(label);
        add_delegate_key(
            registry,
            account,
            public_key,
            proof,
            permissions,
            expires_at,
            label,
            clock,
            ctx,
        )
    }

    public fun add_bound(
        registry: &mut Registry,
        account: &mut SvcAccount,
        public_key: vector<u8>,
        proof: vector<u8>,
        permissions: u8,
        expires_at: u64,
        label: vector<u8>,
        names: vector<vector<u8>>,
        clock: &Clock,
        ctx: &TxContext,
    ) {
        let label = std::string::utf8(label);
        let mut namespaces = vector[];
        let mut i = 0;
        while (i < names.length()) {
            namespaces.push_back(std::string::utf8(names[i]));
            i = i + 1
        };
        add_bound_key(
            registry,
            account,
            public_key,
            proof,
            permissions,
            expires_at,
            label,
            namespaces,
            clock,
            ctx,
        )
    }

    public fun remove(
        registry: &mut Registry,
        account: &mut SvcAccount,
        public_key: vector<u8>,
        ctx: &TxContext,
    ) { remove_delegate_key(registry, account, public_key, ctx) }

    public fun deactivate(account: &mut SvcAccount, ctx: &TxContext) {
        deactivate_account(account, ctx)
    }

    public fun reactivate(account: &mut SvcAccount, ctx: &TxContext) {
        reactivate_account(account, ctx)
    }

    public fun offer(r: &Registry, a: &mut SvcAccount, new_owner: address, ctx: &TxContext) {
        offer_ownership(r, a, new_owner, ctx)
    }

    public fun withdraw(account: &mut SvcAccount, ctx: &TxContext) { withdraw_offer(account, ctx) }

    public fun accept(registry: &mut Registry, account: &mut SvcAccount, ctx: &TxContext) {
        accept_ownership(registry, account, ctx)
    }

    public fun close(registry: &mut Registry, account: SvcAccount, ctx: &TxContext) {
        close_account(registry, account, ctx)
    }

    public fun migrate(account: &mut SvcAccount, ctx: &TxContext) { migrate_account(account, ctx) }

    public fun approve(id: vector<u8>, account: &SvcAccount, clock: &Clock, ctx: &TxContext) {
        seal_approve(id, account, clock, ctx)
    }

    public fun approve_namespace(
        id: vector<u8>,
        owner: vector<u8>,
        namespace: vector<u8>,
        account: &SvcAccount,
        clock: &Clock,
        ctx: &TxContext,
    ) { seal_approve_namespace(id, owner, namespace, account, clock, ctx) }

    /// Lists a key without any check.
    public fun list_key(
        registry: &mut Registry,
        account: &mut SvcAccount,
        public_key: vector<u8>,
        permissions: u8,
        expires_at: u64,
        names: vector<vector<u8>>,
    ) {
        let mut namespaces = vector[];
        let mut i = 0;
        while (i < names.length()) {
            namespaces.push_back(std::string::utf8(names[i]));
            i = i + 1
        };
        field::add(&mut registry.id, DelegateIndex { public_key }, object::id(account));
        account
            .delegate_keys
            .push_back(DelegateKey {
                public_key,
                sui_address: key_proof::address_of(&public_key),
                label: std::string::utf8(b""),
                permissions,
                created_at: 0,
                expires_at,
                since_generation: account.generation,
                namespaces,
            })
    }

    public fun set_account_version(account: &mut SvcAccount, version: u64) {
        account.version = version
    }

    public fun set_registry_version(registry: &mut Registry, version: u64) {
        registry.version = version
    }

    public fun set_generation(account: &mut SvcAccount, generation: u64) {
        account.generation = generation
    }

    /// Account of an owner; the registry's own id when there is none.
    public fun of_owner(registry: &Registry, owner: address): ID {
        let name = OwnerKey { owner };
        if (!field::exists_(&registry.id, name)) return object::id(registry);
        *field::borrow(&registry.id, name)
    }

    /// Account that lists a key; the registry's own id when there is none.
    public fun of_key(registry: &Registry, public_key: vector<u8>): ID {
        let name = DelegateIndex { public_key };
        if (!field::exists_(&registry.id, name)) return object::id(registry);
        *field::borrow(&registry.id, name)
    }

    public fun version(account: &SvcAccount): u64 { account.version }

    public fun generation(account: &SvcAccount): u64 { account.generation }

    public fun owner(account: &SvcAccount): address { account.owner }

    public fun is_active(account: &SvcAccount): bool { account.active }

    public fun has_offer(account: &SvcAccount): bool { account.pending_owner.is_some() }

    public fun keys(account: &SvcAccount): u64 { account.delegate_keys.length() }

    public fun key_at(account: &SvcAccount, i: u64): vector<u8> {
        account.delegate_keys[i].public_key
    }

    public fun key_address(account: &SvcAccount, i: u64): address {
        account.delegate_keys[i].sui_address
    }

    public fun key_since(account: &SvcAccount, i: u64): u64 {
        account.delegate_keys[i].since_generation
    }

    public fun removed_event(account_id: ID, public_key: vector<u8>, generation: u64): KeyRemoved {
        KeyRemoved { account_id, public_key, generation }
    }

    /// Events of the transaction: one vector a type, in the order of the source.
    public fun event_bytes(): vector<u8> {
        let mut bytes = vector[];
        bytes.append(std::bcs::to_bytes(&event::events_by_type<AccountCreated>()));
        bytes.append(std::bcs::to_bytes(&event::events_by_type<KeyAdded>()));
        bytes.append(std::bcs::to_bytes(&event::events_by_type<KeyRemoved>()));
        bytes.append(std::bcs::to_bytes(&event::events_by_type<ActiveChanged>()));
        bytes.append(std::bcs::to_bytes(&event::events_by_type<OwnershipOffered>()));
        bytes.append(std::bcs::to_bytes(&event::events_by_type<OwnershipTransferred>()));
        bytes.append(std::bcs::to_bytes(&event::events_by_type<AccountClosed>()));
        bytes
    }
}
