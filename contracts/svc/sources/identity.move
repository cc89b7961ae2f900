/// Seal identities without the package's prefix: account id (32 bytes) | generation (8, big-endian)
/// | scope (32).
module svc::identity;

/// Bytes of an account id.
const ID_BYTES: u64 = 32;
/// Where the generation ends and the scope begins.
const SCOPE_START: u64 = 40;
/// Bytes of an identity.
const BYTES: u64 = 72;

/// Whether bytes can be an identity: of this length and no other.
public(package) fun has_form(id: &vector<u8>): bool { id.length() == BYTES }

/// Whether an identity is of an account.
public(package) fun is_of(id: &vector<u8>, account_id: ID): bool {
    let account_id = account_id.to_bytes();
    let mut i = 0;
    while (i < ID_BYTES) {
        if (id[i] != account_id[i]) return false;
        i = i + 1
    };
    true
}

/// Generation of an identity.
public(package) fun generation(id: &vector<u8>): u64 {
    let mut generation = 0u64;
    let mut i = ID_BYTES;
    while (i < SCOPE_START) {
        generation = (generation << 8) | (id[i] as u64);
        i = i + 1
    };
    generation
}
