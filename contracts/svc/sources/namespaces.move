/// Lists of namespaces that keys are bound to. A name that ends in `/` stands for every namespace that
/// begins with it, itself included; any other for the one namespace of that name.
module svc::namespaces;

use std::string::String;

/// Names of a list.
const MAX_NAMES: u64 = 32;
/// Bytes of UTF-8 of a name.
const MAX_NAME: u64 = 256;
const SLASH: u8 = 0x2f;

/// Whether a key can be bound to a list: to something, and to not too much.
public(package) fun are_acceptable(names: &vector<String>): bool {
    if (names.is_empty() || names.length() > MAX_NAMES) return false;
    let mut i = 0;
    while (i < names.length()) {
        let length = names[i].length();
        if (length == 0 || length > MAX_NAME) return false;
        i = i + 1
    };
    true
}

/// Whether a list of acceptable names stands for a namespace, among others.
public(package) fun include(names: &vector<String>, namespace: &vector<u8>): bool {
    let mut i = 0;
    while (i < names.length()) {
        if (stands_for(names[i].as_bytes(), namespace)) return true;
        i = i + 1
    };
    false
}

fun stands_for(name: &vector<u8>, namespace: &vector<u8>): bool {
    let length = name.length();
    if (name[length - 1] != SLASH) return name == namespace;
    if (namespace.length() < length) return false;
    let mut i = 0;
    while (i < length) {
        if (name[i] != namespace[i]) return false;
        i = i + 1
    };
    true
}
