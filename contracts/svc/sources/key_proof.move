/// Ed25519 keys of delegates: which are acceptable, whose they are, and how somebody shows to hold
/// one.
module svc::key_proof;

use sui::address;
use sui::ed25519;
use sui::hash;

/// Bytes of an Ed25519 public key.
const KEY_BYTES: u64 = 32;

/// Flag of the Ed25519 scheme before the key in the preimage of an address.
const ED25519_FLAG: u8 = 0;

/// What stands before the account id in the bytes that a new key signs.
const PREFIX: vector<u8> = b"svc-delegate-v1:";

/// The y-coordinates of the points of low order, without the sign of x; the last two are encodings
/// above the field's prime. Under such a key a signature fits every message, so that anybody
/// "holds" it.
const LOW_ORDER: vector<vector<u8>> = vector[
    x"0000000000000000000000000000000000000000000000000000000000000000",
    x"0100000000000000000000000000000000000000000000000000000000000000",
    x"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    x"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    x"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    x"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    x"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

/// Whether bytes can be a delegate's public key: 32 of them, and no point of low order.
public(package) fun is_acceptable(public_key: &vector<u8>): bool {
    if (public_key.length() != KEY_BYTES) return false;
    let mut y = *public_key;
    let last = &mut y[KEY_BYTES - 1];
    *last = *last & 0x7f;
    let points = LOW_ORDER;
    let mut i = 0;
    while (i < points.length()) {
        if (points[i] == y) return false;
        i = i + 1;
    };
    true
}

/// Sui address of a public key, never taken from the caller.
public(package) fun address_of(public_key: &vector<u8>): address {
    let mut preimage = vector[ED25519_FLAG];
    preimage.append(*public_key);
    address::from_bytes(hash::blake2b256(&preimage))
}

/// Whether `proof` is the key's own signature for this account. Without it a stranger's key could
/// be listed here, and so be kept from its holder's account.
public(package) fun is_held(public_key: &vector<u8>, proof: &vector<u8>, account_id: ID): bool {
    let mut message = PREFIX;
    message.append(account_id.to_bytes());
    ed25519::ed25519_verify(proof, public_key, &message)
}
