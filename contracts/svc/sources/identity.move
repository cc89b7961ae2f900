/// Seal identities without the package's prefix: account id (32 bytes) | generation (8, big-endian)
/// | scope (32). A scope is the SHA-256 of `svc-scope-1` and of two texts, the owner and the namespace,
/// each after its length in bytes (4, big-endian): whoever knows both can prove which namespace an
/// identity is of, and nobody can for another.
module svc::identity;

use std::hash;

/// Bytes of an account id.
const ID_BYTES: u64 = 32;
/// Where the generation ends and the scope begins.
const SCOPE_START: u64 = 40;
/// Bytes of an identity.
const BYTES: u64 = 72;
/// What the bytes of a scope begin with.
const SCOPE_PREFIX: vector<u8> = b"svc-scope-1";

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

/// Whether an identity, which has the form of one, is of an owner's namespace.
public(package) fun is_in(id: &vector<u8>, owner: &vector<u8>, namespace: &vector<u8>): bool {
    let mut preimage = SCOPE_PREFIX;
    append_part(&mut preimage, owner);
    append_part(&mut preimage, namespace);
    let scope = hash::sha2_256(preimage);
    let mut i = SCOPE_START;
    while (i < BYTES) {
        if (id[i] != scope[i - SCOPE_START]) return false;
        i = i + 1
    };
    true
}

fun append_part(preimage: &mut vector<u8>, part: &vector<u8>) {
    let length = part.length();
    preimage.push_back(((length >> 24) & 0xff) as u8);
    preimage.push_back(((length >> 16) & 0xff) as u8);
    preimage.push_back(((length >> 8) & 0xff) as u8);
    preimage.push_back((length & 0xff) as u8);
    preimage.append(*part)
}
